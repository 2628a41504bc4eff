"""The loop: when it stops, and what it records."""

import numpy as np
from engine_data import normal_cloud

from trueaxis.core.iteration import iterate
from trueaxis.core.reweighting import ReweightedStep
from trueaxis.core.rules import UniformRule
from trueaxis.core.subspace import Subspace
from trueaxis.data.rows import ArrayRows


def test_the_loop_stops_at_max_iter():
    X = normal_cloud()
    start = Subspace(X[0], np.eye(2, 5), np.ones(2), 1.0)
    result = iterate(
        ReweightedStep(ArrayRows(X), UniformRule()), start, max_iter=1, tol=1e-9
    )
    assert not result.converged
    assert [len(values) for values in result.history.values()] == [1, 1, 1]
