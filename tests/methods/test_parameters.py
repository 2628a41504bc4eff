"""Parameters: what is refused, with which words."""

import inspect
import re

import numpy as np
import pytest
from estimator_data import GOOD

import trueaxis as ta
import trueaxis.methods as tm
from trueaxis.methods import METHODS

# ---------------------------------------------------------------- every parameter


def number(interval, auto=False):
    """Bad values of a number, and the words for them."""
    low, high = map(float, interval.strip("([]").split(", "))
    expected = f"a number in {interval}" + (' or "auto"' if auto else "")
    outside = [low - 1.0 if interval[0] == "[" else low, -np.inf, np.nan]
    outside += [2 * high] if np.isfinite(high) else []
    return [
        *((x, ValueError, f"is out of range: it must be {expected}.") for x in outside),
        ("much", TypeError, f"is a str: pass {expected}."),
        (True, TypeError, f"is a bool: pass {expected}."),
        (None, TypeError, f"is a NoneType: pass {expected}."),
    ]


def integer(low):
    return [
        (low - 1, ValueError, f" of at least {low}."),
        (low + 0.5, TypeError, f" of at least {low}."),
        (True, TypeError, "is a bool: pass "),
        ("many", TypeError, "is a str: pass "),
    ]


def choice(*choices):
    known = ", ".join(map(repr, choices))
    return [
        (value, ValueError, f": choose one of {known}.")
        for value in ("best", None, 3, np.zeros(3))
    ]


FLAG = [(value, TypeError, "is neither True nor False") for value in ("no", 1, None)]
COUNT_OR_SHARE = [
    (0, ValueError, "is out of range: it must be "),
    (-3, ValueError, " of at least 1."),
    (1.5, ValueError, "is out of range: it must be a number in (0, 1]."),
    (0.0, ValueError, "is out of range: it must be a number in (0, 1]."),
    ("half", TypeError, "is a str: pass a number in (0, 1]."),
    (True, TypeError, "is a bool: pass a number in (0, 1]."),
]
NOT_NONE = [(None, TypeError, "is a NoneType: pass a number in (0, 1].")]

ALL = {
    "n_components": [
        (9, ValueError, ", but X has 30 rows and 4 columns: "),
        (0, ValueError, " 1 to 4."),
        (1.5, ValueError, "pass an integer, or a float between 0 and 1"),
        ("many", TypeError, "is a str: pass "),
        (True, TypeError, '"auto" or None.'),
    ],
    "random_state": [("luck", ValueError, "cannot be used to seed")],
    "level": number("(0, 0.5]"),
    "contamination": [case for case in number("(0, 0.5]") if case[0] is not None],
}
ITERATIVE = ALL | {"max_iter": integer(1), "tol": number("(0, inf]")}
MULTISTART = ITERATIVE | {"n_init": integer(1)}


def centered(*choices):
    return {"center": choice(*choices)}


FIXED = MULTISTART | centered("mean", "median")
SELECTING = MULTISTART | {"q": COUNT_OR_SHARE + NOT_NONE}
SCALE = number("(1e-150, inf]", auto=True)
SIGMA = number("(0, 1e+150]", auto=True)
PURSUIT = (
    ITERATIVE | centered("none", "median") | {"lam": number("(0, inf]", auto=True)}
)
THREE = 'pass "auto" or three temperatures (tau_a, tau_b, tau_c).'
BAD = {
    tm.PlainPCA: ALL,
    ta.DSWL: ITERATIVE | {
        "trust": number("(0, 1]"),
        "tau": [
            ("hot", TypeError, THREE),
            ((1, 1), TypeError, THREE),
            (None, TypeError, THREE),
            ((1, 0, 1), ValueError, 'must be positive. Use tau="auto"'),
            ((1, 1, np.nan), ValueError, 'must be positive. Use tau="auto"'),
        ],
        "cells": FLAG,
    },
    tm.PCAL1: FIXED | {"init": choice("largest", "pca", "random")},
    tm.PCAL1NonGreedy: FIXED | {"init": choice("pca", "random")},
    tm.PCALp: FIXED | {
        "p": number("(0, 100]"),
        "greedy": FLAG,
        "init": choice("pca", "largest", "random"),
    },
    tm.R1PCA: FIXED | {"loss": choice("huber", "cauchy", "l21"), "c": SCALE},
    tm.L2pPCA: FIXED | {
        "p": number("(0, 2]"), "anneal": FLAG, "solver": choice("eigen", "power"),
    },
    tm.RPCAOM: MULTISTART,
    tm.RPCADI: FIXED | {
        "tau": number("(1e-06, inf]"),
        "membership": choice("ratio", "root", "norm", "raw"),
    },
    tm.AnglePCA: FIXED | {
        "variant": choice("exact", "circulated"),
        "gamma": number("(1e-150, 1e+150]", auto=True),
    },
    tm.L21MaxPCA: FIXED,
    tm.L1PCA: ITERATIVE | centered("median", "mean", "none"),
    tm.WeightedPCA: ALL | {"power": number("[0, 2]"), "max_rows": integer(2)},
    tm.RWLAN: SELECTING | {
        "gamma": [
            ("slow", ValueError, ": choose one of 'adaptive', 'frozen'."),
            (0, ValueError, "is out of range: it must be a number in (0, inf]."),
            (None, TypeError, "is a NoneType: pass a number in (0, inf]."),
        ],
    },
    tm.TRPCA: SELECTING,
    tm.DRPCA: SELECTING,
    tm.RPCARP: SELECTING | centered("selected", "mean", "median") | {
        "ratio": choice("sin2", "tan"),
    },
    tm.RSPCA: MULTISTART | {"q": COUNT_OR_SHARE, "sigma": SCALE},
    tm.TwoWayPCA: ITERATIVE | {"p": number("(0, 2]"), "floor": number("[0.01, 1e+06]")},
    tm.PCP: PURSUIT | {"rho": number("(1, 100]"), "balance": number("(0, inf]")},
    tm.SPCP: PURSUIT | {"sigma": SIGMA},
    tm.RRPCP: PURSUIT | {"sigma": SIGMA, "gam": number("(0, inf]", auto=True)},
    tm.ReweightedPCA: MULTISTART | centered("weighted", "mean", "median") | {
        "rule": [
            ("huber", TypeError, "is a str: pass a function (v, e, d) -> weights, "),
            (3, TypeError, "a subclass of trueaxis.methods.Rule, or None."),
        ],
    },
}  # fmt: skip


def test_every_parameter_of_every_method_is_tested():
    assert set(BAD) == {*METHODS.values(), tm.ReweightedPCA}
    for cls, parameters in BAD.items():
        assert set(parameters) == set(inspect.signature(cls).parameters), cls


@pytest.mark.parametrize(
    ("cls", "name"),
    [(cls, name) for cls, parameters in BAD.items() for name in parameters],
)
def test_bad_values_are_refused_with_fact_cause_and_remedy(cls, name):
    model = cls(2)
    for value, error, words in BAD[cls][name]:
        model.set_params(**{name: value})
        with pytest.raises(error, match=re.escape(words)) as raised:
            model.fit(GOOD)
        if name == "random_state":  # which scikit-learn refuses
            continue
        said = str(raised.value)
        assert said.startswith((f"{name}={value}", f"{name}={value!r}")) or (
            f" in {name}={value!r}" in said  # one of the temperatures
        )
    assert not hasattr(model, "n_features_in_")


def test_temperatures_at_which_no_row_counts_are_refused():
    with pytest.raises(ValueError, match="No row carries weight.*raise tau"):
        ta.DSWL(tau=(1e-320,) * 3).fit(GOOD)
