"""Comparison of several methods on the same rows."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning

from trueaxis._rows.threads import own_floats
from trueaxis.diagnostics.influence import largest_angle
from trueaxis.estimators import METHODS

# Methods whose run time grows faster than the table: a measure of the work for n rows
# and D columns, and its value for a fit of about half a minute.
COSTLY: dict[str, tuple[Callable[[int, int], float], float]] = {
    "l1-pca": (lambda n, D: n * D * max(D / 100, 1), 2e4),
    "weighted-pca": (lambda n, D: n * n, 1e9),
    "pcp": (lambda n, D: n * D * max(min(n, D), 20), 6e7),
    "spcp": (lambda n, D: n * D * min(n, D), 1e8),
    "rrpcp": (lambda n, D: n * D * max(min(n, D), 30), 1e8),
    "t-rpca": (lambda n, D: n, 3e5),
    "rwl-an": (lambda n, D: n * (D + 8), 1.5e7),
    "drpca": (lambda n, D: n * (D / 10 + 2), 3e6),
}


@dataclass(frozen=True)
class ComparedMethod:
    """Result of one method in a comparison.

    Attributes
    ----------
    method : str
        Short name.
    model : estimator or None
        Fitted model; None if the fit failed.
    problem : str
        Why the fit failed; empty if it did not.
    seconds : float or None
        CPU time of the fit. None if it failed, like all attributes below.
    flagged : int or None
        Number of outliers.
    shared : int or None
        How many of them are outliers for the first method as well.
    angle : float or None
        Largest angle to the subspace of the first method in degrees.
    shift : float or None
        Distance of the center from that of the first method.
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
        """Whether the fit converged; None if it failed."""
        return None if self.model is None else bool(self.model.converged_)


def suitable(n: int, D: int) -> list[str]:
    """Return the methods that fit n rows of D columns in about half a minute."""
    return [
        name
        for name in METHODS
        if name not in COSTLY or COSTLY[name][0](n, D) <= COSTLY[name][1]
    ]


@own_floats
def compare(
    X: ArrayLike,
    methods: Sequence[str] | None = None,
    *,
    n_components: Any = "auto",
    level: float = 0.025,
    contamination: float | None = None,
    progress: Callable[[str], None] = lambda method: None,
) -> list[ComparedMethod]:
    """Fit methods to the same rows and compare each with the first.

    Parameters
    ----------
    X : array-like of shape (n, D)
        With NaN in holes, if the first method is "dswl": the others, which need
        complete rows, get them filled by it.
    methods : sequence of str, optional
        Short names in `METHODS`, the reference first. By default "dswl", followed by
        all others that take no longer than about half a minute each.
    n_components : int, float or "auto", default="auto"
        The first method determines the number, which the others adopt.
    level : float in (0, 0.5], default=0.025
        Expected share of regular rows that each method flags.
    contamination : float in (0, 0.5], optional
        Share of all rows that each method flags; `level` is then ignored.
    progress : callable, optional
        Called with the name of every method before it is fitted.

    Returns
    -------
    list of ComparedMethod
        In the order of `methods`.

    Examples
    --------
    >>> from trueaxis.diagnostics.comparison import compare
    >>> from trueaxis.datasets import planted
    >>> X = planted("ocs", n=300, share=0.2).X
    >>> dswl, pca = compare(X, ["dswl", "pca"], n_components=3)
    >>> bool(60 <= dswl.flagged < 70), bool(pca.angle > 80)
    (True, True)
    """
    rows = np.asarray(X)
    if methods is None:
        chosen = suitable(*rows.shape)
        methods = ["dswl", *(name for name in chosen if name != "dswl")]
    unknown = [name for name in methods if name not in METHODS]
    if unknown or not methods:
        problem = f"contains unknown names {unknown!r}" if unknown else "is empty"
        raise ValueError(
            f"methods={list(methods)!r} {problem}: choose from {', '.join(METHODS)}."
        )
    progress(methods[0])
    line = {"level": level, "contamination": contamination}
    first = _fit(methods[0], rows, n_components, line)
    if first.model is None:
        raise ValueError(first.problem)
    flagged = first.model.predict(rows) < 0
    compared = [_compare_with(first, first, flagged, rows)]
    # The first method has taken the rows: it can fill their holes.
    if hasattr(first.model, "impute"):
        rows = first.model.impute(rows)
    for name in methods[1:]:
        progress(name)
        other = _fit(name, rows, first.model.n_components_, line)
        compared.append(_compare_with(other, first, flagged, rows))
    return compared


def _fit(
    name: str, rows: NDArray[Any], n_components: Any, line: dict[str, Any]
) -> ComparedMethod:
    model = METHODS[name](n_components=n_components, **line)
    start = time.process_time()
    try:
        with warnings.catch_warnings():
            # Reported by `ComparedMethod.converged` instead.
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(rows)
    except ValueError as error:  # data that one method refuses may suit the next
        return ComparedMethod(name, problem=str(error))
    return ComparedMethod(name, model, seconds=time.process_time() - start)


def _compare_with(
    fit: ComparedMethod,
    first: ComparedMethod,
    flagged_by_first: NDArray[np.bool_],
    rows: NDArray[Any],
) -> ComparedMethod:
    if fit.model is None:
        return fit
    flagged = fit.model.predict(rows) < 0
    difference = between(fit.model, first.model)
    return replace(
        fit,
        flagged=int(flagged.sum()),
        shared=int((flagged & flagged_by_first).sum()),
        angle=difference.angle,
        shift=difference.shift,
    )


class ModelDifference(NamedTuple):
    """Difference between two fitted models.

    angle : largest angle between their subspaces in degrees
    shift : distance between their centers
    """

    angle: float
    shift: float


def between(one: Any, other: Any) -> ModelDifference:
    """Return the difference between two fitted models."""
    angle = largest_angle(one.components_, other.components_)
    return ModelDifference(angle, float(np.linalg.norm(one.mean_ - other.mean_)))
