"""What a fitted attribute of a model can be: one table for all methods.

`model_state` consults it when a model is saved and when it is loaded, so that whatever
was saved can be loaded, and a file with values that no fit can have led to is refused.
Every fitted attribute has an entry in `CHECKS`; `RELATIONS` tie several together.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from trueaxis.base import Distances
from trueaxis.cells.model import find_flaw
from trueaxis.core.law import Law, Tail
from trueaxis.data.checked import largest_squarable

INF = float("inf")
FLOATS = (np.dtype(np.float64), np.dtype(np.float32))
# Numbers that follow from others agree up to rounding, and to other versions of SciPy.
CLOSE = 1e-3


@dataclass
class Sizes:
    """Sizes that the attributes of one model share.

    Attributes
    ----------
    known : dict
        Number of components "k" and of columns "D". The number of training rows "n" is
        that of the first attribute that has it.
    dtype : dtype
        Of the components.
    """

    known: dict[str | int, int]
    dtype: np.dtype[Any]

    def fit(self, shape: tuple[int, ...], names: tuple[str | int, ...]) -> bool:
        """Return whether a shape has the sizes with these names; "any" is any size."""
        return len(shape) == len(names) and all(
            name == "any" or size == self.known.get(name, name)
            for size, name in zip(shape, names, strict=True)
        )


# Says what is wrong with a value, in words that follow its name; None if nothing is.
Check = Callable[[Any, Sizes], str | None]
Relation = Callable[[dict[str, Any]], str | None]


def whole(low: int, most: str | None = None) -> Check:
    """Check an integer in [low, most], where `most` is the name of a size."""

    def check(value: Any, sizes: Sizes) -> str | None:
        high = np.iinfo(np.intp).max if most is None else sizes.known[most]
        least = min(low, high)
        if type(value) is int and least <= value <= high:
            return None
        return f"is {value!r:.40}, but an integer in [{least}, {high}] is expected"

    return check


def real(
    low: float = -INF, high: float = INF, *, finite: bool = True, optional: bool = False
) -> Check:
    """Check a float in [low, high], or None if optional."""

    def check(value: Any, sizes: Sizes) -> str | None:
        if optional and value is None:
            return None
        number = isinstance(value, (float, np.floating)) and low <= value <= high
        if number and (np.isfinite(value) or not finite):
            return None
        kind = "a finite number" if finite else "a number"
        return f"is {value!r:.40}, but {kind} in [{low:g}, {high:g}] is expected"

    return check


def truth(value: Any, sizes: Sizes) -> str | None:
    """Check a boolean."""
    if isinstance(value, (bool, np.bool_)):
        return None
    return f"is {value!r:.40}, but True or False is expected"


def numbers(
    *shape: str | int,
    dtype: Any = np.float64,
    low: float = -INF,
    limit: Callable[[np.dtype[Any]], float] | None = None,
    finite: bool = True,
) -> Check:
    """Check an array; `dtype` is None for that of the components.

    A number of rows "n" is learned from the first array that has rows, and "any" fits
    every size.
    """

    def check(value: Any, sizes: Sizes) -> str | None:
        expected = sizes.dtype if dtype is None else np.dtype(dtype)
        if not isinstance(value, np.ndarray) or value.dtype != expected:
            kind = getattr(value, "dtype", type(value).__name__)
            return f"is of type {kind}, but an array of {expected} is expected"
        if "n" in shape and value.ndim == len(shape):
            sizes.known.setdefault("n", value.shape[0])
        if not sizes.fit(value.shape, shape):
            wanted = tuple(sizes.known.get(name, name) for name in shape)
            return f"has shape {value.shape}, but {wanted!s:.80} is expected"
        if value.dtype.kind == "f" and finite and not np.isfinite(value).all():
            return "has a value that is not finite"
        if value.dtype.kind == "f" and (value < low).any():
            return f"has the value {value.min():.3g}, but none is below {low:g}"
        if limit is not None and (np.abs(value) > limit(value.dtype)).any():
            return f"has a value of {np.abs(value).max():.3g}, whose square overflows"
        return None

    return check


def _axes(value: Any, sizes: Sizes) -> str | None:
    if sizes.dtype not in FLOATS:
        return f"is of type {sizes.dtype}, but float64 or float32 is expected"
    wrong = numbers("k", "D", dtype=None)(value, sizes)
    if wrong:
        return wrong
    # Half the digits: the axes of all methods are orthonormal up to a few roundings.
    tolerance = float(np.sqrt(np.finfo(sizes.dtype).eps))
    largest = float(np.abs(value).max(initial=0.0))
    if largest > 1 + tolerance:
        return f"are not orthonormal: they have a value of {largest:.3g}"
    products = value.astype(float) @ value.T.astype(float)
    products[np.diag_indices_from(products)] -= 1.0
    off = float(np.abs(products).max(initial=0.0))
    if off <= tolerance:
        return None
    return f"are not orthonormal: their products are wrong by up to {off:.2g}"


def _largest_mean(dtype: np.dtype[Any]) -> float:
    return 2 * largest_squarable(dtype)  # rounding may lead just beyond the largest row


def _history(value: Any, sizes: Sizes) -> str | None:
    if not isinstance(value, dict):
        return "is not a record of iterations"
    vector = numbers("any", finite=False)
    for name, values in value.items():
        if name not in ("objective", "change", "effective", "component"):
            return f"has an entry {name!r:.40}, which no fit records"
        if wrong := vector(values, sizes):
            return f"has an entry {name} that {wrong}"
    return None


def _temperatures(value: Any, sizes: Sizes) -> str | None:
    check = real(0, finite=False)
    if isinstance(value, tuple) and len(value) == 3:
        if not any(check(each, sizes) for each in value):
            return None
    return f"is {value!r:.80}, but three numbers that are not negative are expected"


def _cutoffs(value: Any, sizes: Sizes) -> str | None:
    if not isinstance(value, Distances):
        return "is not a pair of distances"
    for name, cut in zip(value._fields, value, strict=True):
        if wrong := real(0)(cut, sizes):
            return f"has an entry {name} that {wrong}"
    return None


def _tails(value: Any, sizes: Sizes) -> str | None:
    wrong = numbers(2, 3)(value, sizes)
    if wrong or all(Tail(*map(float, tail)).is_valid() for tail in value):
        return wrong
    return "are not two laws of distances"


def _sides(value: Any, sizes: Sizes) -> str | None:
    wrong = numbers("any", sizes.known["D"] + 2)(value, sizes)
    if wrong:
        return wrong
    if (value[:, -1] == value[:, -2]).any() or not value[:, :-2].any(axis=1).all():
        return "has a group without a boundary"
    return None


def _cells(value: Any, sizes: Sizes) -> str | None:
    if not isinstance(value, dict):
        return "is not a record of what cells can be"
    return find_flaw(value, sizes.known["D"]) if value else None


CHECKS: dict[str, Check] = {
    "n_features_in_": whole(1),
    "n_components_": whole(0, "D"),
    "components_": _axes,
    "mean_": numbers("D", dtype=None, limit=_largest_mean),
    "explained_variance_": numbers("k", dtype=None, low=0),
    "explained_variance_ratio_": numbers("k", dtype=None, low=0),
    "noise_variance_": real(0),
    "n_samples_": real(1),
    "weights_": numbers("n", low=0),
    "support_": numbers("n", dtype=bool),
    "cutoffs_": _cutoffs,
    "offset_": real(high=0),
    "history_": _history,
    "n_iter_": whole(0),
    "converged_": truth,
    "_total_variance": real(float(np.finfo(float).tiny)),
    "_tails": _tails,
    "_sides": _sides,
    "_n_judging": whole(1, "k"),
    # Of some methods only:
    "_cells": _cells,
    "tau_": _temperatures,
    "trust_": real(0, 1 + 1e-9),
    "objective_": real(finite=False),
    "q_": real(0),
    "c_": real(0, finite=False, optional=True),
    "gamma_": real(0, finite=False, optional=True),
    "sigma_": real(0, finite=False),
    "lam_": real(0, finite=False),
    "gam_": real(0, finite=False),
    "feature_weights_": numbers("D", low=0),
    "low_rank_": numbers("n", "D"),
    "sparse_": numbers("n", "D"),
    "outlying_": numbers("n", "D"),
}


def _shares_of_variance(attributes: dict[str, Any]) -> str | None:
    variances = attributes["explained_variance_"].astype(float)
    ratio = attributes["explained_variance_ratio_"]
    total = attributes["_total_variance"]
    # The smallest numbers of a type have few digits.
    few = 4 * float(np.finfo(ratio.dtype).smallest_subnormal)
    off = np.abs(ratio.astype(float) * total - variances)
    if (off <= CLOSE * variances + few * (1.0 + total)).all():
        return None
    return "explained_variance_ratio_ are not shares of explained_variance_"


def _sum_of_weights(attributes: dict[str, Any]) -> str | None:
    weights = attributes.get("weights_")
    if weights is None or abs(weights.sum() - 1.0) <= CLOSE:
        return None
    return f"weights_ sum to {weights.sum():.3g} instead of 1"


def _lengths_of_history(attributes: dict[str, Any]) -> str | None:
    if len({len(values) for values in attributes["history_"].values()}) < 2:
        return None
    return "history_ has entries of different lengths"


def _line(attributes: dict[str, Any]) -> str | None:
    law = Law.from_arrays(attributes["_tails"], attributes["_sides"])
    cuts = law.cuts(float(attributes["offset_"]) * float(np.log(10.0)))
    for cut, squared in zip(attributes["cutoffs_"], (cuts.s, cuts.e), strict=True):
        expected = float(np.sqrt(squared))
        if abs(cut - expected) > CLOSE * expected:
            return (
                f"cutoffs_ has a distance of {cut:.3g}, but offset_ and _tails lead to "
                f"{expected:.3g}"
            )
    return None


RELATIONS: tuple[Relation, ...] = (
    _shares_of_variance,
    _sum_of_weights,
    _lengths_of_history,
    _line,
)


def find_mismatch(attributes: dict[str, Any], names: Any) -> str | None:
    """Return why attributes and names of columns cannot come from one fit, or None.

    Attributes without a check are a mistake of the program: see `CHECKS`.
    """
    axes = attributes.get("components_")
    sizes = Sizes({}, axes.dtype if isinstance(axes, np.ndarray) else np.dtype(object))
    # In the order of the table, as later checks rely on sizes that earlier ones found.
    for name in sorted(attributes, key=list(CHECKS).index):
        value = attributes[name]
        if wrong := CHECKS[name](value, sizes):
            return f"{name} {wrong}"
        if size := {"n_features_in_": "D", "n_components_": "k"}.get(name):
            sizes.known[size] = value
    for relation in RELATIONS:
        if wrong := relation(attributes):
            return wrong
    return None if names is None else find_bad_names(names, sizes.known["D"])


def find_bad_names(names: Any, D: int) -> str | None:
    """Return why these cannot be the names of D columns, or None."""
    strings = isinstance(names, list) and all(isinstance(name, str) for name in names)
    if strings and len({*names}) == len(names) == D:
        return None
    return f"the feature names are not {D} different strings"
