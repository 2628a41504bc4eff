"""Recipes: symmetries that all of them have, and their errors and warnings."""

import numpy as np
import pytest
from engine_data import contaminated_cloud

from trueaxis.core.problem import Problem
from trueaxis.core.recipes import PlainRecipe, ReweightingRecipe
from trueaxis.core.reweighting import PowerSolver
from trueaxis.core.rules import PowerRule, UniformRule
from trueaxis.core.subspace import subspace_change
from trueaxis.data.rows import ArrayRows
from trueaxis.methods.l1 import LeastAbsoluteRecipe
from trueaxis.methods.lowrank import ExactSplitting, PursuitRecipe, StableSplitting
from trueaxis.methods.pairwise import PairwiseRecipe
from trueaxis.methods.residual import HuberRule
from trueaxis.methods.retained import LengthRule
from trueaxis.methods.selection import NearestRule, RatioRule, Selection
from trueaxis.methods.signs import SignRecipe
from trueaxis.methods.two_way import TwoWayRecipe

TIGHT = {"max_iter": 2000, "tol": 1e-10}
RECIPES = {
    "plain": PlainRecipe(),
    "equal weights": ReweightingRecipe((UniformRule(),), **TIGHT),
    "huber": ReweightingRecipe((HuberRule(),), center="mean", **TIGHT),
    "power, annealed": ReweightingRecipe((PowerRule(1.0), PowerRule(0.5)), **TIGHT),
    "nearest": ReweightingRecipe((NearestRule(Selection(0.7)),), **TIGHT),
    "ratio": ReweightingRecipe(
        (RatioRule(Selection(0.7), "sin2"),), center="selected", **TIGHT
    ),
    "length": ReweightingRecipe(
        (LengthRule(),), center="median", solver=PowerSolver(1), **TIGHT
    ),
    "signs": SignRecipe(1.0, False, "pca", "mean", 1, **TIGHT),
    "powers, greedy": SignRecipe(1.5, True, "pca", "mean", 1, **TIGHT),
    "pairs": PairwiseRecipe(2.0, 100),
    "least absolute": LeastAbsoluteRecipe("mean", **TIGHT),
    "two-way": TwoWayRecipe(1.0, 0.1, **TIGHT),
}


def searched(recipe, X, counts=None, k=2):
    problem = Problem(
        ArrayRows(X), counts, np.random.default_rng(0), rotatable=recipe.rotatable
    )
    return recipe.search(problem, k)


@pytest.mark.parametrize("name", RECIPES)
def test_counts_equal_repetitions(name):
    X = contaminated_cloud(n=50)
    counts = np.random.default_rng(0).integers(0, 3, 50).astype(float)
    again = np.repeat(np.arange(50), counts.astype(int))
    counted = searched(RECIPES[name], X, counts)
    repeated = searched(RECIPES[name], X[again])
    assert subspace_change(counted.subspace.basis, repeated.subspace.basis) < 1e-6
    np.testing.assert_allclose(counted.subspace.mean, repeated.subspace.mean, atol=1e-6)
    np.testing.assert_allclose(
        counted.subspace.variances, repeated.subspace.variances, rtol=1e-5
    )
    if counted.weights is not None:
        of_copies = np.bincount(again, repeated.weights, minlength=50)
        np.testing.assert_allclose(counted.weights, of_copies, atol=1e-6)
        assert counted.weights.sum() == pytest.approx(1)


@pytest.mark.parametrize("name", [n for n, r in RECIPES.items() if r.rotatable])
def test_rotations_and_shifts_of_the_data_move_the_subspace_alike(name):
    X = contaminated_cloud(n=50)
    rng = np.random.default_rng(1)
    Q, shift = np.linalg.qr(rng.standard_normal((6, 6)))[0], rng.standard_normal(6)
    one, two = searched(RECIPES[name], X), searched(RECIPES[name], 3 * X @ Q + shift)
    assert subspace_change(one.subspace.basis @ Q, two.subspace.basis) < 1e-6
    np.testing.assert_allclose(
        3 * one.subspace.mean @ Q + shift, two.subspace.mean, atol=1e-5
    )
    np.testing.assert_allclose(
        9 * one.subspace.variances, two.subspace.variances, rtol=1e-5
    )


def test_a_recipe_of_equal_weights_is_plain_pca():
    X = contaminated_cloud()
    plain = searched(RECIPES["plain"], X)
    equal = searched(RECIPES["equal weights"], X)
    assert subspace_change(plain.subspace.basis, equal.subspace.basis) < 1e-10
    np.testing.assert_allclose(plain.weights, equal.weights)
    assert plain.iterations.converged and plain.iterations.n_iter == 1


@pytest.mark.slow
def test_more_starts_are_never_worse():
    X = contaminated_cloud(seed=2, outliers=20)
    one, many = (
        searched(ReweightingRecipe((PowerRule(0.3),), n_init=n, **TIGHT), X)
        for n in (1, 8)
    )
    assert many.iterations.last.objective <= one.iterations.last.objective


def test_too_many_rows_for_pairs_raise():
    with pytest.raises(ValueError, match="60 rows.*1.8e.03 pairs, but max_rows=50"):
        searched(PairwiseRecipe(2.0, 50), contaminated_cloud(n=60))


@pytest.mark.parametrize(
    ("recipe", "chosen"),
    [
        (PursuitRecipe(ExactSplitting(1e-3), "none", 200, 1e-6), "{'lam': 0.001}"),
        (
            PursuitRecipe(StableSplitting(None, 1e3), "none", 200, 1e-6),
            "{'sigma': 1000.0}",
        ),
    ],
    ids=["sparse", "noise"],
)
def test_data_without_low_rank_get_the_components_of_plain_pca(recipe, chosen):
    X = contaminated_cloud()
    found = searched(recipe, X)
    plain = searched(RECIPES["plain"], X).subspace
    assert subspace_change(found.subspace.basis, plain.basis) < 1e-10
    (warning,) = found.warnings
    assert f"nothing of low rank was found in X with {chosen}" in warning
