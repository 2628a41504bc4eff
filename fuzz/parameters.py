"""Draw parameters of methods and sample weights: mostly valid, sometimes hostile."""

from __future__ import annotations

import copy
import dataclasses
from typing import Any

import numpy as np

from fuzz.tables import Rng, often, pick

# Values that no parameter should choke on with anything but a sentence.
HOSTILE = [
    0, -1, 1, 2.5, 10**400, -(10**30), np.nan, np.inf, -np.inf, 1e-320, 1e300, True,
    None, "auto", "", "x" * 50, b"auto", (), [1, 2, 3], {}, 1j,
    np.float32(0.5), np.int8(3), np.array(2), np.array([1.0, 2.0]), object(),
]  # fmt: skip

VALID: dict[str, list[Any]] = {
    "random_state": [0, 1, np.random.RandomState(3)],
    "level": [0.001, 0.025, 0.5],
    "contamination": [0.01, 0.2, 0.5],
    "max_iter": [1, 2, 30],
    "tol": [1e-12, 1e-3, 1.0],
    "n_init": [1, 3],
    "center": ["mean", "median", "none"],
    "trust": [0.05, 0.5, 1.0],
    "tau": [(1.0, 1.0, 1.0), (1e-3, 1e-300, 1e300), [0.1, 0.1, 0.1]],
    "cells": [True, False],
    "lam": [0.1, 1e6, "auto"],
    "p": [0.5, 1.0, 1.5, 2.0],
}


def draw_parameters(rng: Rng, method: type, n: int, D: int) -> dict[str, Any]:
    """Return parameters of a method, for a table of n rows and D columns."""
    drawn: dict[str, Any] = {"n_components": draw_n_components(rng, n, D)}
    for field in dataclasses.fields(method):
        if field.name == "n_components" or not field.init or often(rng, 0.9):
            continue
        choices = VALID.get(field.name, [field.default])
        hostile = often(rng, 0.1) or field.name not in VALID
        value = pick(rng, HOSTILE if hostile else choices)
        if field.name == "random_state" and value is None:
            continue  # the only parameter that asks for different bits every time
        # A copy: fits advance a RandomState, and cases must not see each other.
        drawn[field.name] = copy.deepcopy(value)
    return drawn


def draw_n_components(rng: Rng, n: int, D: int) -> Any:
    """Return a number of components, a share, "auto", None, or nonsense."""
    most = max(1, min(n, D))
    kind = rng.random()
    if kind < 0.7:
        return int(rng.integers(1, min(most, 5) + 1))
    if kind < 0.78:
        return most
    if kind < 0.88:
        return "auto"
    if kind < 0.97:
        return pick(rng, [None, 0.5, 0.95, most + 1])
    return pick(rng, HOSTILE)


def draw_weights(rng: Rng, n: int) -> Any:
    """Return sample weights for n rows, or None, which is most frequent."""
    if often(rng, 0.75):
        return None
    odd = [
        np.ones(n), np.zeros(n), np.arange(n), np.arange(n) % 2, rng.random(n) + 0.1,
        rng.random(n) * 1e300, rng.random(n) * 1e-300, np.full(n, 5e-324),
        -rng.random(n), np.full(n, np.nan), np.full(n, np.inf), rng.random(n + 1),
        rng.random((n, 1)), np.ma.masked_array(np.ones(n), np.arange(n) % 3 == 0),
        np.full(n, "word"), [None] * n, list(range(n)), 2.0, 0, -1, "word", {},
        np.arange(n).astype("M8[D]"), np.arange(n) > 1, [10**400] * n, np.full(n, 1j),
        np.where(np.arange(n) == 0, 1e12, 1), np.full(n, 1e15),
    ]  # fmt: skip
    return pick(rng, odd[2:6] if often(rng, 0.5) else odd)
