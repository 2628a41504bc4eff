"""Declarations of parameters: dataclass fields that know which values are valid.

A method declares ``tol: float = number(1e-6, 0)``, and `Method.fit` checks all
parameters before it computes anything.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

from trueaxis._validation import (
    validate_choice,
    validate_count_or_share,
    validate_flag,
    validate_number,
)

LEVEL = 0.025  # default of `level`

Check = Callable[[str, Any], None]


def checked(default: Any, check: Check) -> Any:
    """Declare a parameter with its own check, which raises if a value is invalid."""
    return dataclasses.field(default=default, metadata={"check": check})


def number(
    default: Any,
    low: float,
    high: float = np.inf,
    *,
    whole: bool = False,
    include_low: bool = False,
    auto: bool = False,
    optional: bool = False,
) -> Any:
    """Declare a number in (low, high], or None if optional; see `validate_number`."""

    def check(name: str, value: Any) -> None:
        if optional and value is None:
            return
        validate_number(
            name, value, low, high, whole=whole, include_low=include_low, auto=auto
        )

    return checked(default, check)


def choice(default: str, *others: str) -> Any:
    """Declare a string with a few valid values, the default first."""

    def check(name: str, value: Any) -> None:
        validate_choice(name, value, (default, *others))

    return checked(default, check)


def flag(default: bool) -> Any:
    """Declare a boolean parameter."""
    return checked(default, validate_flag)


def count_or_share(default: int | float | None, *, optional: bool = False) -> Any:
    """Declare a number of rows or columns, or a share of them; or None if optional."""

    def check(name: str, value: Any) -> None:
        if not (optional and value is None):
            validate_count_or_share(name, value)

    return checked(default, check)


def number_or_none(value: Any) -> float | None:
    """Return a valid number as a float, or None for "auto"."""
    return None if isinstance(value, str) else float(value)


def check_parameters(estimator: Any) -> None:
    """Raise if a parameter of a dataclass is not valid."""
    for parameter in dataclasses.fields(estimator):
        check = parameter.metadata.get("check")
        if check is not None:
            check(parameter.name, getattr(estimator, parameter.name))
