"""The column to correct, and what would fit."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from small_tables import cloud, holed

from trueaxis import DSWL
from trueaxis.datasets import planted, sensors
from trueaxis.diagnostics import diagnose
from trueaxis.diagnostics.columns import MAIN_SHARE
from trueaxis.methods import METHODS, PlainPCA


@pytest.mark.slow
@pytest.mark.parametrize(("D", "k"), [(20, 3), (6, 2), (8, 4), (40, 5)])
def test_a_single_wrong_cell_is_blamed_on_its_column(D, k):
    named = []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X = planted("none", n=300, n_features=D, n_components=k, random_state=seed).X
        wrong = rng.integers(D, size=30)
        size = rng.choice([-1, 1], 30) * rng.uniform(6, 10, 30)
        X[np.arange(30), wrong] += size * X.std(axis=0)[wrong]
        found = diagnose(DSWL(k).fit(X), X)
        named.append((found.column[:30] == wrong)[found.flagged[:30]].mean())
    assert np.mean(named) > 0.95


def test_sensors_have_the_faults_that_they_have():
    table = sensors()
    found = diagnose(DSWL(2).fit(table.X), table.X)
    columns = np.array(table.columns)[found.column]
    assert (columns[table.fault == "flow unit wrong"] == "flow").all()
    assert (columns[table.fault == "loose sensor"] == "vibration").all()
    assert (columns[table.fault == "over-run + outlet"] == "outlet").all()
    assert (found.kind[table.fault == "over-run"] == "inside").all()


@pytest.mark.parametrize("cell", [1e100, 1e200, -1e300, np.finfo(float).max])
def test_the_cell_that_overflows_is_to_blame(cell):
    X = planted("none", n=60, n_features=6).X
    X[5, 2] = cell
    model = DSWL(2).fit(X)
    (worst,) = np.flatnonzero(model.explain(X, [5])["share"] > 0.5)
    found = model.outliers(X)
    assert worst == 2
    assert found["column"][found["position"] == 5].tolist() == ["x2"]
    share = found["share"][found["position"] == 5].tolist()
    assert share == pytest.approx([1.0], rel=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("name", METHODS)
def test_the_largest_share_is_that_of_the_diagnosis(name):
    X = cloud(share=0.1).X
    model = METHODS[name](2).fit(X)
    found, table = diagnose(model, X), model.explain(X)
    order = found.worst_first()
    assert len(table) == 6 * len(order)
    share, value, fitted = (
        table[field].to_numpy().reshape(-1, 6) for field in ("share", "value", "fitted")
    )
    np.testing.assert_array_equal(value, X[order])
    best = np.arange(len(order)), found.column[order]
    np.testing.assert_array_equal(share.argmax(axis=1), found.column[order])
    np.testing.assert_allclose(share[best], found.share[order])
    np.testing.assert_allclose(fitted[best], found.fitted[order])


@pytest.mark.parametrize("one_is_wrong", [True, False])
def test_what_fits_is_what_brings_the_row_nearest(one_is_wrong):
    X = cloud(share=0.1).X
    X[0] = X[50:].mean(axis=0)
    X[0, 3] += 30
    model = DSWL(2).fit(X)
    shares = model.explain(X, np.arange(len(X))).share.to_numpy().reshape(len(X), -1)
    row = 0 if one_is_wrong else int(shares.max(axis=1).argmin())
    table = model.explain(X, [row])
    blamed = int(table.share.argmax())
    assert (table.share[blamed] >= MAIN_SHARE) == one_is_wrong
    if one_is_wrong:
        assert blamed == 3

    def distance(value, column, corrected=False):
        changed = X[[row]].copy()
        if corrected:
            changed[0, blamed] = table.fitted[blamed]
        changed[0, column] = value
        score, orthogonal = (d[0] for d in model.distances(changed))
        return (score / model.cutoffs_.score) ** 2 + (
            orthogonal / model.cutoffs_.orthogonal
        ) ** 2

    before = distance(X[row, 0], 0)
    for j in range(6):
        best = minimize_scalar(distance, args=(j,), tol=1e-12)
        assert table.share[j] == pytest.approx(1 - best.fun / before, abs=1e-6)
        if one_is_wrong and j != blamed:
            best = minimize_scalar(distance, args=(j, True), tol=1e-12)
        assert table.fitted[j] == pytest.approx(best.x, rel=1e-4, abs=1e-4)


def test_deviations_of_regular_rows_have_unit_spread():
    X = planted("none", n=4000, n_features=8, n_components=3, random_state=1).X
    table = PlainPCA(3).fit(X).explain(X, np.arange(4000))
    spread = table.deviation.to_numpy().reshape(-1, 8).std(axis=0)
    np.testing.assert_allclose(spread, 1, atol=0.06)


def test_cells_that_were_filled_or_replaced_say_so():
    X = holed()
    model = DSWL(2, cells=True).fit(X)
    rows = np.arange(len(X))
    table = model.explain(X, rows)
    shape = X.shape
    value, fitted, share, deviation = (
        table[field].to_numpy().reshape(shape)
        for field in ("value", "fitted", "share", "deviation")
    )
    missing = X.isna().to_numpy()
    np.testing.assert_array_equal(np.isnan(value), missing)
    np.testing.assert_array_equal(np.isnan(deviation), missing)
    assert np.isfinite(fitted).all() and not share[missing].any()
    cells = model.wrong_cells(X)
    good = cells[~cells.outlier]
    place = good.position, X.columns.get_indexer(good.column)
    assert len(good) and not share[place].any()
    np.testing.assert_allclose(fitted[place], good.fitted)
