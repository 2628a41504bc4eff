"""Leverage, against fits that leave a row out."""

import numpy as np

from trueaxis.core.reweighting import measure_rows
from trueaxis.core.subspace import Subspace
from trueaxis.core.verdicts import without_leverage
from trueaxis.data.rows import ArrayRows


def test_distances_without_leverage_are_those_of_fits_without_the_row():
    """Residual over (1 - h), against a fit without the row."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 1)) * [3.0, 0.0] + 0.05 * rng.standard_normal((30, 2))

    def line(rows):
        mean = rows.mean(axis=0)
        axis = np.linalg.svd(rows - mean)[2][0]
        t = (rows - mean) @ axis
        return Subspace(mean, axis[None], np.array([t.var()]), 1.0)

    inside = measure_rows(ArrayRows(X), line(X))._replace(
        fit_weight=np.full(30, 1 / 30)
    )
    corrected = without_leverage(inside).e
    for i in range(30):
        outside = measure_rows(ArrayRows(X[[i]]), line(np.delete(X, i, axis=0))).e[0]
        np.testing.assert_allclose(corrected[i], outside, rtol=0.02)
    assert without_leverage(inside._replace(fit_weight=None)).e is inside.e
