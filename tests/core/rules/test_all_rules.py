"""Properties of all rules."""

import inspect

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

from trueaxis.core import rules
from trueaxis.core.kernels import RowWeights
from trueaxis.core.rules import RowDistances
from trueaxis.methods import Rule, residual, retained, selection, sparse

ALL_RULES = [
    rule
    for module in (rules, residual, retained, selection, sparse)
    for _, rule in inspect.getmembers(module, inspect.isclass)
    if issubclass(rule, Rule) and rule.__module__ == module.__name__
]


@pytest.mark.parametrize("rule", ALL_RULES)
def test_rules_can_be_cloned_and_their_parameters_set(rule):
    fields = inspect.signature(rule).parameters
    one = rule(*(0.5 for field in fields.values() if field.default is field.empty))
    assert clone(one).get_params() == one.get_params()
    for name in one.get_params():
        assert getattr(clone(one).set_params(**{name: 0.25}), name) == 0.25


@pytest.mark.slow
@given(seed=st.integers(0, 10**6))
def test_row_local_rules_do_not_see_blocks(seed):
    rng = np.random.default_rng(seed)
    v, e, s = rng.random((3, 40)) * 10 ** rng.uniform(-3, 3, (3, 1))
    view = RowDistances(v, e, s)
    for rule in ALL_RULES:
        if not rule.row_local or rule in (rules.GuardedRule, residual.ScaledRule):
            continue
        fields = inspect.signature(rule).parameters.values()
        values = [1.0 for field in fields if field.default is field.empty]
        frozen = rule(*values).freeze(view)
        whole = frozen.weigh(view).log_weights
        part = frozen.weigh(RowDistances(v[7:23], e[7:23], s[7:23]))
        assert isinstance(part, RowWeights)
        np.testing.assert_array_equal(part.log_weights, whole[7:23])
