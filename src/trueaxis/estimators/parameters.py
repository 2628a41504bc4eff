"""Declarations of parameters: dataclass fields that know which values are valid.

A method declares ``tol: float = number(1e-6, 0)``, and `Method.fit` checks all
parameters before it computes anything.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

from trueaxis._engine.outliers.law import log_p_of_each
from trueaxis._engine.outliers.tail import Tail
from trueaxis._validation import (
    validate_choice,
    validate_count_or_share,
    validate_flag,
    validate_number,
    warn,
)

DEPRECATED = "deprecated"  # default of a deprecated parameter
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


def deprecated_centre(*choices: str) -> Any:
    """Declare `centre`, the deprecated spelling of `center`."""

    def check(name: str, value: Any) -> None:
        if not (isinstance(value, str) and value == DEPRECATED):
            validate_choice(name, value, choices)

    return checked(DEPRECATED, check)


def number_or_none(value: Any) -> float | None:
    """Return a valid number as a float, or None for "auto"."""
    return None if isinstance(value, str) else float(value)


def check_parameters(estimator: Any) -> None:
    """Raise if a parameter of a dataclass is not valid."""
    for parameter in dataclasses.fields(estimator):
        check = parameter.metadata.get("check")
        if check is not None:
            check(parameter.name, getattr(estimator, parameter.name))


def renamed_center(estimator: Any) -> Any:
    """Return `center`, or `centre` with a warning if that was passed."""
    if estimator.centre == DEPRECATED:
        return estimator.center
    if estimator.center not in (_default(estimator, "center"), estimator.centre):
        raise ValueError(
            f"center={estimator.center!r} and centre={estimator.centre!r} were both "
            "passed: centre is the old spelling of center, so pass center only."
        )
    warn(
        f"{type(estimator).__name__}(centre=...) is deprecated and will be removed in "
        "version 1.0: use center=... instead.",
        FutureWarning,
    )
    return estimator.centre


def rename_centre(estimator: Any, state: dict[str, Any]) -> dict[str, Any]:
    """Return the state of a pickle with `center` where version 0.1 had `centre`."""
    declared = {parameter.name for parameter in dataclasses.fields(estimator)}
    if "center" not in declared or "center" in state or "centre" not in state:
        return state
    return state | {"center": state["centre"], "centre": DEPRECATED}


def add_law(state: dict[str, Any]) -> dict[str, Any]:
    """Return the state of a fitted model with the law of regular rows.

    Older versions stored two cut-offs and no law. The one that is added has the tails
    of Gaussian rows, and its p-value at these cut-offs is the default level: so the
    same rows are outliers.
    """
    if "cutoffs_" not in state or "_tails" in state or state.get("offset_") != -1:
        return state
    k, D = state["n_components_"], state["n_features_in_"]
    rest = max(1, min(D, int(state["n_samples_"])) - k)
    cuts = [float(cut) ** 2 for cut in state["cutoffs_"]]
    n_views = max(1, sum(cut > 0 for cut in cuts))
    tails = [
        _tail_through(cut, dof, log_p_of_each(float(np.log(LEVEL)), n_views))
        for cut, dof in zip(cuts, (max(1, k), rest), strict=True)
    ]
    return state | {
        "_tails": np.array(tails),
        "_sides": np.zeros((0, D + 2)),
        "_n_judging": k,
        "offset_": float(np.log10(LEVEL)),
    }


def _tail_through(cut: float, dof: int, log_p: float) -> Tail:
    """Return the tail of Gaussian rows of which a share exp(log_p) is beyond a cut."""
    if not cut > 0:  # rows have no such distance
        return Tail(float(np.log(np.finfo(float).tiny)), 0.0, 0.0)
    shape = float(np.sqrt(2 / dof))
    standard = Tail(0.0, shape, shape).cut(log_p)
    return Tail(float(np.log(cut) - np.log(standard)), shape, shape)


def _default(estimator: Any, name: str) -> Any:
    return {one.name: one.default for one in dataclasses.fields(estimator)}[name]
