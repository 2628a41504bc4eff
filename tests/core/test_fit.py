"""The road of every fit: the number of components, the verdicts, the warnings."""

from dataclasses import dataclass, field

import numpy as np
import pytest
from engine_data import contaminated_cloud

from trueaxis.core.problem import Problem
from trueaxis.core.recipes import (
    PlainRecipe,
    Recipe,
    ReweightingRecipe,
    fit_with,
    unbiased,
    warn_of_few_rows,
)
from trueaxis.core.rules import PowerRule
from trueaxis.core.subspace import Subspace
from trueaxis.data.rows import ArrayRows
from trueaxis.dswl.full_fit import DSWLRecipe

RECIPES = {
    "plain": PlainRecipe(),
    "reweighting": ReweightingRecipe((PowerRule(1.0),), n_init=3),
    "dswl": DSWLRecipe(0.5, None, "auto", True, 100, 1e-6),
}


def problem(**options):
    X = contaminated_cloud(n=120, D=8, k=3, **options)
    return Problem(ArrayRows(X), None, np.random.default_rng(0))


@dataclass(frozen=True)
class SuggestingRecipe(PlainRecipe):
    """Plain PCA that suggests numbers of components, and records those tried."""

    suggestions: dict[int, int]
    corrections: dict[int, int] = field(default_factory=dict)
    tried: list[int] = field(default_factory=list)
    fitted: list[int] = field(default_factory=list)

    def search(self, problem, k):
        self.fitted.append(k)
        return super().search(problem, k)

    def rough_dimension(self, problem, k, wanted):
        self.tried.append(k)
        return self.suggestions.get(k)

    def next_dimension(self, problem, fit, wanted):
        return self.corrections.get(fit.k)


@pytest.mark.parametrize("name", RECIPES)
@pytest.mark.parametrize("wanted", ["auto", 0.7, None])
def test_a_number_of_components_that_was_found_gives_the_same_fit_as_if_asked_for(
    name, wanted
):
    found = fit_with(RECIPES[name], problem(), wanted)
    asked = fit_with(RECIPES[name], problem(), found.k)
    for a, b in [
        (found.verdicts.subspace.mean, asked.verdicts.subspace.mean),
        (found.verdicts.subspace.basis, asked.verdicts.subspace.basis),
        (found.verdicts.subspace.variances, asked.verdicts.subspace.variances),
        (found.verdicts.law.score, asked.verdicts.law.score),
        (found.verdicts.law.orthogonal, asked.verdicts.law.orthogonal),
        (found.found.weights, asked.found.weights),
    ]:
        np.testing.assert_array_equal(a, b)


def test_no_number_means_all_components():
    assert fit_with(PlainRecipe(), problem(), None).k == 8


@pytest.mark.parametrize(
    ("suggestions", "tried", "k"),
    [
        ({2: 4, 4: 4}, [2, 4], 4),  # a fixed point
        ({2: 3, 3: 5, 5: 3}, [2, 3, 5], 5),  # a cycle: its largest number
        ({2: 7, 7: 3, 3: 2}, [2, 7, 3], 7),
        ({2: 100, 8: 8}, [2, 8], 8),  # no more than there are columns
        ({}, [2], 2),
    ],
)
def test_auto_follows_suggestions_to_where_they_repeat(
    suggestions, tried, k, monkeypatch
):
    monkeypatch.setattr(Problem, "n_components", lambda self, wanted: 2)
    recipe = SuggestingRecipe(suggestions)
    assert fit_with(recipe, problem(), "auto").k == k
    assert recipe.tried == tried and recipe.fitted == [k]


def test_a_full_fit_may_correct_the_number_once(monkeypatch):
    monkeypatch.setattr(Problem, "n_components", lambda self, wanted: 2)
    recipe = SuggestingRecipe({2: 4}, {4: 3, 3: 5})
    assert fit_with(recipe, problem(), "auto").k == 3
    assert recipe.fitted == [4, 3]


def test_a_share_of_the_variance_takes_the_least_number_that_reaches_it(monkeypatch):
    shares = [fit_with(PlainRecipe(), problem(), k).explained_share() for k in (2, 3)]
    share = np.mean(shares)
    monkeypatch.setattr(Problem, "n_components", lambda self, wanted: 2)
    for first, second in ((5, 3), (2, 3)):
        recipe = SuggestingRecipe({2: first}, {first: second})
        assert fit_with(recipe, problem(), share).k == 3
    # Neither reaches it: the larger number.
    assert fit_with(SuggestingRecipe({2: 3}, {3: 2}), problem(), 0.999999).k == 3


def test_a_recipe_must_define_its_search():
    with pytest.raises(TypeError, match="Recipe does not define a search"):
        fit_with(Recipe(), problem(), 2)


def test_unbiased_variances_have_n_minus_1_degrees_of_freedom():
    subspace = Subspace(np.zeros(3), np.eye(2, 3), np.array([4.0, 2.0]), 9.0)
    corrected = unbiased(subspace, 10)
    np.testing.assert_allclose(corrected.variances, np.array([4.0, 2.0]) * 10 / 9)
    assert corrected.total == pytest.approx(10)
    assert unbiased(subspace, 1).total == 9.0


def test_few_rows_are_warned_of():
    assert warn_of_few_rows(4.0, 3, problem(), "advice") == []
    (warning,) = warn_of_few_rows(3.9, 3, problem(), "do this.")
    assert warning == (
        "only 3.9 of 120 rows carry weight, too few for 3 components: do this."
    )
