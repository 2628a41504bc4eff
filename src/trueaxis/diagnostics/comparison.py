"""Comparison of several methods on the same rows."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning

from trueaxis._validation import validate_array, validate_number
from trueaxis.data.threads import ignore_float_errors
from trueaxis.diagnostics.influence import largest_angle
from trueaxis.methods import METHODS

# Most methods pass over all rows again and again. So many rows determine a subspace
# well enough to see how methods differ.
MAX_ROWS = 10_000
# Time of slow methods for n rows and D columns, up to a factor, and its value for a fit
# of about three seconds (`benchmarks/method_costs.py`).
COSTLY: tuple[tuple[Callable[[int, int], int], float, tuple[str, ...]], ...] = (
    (lambda n, D: n * D, 5e4, ("pcp",)),
    (lambda n, D: n * D, 3e5, ("two-way", "spcp", "rrpcp")),
    (lambda n, D: n * D, 1e6, ("l1-pca",)),
    (
        lambda n, D: n * min(n, D),
        1e6,
        ("pca-lp", "rwl-an", "t-rpca", "drpca", "rpca-rp"),
    ),
    (
        lambda n, D: n * D * min(n, D),
        2e9,
        ("r1-pca", "l2p-pca", "rpca-om", "rpca-di", "angle-pca", "l21-max", "rspca"),
    ),
    (lambda n, D: n * n * min(n, D), 2e9, ("weighted-pca",)),
)


@dataclass(frozen=True)
class ComparedMethod:
    """Result of one method in a comparison; numbers of a failed fit are None.

    Attributes
    ----------
    method : str
        Short name.
    seconds : float or None
        CPU time of the fit.
    outliers : int or None
        Number of outliers.
    shared : int or None
        How many of them are outliers for the first method as well.
    angle : float or None
        Largest angle to the subspace of the first method in degrees.
    center : float or None
        Distance of the center from that of the first method.
    converged : bool or None
    problem : str
        Why the fit failed; empty if it did not.
    model : estimator or None
        Fitted model.
    """

    method: str
    seconds: float | None = None
    outliers: int | None = None
    shared: int | None = None
    angle: float | None = None
    center: float | None = None
    converged: bool | None = None
    problem: str = ""
    model: Any = None

    def to_dict(self) -> dict[str, Any]:
        """Return the result, without the model, as values for JSON."""
        return {name: x for name, x in vars(self).items() if name != "model"}


def suitable(n: int, D: int) -> list[str]:
    """Return the methods that fit n rows of D columns in about three seconds each."""
    slow = {name for work, most, names in COSTLY if work(n, D) > most for name in names}
    return [name for name in METHODS if name not in slow]


@ignore_float_errors
def compare(
    X: ArrayLike,
    methods: Sequence[str] | None = None,
    *,
    n_components: Any = "auto",
    level: float = 0.025,
    contamination: float | None = None,
    max_rows: int | None = MAX_ROWS,
) -> list[ComparedMethod]:
    """Fit methods to the same rows and compare each with the first.

    All rows are judged, even if the methods are fitted to some of them.

    Parameters
    ----------
    X : array-like of shape (n, D)
        With NaN for missing cells, if the first method is "dswl": the others, which
        need complete rows, get them filled by it.
    methods : sequence of str, optional
        Short names in `METHODS`, the reference first. By default "dswl", followed by
        all others that take no longer than about three seconds each.
    n_components : int, float or "auto", default="auto"
        The first method determines the number, which the others adopt.
    level : float in (0, 0.5], default=0.025
        Expected share of regular rows that each method flags.
    contamination : float in (0, 0.5], optional
        Share of the fitted rows that each method flags; `level` is then ignored.
    max_rows : int or None, default=10_000
        If there are more rows, the methods are fitted to so many of them, drawn at
        random, but the same in every call. None fits all rows.

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
    >>> bool(60 <= dswl.outliers < 70), bool(pca.angle > 80)
    (True, True)
    """
    if max_rows is not None:
        validate_number("max_rows", max_rows, 2, np.inf, whole=True)
    rows = validate_array(X, missing_ok=True)
    drawn = _draw(rows, max_rows)
    if methods is None:
        chosen = suitable(*drawn.shape)
        methods = ["dswl", *(name for name in chosen if name != "dswl")]
    unknown = [name for name in methods if name not in METHODS]
    if unknown or not methods:
        problem = f"contains unknown names {unknown!r}" if unknown else "is empty"
        raise ValueError(
            f"methods={list(methods)!r} {problem}: choose from {', '.join(METHODS)}."
        )
    threshold = {"level": level, "contamination": contamination}
    first = _fit(methods[0], drawn, n_components, threshold)
    if first.model is None:
        raise ValueError(first.problem)
    flagged = first.model.predict(rows) < 0
    compared = [_compared(first, first.model, rows, flagged)]
    # The first method has taken the rows: it can fill their missing cells.
    if hasattr(first.model, "repair"):
        rows = first.model.repair(rows, wrong=False)
        drawn = _draw(rows, max_rows)
    for name in methods[1:]:
        other = _fit(name, drawn, first.model.n_components_, threshold)
        compared.append(_compared(other, first.model, rows, flagged))
    return compared


def _draw(rows: NDArray[Any], most: int | None) -> NDArray[Any]:
    """Return rows drawn at random, or all if there are no more than `most`."""
    n = len(rows)
    if most is None or n <= most:
        return rows
    return rows[np.sort(np.random.default_rng(0).choice(n, most, replace=False))]


def _fit(
    name: str, rows: NDArray[Any], n_components: Any, threshold: dict[str, Any]
) -> ComparedMethod:
    model = METHODS[name](n_components=n_components, **threshold)
    start = time.process_time()
    try:
        with warnings.catch_warnings():
            # Reported by `ComparedMethod.converged` instead.
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(rows)
    except ValueError as error:  # data that one method refuses may suit the next
        return ComparedMethod(name, problem=str(error))
    seconds, converged = time.process_time() - start, bool(model.converged_)
    return ComparedMethod(name, seconds, converged=converged, model=model)


def _compared(
    fit: ComparedMethod, first: Any, rows: NDArray[Any], by_first: NDArray[np.bool_]
) -> ComparedMethod:
    if fit.model is None:
        return fit
    flagged = fit.model.predict(rows) < 0
    return replace(
        fit,
        outliers=int(flagged.sum()),
        shared=int((flagged & by_first).sum()),
        angle=largest_angle(fit.model.components_, first.components_),
        center=float(np.linalg.norm(fit.model.mean_ - first.mean_)),
    )
