"""Repairs depend on nothing but the row; model files and blocks change nothing."""

import numpy as np
import pytest

from trueaxis import DSWL


@pytest.fixture(scope="module")
def spoiled():
    rng = np.random.default_rng(0)
    P = np.linalg.qr(rng.normal(size=(10, 2)))[0].T
    X = rng.normal(size=(300, 2)) @ (3 * P) + 0.2 * rng.normal(size=(300, 10))
    wrong = rng.random(X.shape) < 0.05
    X[wrong] = 8.0
    holes = rng.random(X.shape) < 0.1
    X[holes] = np.nan
    return X, wrong & ~holes


@pytest.fixture(scope="module")
def cells(spoiled):
    return DSWL(2, cells=True).fit(spoiled[0])._repair()


def test_nearly_all_wrong_cells_are_found_and_no_others(spoiled, cells):
    X, wrong = spoiled
    found = ~cells.repair(X).good & ~np.isnan(X)
    assert found[wrong].mean() > 0.99
    assert found[~wrong].mean() < 0.002


def test_a_row_is_repaired_in_the_same_way_in_any_company(spoiled, cells):
    X, _ = spoiled
    together = cells(X)
    alone = np.vstack([cells(row[None]) for row in X])
    np.testing.assert_allclose(together, alone, rtol=1e-10)
    np.testing.assert_allclose(cells.repair(X).rows, together, rtol=1e-12)


def test_good_cells_keep_their_bits(spoiled, cells):
    X, _ = spoiled
    repaired = cells.repair(X)
    kept = repaired.good | (~np.isnan(X) & repaired.crowded[:, None])
    np.testing.assert_array_equal(repaired.rows[kept], X[kept])
    assert np.isfinite(repaired.rows).all()


def test_a_repaired_row_needs_no_repair(spoiled, cells):
    X, _ = spoiled
    once = cells(X)
    again = cells.repair(once)
    assert (~again.good).mean() < 0.001


def test_imputing_changes_holes_only(spoiled, cells):
    X, _ = spoiled
    filled, holes = cells.impute(X), np.isnan(X)
    np.testing.assert_array_equal(filled[~holes], X[~holes])
    assert np.isfinite(filled).all()


def test_a_row_of_wrong_cells_is_wrong_itself(cells, spoiled):
    row = np.full((1, 10), 50.0)
    repaired = cells.repair(row)
    assert repaired.crowded[0]
    np.testing.assert_array_equal(repaired.rows, row)
    good = spoiled[0][:1].copy()
    assert not cells.repair(good).crowded[0]
