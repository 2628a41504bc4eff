"""MEASURE: several methods on the same rows, side by side."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning

from trueaxis.diagnostics.influence import largest_angle
from trueaxis.estimators import METHODS

# Where a method's work grows faster than the table, the most that takes about half a
# minute: rows n and columns D to a number, and its limit.
COSTLY: dict[str, tuple[Callable[[int, int], float], float]] = {
    "l1-pca": (lambda n, D: n * D * max(D / 100, 1), 2e4),
    "weighted-pca": (lambda n, D: n * n, 1e9),
    "pcp": (lambda n, D: n * D * min(n, D), 6e7),
    "spcp": (lambda n, D: n * D * min(n, D), 1e8),
    "rrpcp": (lambda n, D: n * D * min(n, D), 1e8),
}


@dataclass(frozen=True)
class ComparedMethod:
    """One method among others.

    Attributes
    ----------
    method : str
        Short name.
    model : estimator or None
        Fitted; None where there was a problem.
    problem : str
        Why there is no model; empty if there is one.
    seconds : float or None
        CPU time of the fit; None, like all that follows, where there was a problem.
    flagged : int or None
        Number of outliers.
    shared : int or None
        How many of them are outliers for the first method as well.
    angle : float or None
        Largest angle to the subspace of the first method in degrees.
    shift : float or None
        Distance of its centre from that of the first method.
    """

    method: str
    model: Any = None
    problem: str = ""
    seconds: float | None = None
    flagged: int | None = None
    shared: int | None = None
    angle: float | None = None
    shift: float | None = None

    @property
    def converged(self) -> bool | None:
        """Whether the fit settled; None where there was a problem."""
        return None if self.model is None else bool(self.model.converged_)


def suitable(n: int, D: int) -> list[str]:
    """Names of the methods that fit n rows of D columns in about half a minute."""
    return [
        name
        for name in METHODS
        if name not in COSTLY or COSTLY[name][0](n, D) <= COSTLY[name][1]
    ]


def compare(
    X: ArrayLike,
    methods: Sequence[str] | None = None,
    *,
    n_components: Any = "auto",
    progress: Callable[[str], None] = lambda method: None,
) -> list[ComparedMethod]:
    """Fit methods to the same rows and compare each with the first.

    Parameters
    ----------
    X : array-like of shape (n, D)
    methods : sequence of str, optional
        Short names in `METHODS`, the one to compare with first; by default "dswl", and
        all others that take no longer than about half a minute each.
    n_components : int, float or "auto", default="auto"
        The first method decides on a number, which the others take over.
    progress : callable, optional
        Told the name of every method before it is fitted.

    Returns
    -------
    list of Compared
        In the order of `methods`.

    Examples
    --------
    >>> from trueaxis.diagnostics.comparison import compare
    >>> from trueaxis.datasets import planted
    >>> X = planted("ocs", n=300, share=0.2).X
    >>> dswl, pca = compare(X, ["dswl", "pca"], n_components=3)
    >>> dswl.flagged, bool(pca.angle > 80)
    (63, True)
    """
    rows = np.asarray(X)
    if methods is None:
        chosen = suitable(*rows.shape)
        methods = ["dswl", *(name for name in chosen if name != "dswl")]
    unknown = [name for name in methods if name not in METHODS]
    if unknown or not methods:
        raise ValueError(
            f"methods={list(methods)!r}, of which {unknown!r} are not known: choose "
            f"among {', '.join(METHODS)}."
        )
    progress(methods[0])
    first = _fitted(methods[0], rows, n_components)
    if first.model is None:
        raise ValueError(first.problem)
    marked = first.model.predict(rows) < 0
    found = [_beside(first, first, marked, rows)]
    for name in methods[1:]:
        progress(name)
        other = _fitted(name, rows, first.model.n_components_)
        found.append(_beside(other, first, marked, rows))
    return found


def _fitted(name: str, rows: NDArray[Any], n_components: Any) -> ComparedMethod:
    model = METHODS[name](n_components=n_components)
    start = time.process_time()
    try:
        with warnings.catch_warnings():
            # The record says so: `model.converged_`.
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(rows)
    except ValueError as error:  # what this method refuses, the next may take
        return ComparedMethod(name, problem=str(error))
    return ComparedMethod(name, model, seconds=time.process_time() - start)


def _beside(
    one: ComparedMethod,
    first: ComparedMethod,
    marked: NDArray[np.bool_],
    rows: NDArray[Any],
) -> ComparedMethod:
    if one.model is None:
        return one
    flagged = one.model.predict(rows) < 0
    apart = between(one.model, first.model)
    return ComparedMethod(
        method=one.method,
        model=one.model,
        seconds=one.seconds,
        flagged=int(flagged.sum()),
        shared=int((flagged & marked).sum()),
        angle=apart.angle,
        shift=apart.shift,
    )


class ModelDifference(NamedTuple):
    """How far two models are apart.

    angle : largest angle between their subspaces in degrees
    shift : distance of their centres
    """

    angle: float
    shift: float


def between(one: Any, other: Any) -> ModelDifference:
    """How far two fitted models are apart."""
    angle = largest_angle(one.components_, other.components_)
    return ModelDifference(angle, float(np.linalg.norm(one.mean_ - other.mean_)))
