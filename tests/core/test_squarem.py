"""Acceleration of the steps."""

import numpy as np

from trueaxis.core.iteration import Squarem, iterate
from trueaxis.core.reweighting import ReweightedStep, measure_rows
from trueaxis.core.starts import equal_weights
from trueaxis.core.subspace import subspace_change
from trueaxis.data.rows import ArrayRows
from trueaxis.datasets import planted
from trueaxis.dswl.plan import EntropyRule, calibrate


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
