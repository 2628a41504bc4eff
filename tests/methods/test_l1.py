"""L1-PCA against linear programs."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from trueaxis.methods import L1PCA


def hostile(kind, rng):
    """Return 278 x 57 rows on which a linear program once did not end, or like them."""
    X = rng.standard_normal((278, 57))
    if kind == "ties":
        return np.round(X)
    if kind == "zeros":
        return X * (rng.random(X.shape) < 0.1)
    if kind == "copies":
        return X[rng.integers(20, size=278)]
    return X


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["plain", "ties", "zeros", "copies"])
def test_l1_pca_ends_with_weights_on_degenerate_tables(kind):
    rng = np.random.default_rng(7)
    X, counts = hostile(kind, rng), rng.integers(0, 4, size=278)
    weighted = L1PCA(2).fit(X, sample_weight=counts)
    repeated = L1PCA(2).fit(np.repeat(X, counts, axis=0))
    assert weighted.converged_
    ends = [model.history_["objective"][-1] for model in (weighted, repeated)]
    # Ties are broken by the order of the rows: another vertex, as good to 1 %.
    assert ends[0] == pytest.approx(ends[1], rel=0.01)


def test_l1_pca_that_does_not_end_warns_once():
    X = hostile("plain", np.random.default_rng(7))
    with pytest.warns(ConvergenceWarning) as caught:
        L1PCA(2, max_iter=1).fit(X)
    assert len(caught) == 1
