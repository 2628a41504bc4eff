"""Modes of a DSWL fit."""

import numpy as np
import pytest

from trueaxis import DSWL
from trueaxis.core.problem import Problem
from trueaxis.data.rows import ArrayRows
from trueaxis.dswl.full_fit import DSWLRecipe
from trueaxis.dswl.plan import make_plan, max_components_with_outliers, min_rows

TAU = (0.3, 0.1, 0.2)
USUAL = {
    "published": False,
    "start": "robust",
    "fit_k": 2,
    "temperatures": None,
    "reweight": True,
    "large": False,
    "iterate_on_all_rows": False,
    "in_passes": False,
    "tol": 1e-2,  # a cube root, because reweighting corrects the answer
    "tol_on_all_rows": 1e-6,
}


def plan_of(n=200, D=6, k=2, weights=None, dtype=float, **options):
    rng = np.random.default_rng(0)
    rows = ArrayRows(rng.standard_normal((n, D)).astype(dtype))
    counts = None if weights is None else np.full(n, weights)
    chosen = {"trust": 0.5, "tau": None, "init": "auto", "reweight": True} | options
    recipe = DSWLRecipe(**chosen, max_iter=50, tol=1e-6)
    return make_plan(recipe, Problem(rows, counts, rng), k)


@pytest.mark.parametrize(
    ("options", "modes"),
    [
        ({}, {}),
        # Nothing corrects the answer of the sample, unless that has all rows.
        ({"reweight": False}, {"reweight": False, "tol": 1e-6}),
        (
            {"reweight": False, "weights": 0.7},
            {"reweight": False, "iterate_on_all_rows": True, "tol": 1e-6},
        ),
        (
            {"reweight": False, "n": 4500},
            {
                "reweight": False,
                "large": True,
                "iterate_on_all_rows": True,
                "tol": 1e-2,
            },
        ),
        # Large data: an inexact sample, and passes without per-row arrays.
        (
            {"n": 4500},
            {
                "large": True,
                "in_passes": True,
                "tol": 1e-2,
            },
        ),
        # The paper's algorithm needs both its start and its temperatures.
        (
            {"tau": TAU, "init": "uniform"},
            {"published": True, "start": "uniform", "temperatures": (60, 20, 40)},
        ),
        (
            {"tau": TAU, "init": "uniform", "reweight": False, "n": 4500},
            {
                "published": True,
                "start": "uniform",
                "temperatures": (1350, 450, 900),
                "reweight": False,
                "large": True,
                "tol": 1e-2,
            },
        ),
        ({"init": "uniform"}, {"start": "uniform"}),
        ({"tau": TAU}, {"temperatures": (60, 20, 40)}),
        ({"tau": TAU, "weights": 2.0}, {"temperatures": (120, 40, 80)}),
        # More components than outliers can be told with: rows are judged with fewer.
        ({"n": 80, "D": 90, "k": 40}, {"fit_k": 19}),
        ({"n": 80, "D": 90, "k": 19}, {"fit_k": 19}),
        ({"n": 80, "D": 90, "k": 40, "trust": 0.8}, {"fit_k": 31}),
        ({"n": 30, "D": 90, "k": 20}, {"fit_k": 6}),
        ({"n": 7, "D": 90, "k": 3}, {"fit_k": 3}),  # too few rows to judge any
        ({"n": 80, "D": 90, "k": 40, "reweight": False}, {"fit_k": 40}),
        ({"n": 80, "D": 90, "k": 40, "init": "uniform"}, {"fit_k": 40}),
        ({"n": 80, "D": 90, "k": 40, "tau": TAU}, {"fit_k": 40}),
    ],
    ids=str,
)
def test_the_modes_follow_from_parameters_and_data(options, modes):
    plan = plan_of(**options)
    # Cases with a number of components are about that number only.
    for name, value in (modes if "k" in options else USUAL | modes).items():
        found = getattr(plan, name)
        if value is None or isinstance(value, (bool, str)):
            assert found == value, name
        else:
            np.testing.assert_allclose(found, value, err_msg=name)
    assert plan.k == options.get("k", 2)
    copies = round(options.get("n", 200) * options.get("weights", 1.0))
    assert plan.n_sample == (4000 if plan.large else copies)


def test_tolerances_respect_the_precision_of_the_data():
    plan = plan_of(dtype=np.float32)
    least = 30 * float(np.finfo(np.float32).eps)
    assert plan.tol_on_all_rows == least and plan.tol == pytest.approx(least ** (1 / 3))


def test_numbers_of_rows_and_components():
    assert max_components_with_outliers(80, 0.5) == 19
    assert min_rows(100, 3) == 52 and min_rows(6, 3) == 5


@pytest.mark.slow
def test_more_components_than_outliers_can_be_told_with():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 5)) @ rng.standard_normal((5, 200)) * 3
    X += rng.standard_normal(X.shape)
    bad = np.arange(80) < 15
    X[bad, :50] += 10 * rng.standard_normal((15, 50))
    for k in (5, 15, 25, 45, 60):
        model = DSWL(k).fit(X)
        assert not model.support_[bad].any() and model.support_[~bad].mean() > 0.9
        assert model.components_.shape == (k, 200)
