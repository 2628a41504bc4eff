"""Values come back from JSON with their types and bits."""

import inspect
import json

import numpy as np
import pytest
from saved_models import assert_same

from trueaxis._persistence.json_values import RULES, decode, encode
from trueaxis.base import Distances
from trueaxis.core import rules
from trueaxis.core import verdicts as core
from trueaxis.core.law import Cuts
from trueaxis.core.rules import PowerRule
from trueaxis.core.verdicts import CutRule
from trueaxis.dswl import plan as dswl_rules
from trueaxis.methods import Rule, residual, retained, selection, sparse


def test_the_list_of_rules_is_that_of_the_engine():
    bases = {
        Rule,
        rules.FunctionRule,
        rules.GuardedRule,
        residual.ScaledRule,
        selection.SelectingRule,
    }
    found = {
        rule
        for module in (dswl_rules, residual, sparse, retained, rules, selection, core)
        for _, rule in inspect.getmembers(module, inspect.isclass)
        if issubclass(rule, Rule)
    }
    assert set(RULES.values()) == found - bases


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        3,
        -0.0,
        0.1,
        "auto",
        float("inf"),
        float("-inf"),
        float("nan"),
        (1, 2.0, float("inf")),
        [1.0, (2, None)],
        np.int64(3),
        np.float32(0.1),
        np.float64("nan"),
        np.bool_(False),
        np.str_("auto"),
        np.array([0.1, np.inf]),
        np.arange(6).reshape(2, 3),
        Distances(1.0, np.float64(2.0)),
        CutRule(Cuts(3.0, np.inf)),
        PowerRule(1.5, guard=np.float32(1e-3)),
    ],
    ids=repr,
)
def test_values_keep_type_and_bits(value):
    text = json.dumps(encode(value), allow_nan=False)
    assert_same(decode(json.loads(text)), value)


@pytest.mark.parametrize(
    "value",
    [len, object(), {1: 2}, 1j, np.array([None]), np.datetime64("2020-01-01"), rules],
    ids=lambda value: type(value).__name__,
)
def test_values_that_a_file_cannot_hold_are_refused(value):
    with pytest.raises(TypeError, match=" is "):
        encode(value)


@pytest.mark.parametrize(
    "text",
    [
        {},
        {"float": "1"},
        {"rule": "FunctionRule", "parameters": {}},
        {"rule": "PowerRule", "parameters": {"power": 1}},
        {"rule": "HuberRule", "parameters": {"__class__": 1}},
        {"record": "Distances", "values": [1]},
        {"record": "Popen", "values": ["ls"]},
        {"numpy": "|O8", "shape": None, "hex": "00" * 8},
        {"numpy": "<f8", "shape": None, "hex": "00"},
        {"numpy": "<f8", "shape": "x", "hex": "00" * 8},
        {"numpy": "<f8", "shape": [2], "hex": "zz"},
    ],
    ids=str,
)
def test_values_that_encode_does_not_write_are_refused(text):
    with pytest.raises(ValueError):
        decode(text)
