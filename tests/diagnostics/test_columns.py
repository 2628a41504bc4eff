"""Contributions of columns, and the column to correct."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from small_tables import cloud

from trueaxis import DSWL
from trueaxis.datasets import planted, sensors
from trueaxis.diagnostics import contributions, diagnose
from trueaxis.diagnostics.columns import ColumnCorrectionKernel
from trueaxis.methods import METHODS


@pytest.mark.slow
@pytest.mark.parametrize("name", METHODS)
def test_contributions_add_up_to_the_squared_distances(name):
    model = METHODS[name](2).fit(cloud(share=0.1).X)
    new = cloud(share=0.5, random_state=7).X
    parts, distances = contributions(model, new), model.distances(new)
    np.testing.assert_allclose(parts.score.sum(axis=1), distances.score**2)
    np.testing.assert_allclose(parts.orthogonal.sum(axis=1), distances.orthogonal**2)
    assert (parts.orthogonal >= 0).all()


@pytest.mark.parametrize("D", [4, 5, 10])
def test_as_many_components_as_columns_leave_nothing_off_them_to_blame(D):
    rng = np.random.default_rng(D)
    X = rng.standard_normal((200, D))
    X[0, 1] += 40
    model = DSWL(D).fit(X)
    found = diagnose(model, X)
    assert found.column[0] == 1 and found.share[0] > 0.9
    assert abs(X[0, 1] - found.surplus[0]) < 3
    assert np.abs(found.surplus).max() < 100


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


@pytest.mark.slow
def test_the_blame_is_what_putting_one_column_right_would_mend():
    model = DSWL(2).fit(cloud(share=0.1).X)
    new = cloud(share=0.5, random_state=7).X[-12:]
    found = diagnose(model, new)
    for row, x in enumerate(new):

        def far(value, column, x=x):
            y = x.copy()
            y[column] = value
            distances = model.distances(y[None])
            return sum(
                float(d[0]) ** 2 / c**2
                for d, c in zip(distances, model.cutoffs_, strict=True)
            )

        now = far(x[0], 0)
        left = [minimize_scalar(far, args=(j,)).fun for j in range(6)]
        assert found.column[row] == np.argmin(left)
        assert found.share[row] == pytest.approx(1 - min(left) / now, abs=1e-5)


def test_sensors_have_the_faults_that_they_have():
    table = sensors()
    found = diagnose(DSWL(2).fit(table.X), table.X)
    columns = np.array(table.columns)[found.column]
    assert (columns[table.fault == "flow unit wrong"] == "flow").all()
    assert (columns[table.fault == "loose sensor"] == "vibration").all()
    assert (columns[table.fault == "over-run + outlet"] == "outlet").all()
    assert (found.kind[table.fault == "over-run"] == "inside").all()


def test_both_ways_to_the_column_agree():
    X = cloud(share=0.2).X
    kernel = ColumnCorrectionKernel(DSWL(2).fit(X))
    quick, thorough = kernel._quickly(X), kernel._thoroughly(X)
    np.testing.assert_array_equal(quick[0], thorough[0])
    np.testing.assert_allclose(quick[1:], thorough[1:], rtol=1e-9)


@pytest.mark.parametrize("odd", [1e200, "center", "constant"])
def test_rows_with_something_special_take_the_thorough_way(odd):
    X = cloud(share=0.2).X
    X = np.column_stack([X, np.ones(len(X))]) if odd == "constant" else X.copy()
    model = DSWL(2).fit(X)
    kernel = ColumnCorrectionKernel(model)
    X[3] = model.mean_ if odd == "center" else X[3]
    X[3, 1] = odd if isinstance(odd, float) else X[3, 1]
    expected = kernel._thoroughly(X)
    assert np.isfinite(expected[1]).all()
    found = kernel.absorb(None, X, 0)
    np.testing.assert_allclose(found, expected, rtol=1e-9)


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
