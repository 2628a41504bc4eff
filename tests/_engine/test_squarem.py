"""Acceleration of the steps."""

import numpy as np

from trueaxis._engine.dswl.rules import EntropyRule
from trueaxis._engine.dswl.temperatures import calibrate
from trueaxis._engine.iterate import iterate
from trueaxis._engine.reweighted import ReweightedStep, measure_rows
from trueaxis._engine.squarem import Squarem
from trueaxis._engine.starts.subspaces import (
    equal_weights,
)
from trueaxis._engine.subspace import (
    subspace_change,
)
from trueaxis.data.rows import ArrayRows
from trueaxis.datasets import planted


def test_accelerated_and_plain_steps_have_the_same_limit():
    X = planted("both", n=150, n_features=6, share=0.2).X
    start = equal_weights(ArrayRows(X), 2)
    T = calibrate(*measure_rows(ArrayRows(X), start)[:2], 0.6)
    step = ReweightedStep(ArrayRows(X), EntropyRule(*T))
    plain = iterate(step, start, max_iter=3000, tol=1e-10)
    fast = iterate(step, start, max_iter=3000, tol=1e-10, accelerator=Squarem())
    assert fast.n_iter < plain.n_iter
    assert subspace_change(fast.last.next.basis, plain.last.next.basis) < 1e-6
    assert (np.diff(fast.history["objective"]) >= -1e-12).all()
