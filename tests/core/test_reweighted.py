"""The step of row-weighted methods, in one pass and in two."""

import numpy as np
from engine_data import normal_cloud, pca_subspace
from streamed import Streamed

from trueaxis.core.iteration import iterate
from trueaxis.core.reweighting import ReweightedStep
from trueaxis.core.starts import equal_weights
from trueaxis.core.subspace import subspace_change
from trueaxis.data.rows import ArrayRows
from trueaxis.datasets import planted
from trueaxis.dswl.plan import EntropyRule, TrustRule, calibrate


def test_two_passes_and_one_pass_agree():
    X = normal_cloud(3, n=200)
    sub = pca_subspace(X)
    two = ReweightedStep(ArrayRows(X, 33), TrustRule(0.5))(sub)
    T = calibrate(two.distances.v, two.distances.e, 0.5)
    one = ReweightedStep(ArrayRows(X, 50), EntropyRule(*T))(sub)
    w = one.single_weights()
    np.testing.assert_allclose(w, two.single_weights(), rtol=1e-10)
    np.testing.assert_allclose(w.sum(), 1)
    np.testing.assert_allclose(one.next.mean, two.next.mean, rtol=1e-10)
    assert subspace_change(one.next.basis, two.next.basis) < 1e-10
    np.testing.assert_allclose(one.effective, 1 / (w**2).sum())


def test_a_row_local_rule_reads_the_data_once_per_iteration():
    X = planted("ocs", n=900, share=0.2).X
    rows = Streamed(X)
    start = equal_weights(ArrayRows(X), 3)
    step = ReweightedStep(rows, EntropyRule(400.0, 60.0, 300.0))
    result = iterate(step, start, max_iter=50, tol=1e-6)
    assert rows.reads == result.n_iter > 2
    rows.reads = 0
    ReweightedStep(rows, TrustRule(0.5))(start)
    assert rows.reads == 2  # the temperatures need all rows first
