"""Validation of user input: data, sample weights and parameters.

All later code may rely on floats that are finite, or NaN where missing cells are
allowed, and on valid parameters.
"""

from __future__ import annotations

import numbers
import os
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from trueaxis._frames import refuse_other_kinds
from trueaxis.data.dask import DaskRows, is_dask
from trueaxis.data.files import ENDINGS
from trueaxis.data.open_rows import open_rows
from trueaxis.data.rows import ArrayRows, Rows
from trueaxis.data.transformed import (
    IncompleteRows,
    TransformedRows,
    check_columns,
    checked_rows,
    refuse_nonfinite,
)

DTYPES = (np.float64, np.float32)
LARGEST_COUNT = 1e12  # larger integer weights are not taken as counts of rows


def validate_rows(
    estimator: Any, X: Any, *, reset: bool = True, missing_ok: bool = False
) -> Rows:
    """Validate X for an estimator and return it as `Rows`.

    Parameters
    ----------
    estimator : estimator
    X : array-like, or a source of rows
    reset : bool
        Whether to store the number and names of columns, or to compare them.
    missing_ok : bool
        Whether NaN are allowed.

    Raises
    ------
    IncompleteRows
        If X has missing cells and they are not allowed.
    TypeError, ValueError
        If X is not a dense, finite, numeric table.
    """
    if _is_source(X):
        return _validate_source(estimator, open_rows(X), reset, missing_ok)
    if getattr(X, "shape", ())[1:] == (0,):
        raise ValueError(
            f"Found array with 0 feature(s) (shape={X.shape}) while a minimum of 1 is "
            "required: pass a table with columns."
        )
    refuse_other_kinds(X)
    X = _plain_missing(X, missing_ok)
    if np.ma.is_masked(X):
        if not missing_ok:
            raise IncompleteRows(
                f"X is a masked array with {np.ma.getmaskarray(X).sum()} masked cells, "
                "whose values are unknown: use DSWL, which takes missing cells, or "
                "drop the rows."
            )
        X = np.ma.filled(X.astype(np.result_type(X.dtype, np.float32)), np.nan)
    X = validate_data(
        estimator,
        X,
        reset=reset,
        dtype=DTYPES,
        ensure_all_finite=False,
        ensure_min_samples=2 if reset else 1,
    )
    rows = ArrayRows(X)
    refuse_nonfinite(rows, getattr(estimator, "feature_names_in_", None), missing_ok)
    return rows


def validate_array(X: Any, *, missing_ok: bool = False) -> NDArray[Any]:
    """Validate rows that an estimator computed, such as scores; return an array."""
    refuse_other_kinds(X)
    finite = "allow-nan" if missing_ok else True
    array: NDArray[Any] = check_array(X, dtype=DTYPES, ensure_all_finite=finite)
    return array


def _plain_missing(X: Any, missing_ok: bool) -> Any:
    """Return a frame with NaN where columns of objects have pandas.NA or None."""
    columns = getattr(X, "dtypes", []) if getattr(X, "ndim", 0) == 2 else []
    kinds = [getattr(kind, "kind", "") for kind in columns]
    if not hasattr(X, "isna") or "O" not in kinds:
        return X
    missing = X.isna()
    n = int(np.asarray(missing).sum())
    if n and not missing_ok:
        raise IncompleteRows(
            f"X has {n} missing cells (NA). Complete rows are needed here: use DSWL, "
            "which takes missing cells, or drop the rows."
        )
    return X.mask(missing, np.nan) if n else X


def _is_source(X: Any) -> bool:
    if isinstance(X, np.memmap):  # leave other than numeric tables to scikit-learn
        if X.mode is None:  # a copy in memory
            return False
        return X.ndim == 2 and X.dtype.kind in "biuf" and X.size > 0
    if isinstance(X, (list, tuple)):  # may list files instead of rows
        return len(X) > 0 and all(_names_a_file(item) for item in X)
    return isinstance(X, (Rows, str, os.PathLike)) or is_dask(X)


def _names_a_file(item: Any) -> bool:
    is_path = isinstance(item, (str, os.PathLike))
    return is_path and str(item).lower().endswith(ENDINGS)


def _validate_source(estimator: Any, rows: Rows, reset: bool, missing_ok: bool) -> Rows:
    """Check the metadata of a source; its values are checked when they are read."""
    check_columns(estimator, rows, reset)
    minimum = 2 if reset else 1
    if rows.shape[0] < minimum:
        raise ValueError(
            f"Found array with {rows.shape[0]} sample(s) (shape={rows.shape}) while a "
            f"minimum of {minimum} is required by {type(estimator).__name__}."
        )
    names = getattr(estimator, "feature_names_in_", None)
    if isinstance(rows, DaskRows):  # which checks its values on the workers
        rows.check_anew(names, missing_ok=missing_ok)
        return rows
    return checked_rows(rows, names, missing_ok=missing_ok)


def fitted_rows(model: Any, X: Any) -> Rows:
    """Check that a model is fitted; validate X against the data of the fit.

    Missing cells are filled, and wrong cells replaced, if the model does so.
    """
    # After a fit that failed half-way, n_features_in_ is set, but not components_.
    check_is_fitted(model, "components_")
    repair = model._repair()
    if repair is None:
        return validate_rows(model, X, reset=False)
    rows = validate_rows(model, X, reset=False, missing_ok=True)
    if rows.complete and repair.wrong is None:  # nothing to repair
        return rows
    return TransformedRows(rows, repair)


def raw_rows(model: Any, X: Any) -> Rows:
    """Validate X like `fitted_rows`, but neither fill nor replace cells."""
    check_is_fitted(model, "components_")
    return validate_rows(model, X, reset=False, missing_ok=model._repair() is not None)


def validate_counts(sample_weight: Any, n: int) -> NDArray[np.float64] | None:
    """Convert sample weights to counts; None if every row counts once.

    Integer weights are repetitions. For other weights, only the ratios matter: they are
    scaled to mean 1 over the rows with a positive weight.
    """
    if sample_weight is None:
        return None
    w = _real_weights(sample_weight)
    if w.ndim == 0:
        w = np.full(n, float(w))
    if w.shape != (n,):
        raise ValueError(
            f"sample_weight has shape {w.shape}, but X has {n} rows: pass one weight "
            "per row."
        )
    if not np.isfinite(w).all() or (w < 0).any():
        row = int(np.argmin(np.isfinite(w) & (w >= 0)))
        raise ValueError(
            f"sample_weight is {w[row]} in row {row}: weights must be finite and "
            "non-negative."
        )
    if (w > 0).sum() < 2:
        raise ValueError(
            f"Only {(w > 0).sum()} of {n} rows have a sample_weight above zero: a "
            "subspace needs at least 2."
        )
    if (w == 1).all():
        return None
    if (w == np.round(w)).all() and w.max() < LARGEST_COUNT:
        return w
    w = w / w.max()  # the sum of the weights may overflow
    scaled: NDArray[np.float64] = w / w[w > 0].mean()
    return scaled


def _real_weights(sample_weight: Any) -> NDArray[np.float64]:
    try:
        given = np.ma.asarray(sample_weight)
        if given.dtype.kind in "cmMV":  # NumPy would convert these to floats
            raise TypeError(f"of type {given.dtype}")
        w = np.asarray(given, dtype=float)
    except (TypeError, ValueError, OverflowError) as error:
        raise TypeError(
            f"sample_weight, of type {type(sample_weight).__name__}, is not numeric "
            f"({str(error):.80}): pass one real number per row."
        ) from None
    hidden = np.ma.getmaskarray(given)
    if hidden.any():
        raise ValueError(
            f"sample_weight is a masked array that hides {hidden.sum()} of "
            f"{hidden.size} weights: fill them, with 0 for rows that do not count."
        )
    return w


def validate_n_components(n_components: Any, n: int, D: int) -> None:
    """Raise if the number of components is not valid for n rows and D columns."""
    most = min(n, D)
    if n_components is None:
        return
    if isinstance(n_components, str) and n_components == "auto":
        return
    if isinstance(n_components, bool) or not isinstance(n_components, numbers.Real):
        raise TypeError(
            f"n_components={n_components!r} is a {type(n_components).__name__}: pass "
            'an integer, a float between 0 and 1, "auto" or None.'
        )
    if isinstance(n_components, numbers.Integral):
        if not 1 <= int(n_components) <= most:
            raise ValueError(
                f"n_components={n_components!s:.20}, but X has {n} rows and {D} "
                f"columns: pass 1 to {most}."
            )
    elif not 0 < float(n_components) < 1:
        raise ValueError(
            f"n_components={n_components} is neither an integer nor a share of the "
            "variance: pass an integer, or a float between 0 and 1 (both excluded)."
        )


def validate_number(
    name: str,
    value: Any,
    low: float,
    high: float,
    *,
    whole: bool = False,
    include_low: bool = False,
    auto: bool = False,
    optional: bool = False,
) -> None:
    """Raise if a parameter is not a number in the interval (low, high].

    The interval includes `low` if `whole` or `include_low` is set. `whole` requires an
    integer, `auto` also allows the string "auto", and `optional` None.
    """
    if optional and value is None:
        return
    if auto and isinstance(value, str) and value == "auto":
        return
    kind = numbers.Integral if whole else numbers.Real
    expected = f"a number in {'[' if include_low else '('}{low:g}, {high:g}]"
    if whole:
        expected = f"an integer of at least {low:g}"
    if auto:
        expected += ' or "auto"'
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, kind):
        raise TypeError(
            f"{name}={value!r} is a {type(value).__name__}: pass {expected}."
        )
    try:
        number = float(value)
    except OverflowError:  # an integer of more than 308 digits
        number = np.nan  # which is in no interval
    above = low <= number if whole or include_low else low < number
    if not (above and number <= high):
        raise ValueError(
            f"{name}={value!s:.20} is out of range: it must be {expected}."
        )


def validate_flag(name: str, value: Any) -> None:
    """Raise if a parameter is neither True nor False."""
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(
            f"{name}={value!r} is neither True nor False: pass one of them."
        )


def validate_tau(tau: Any) -> tuple[float, float, float] | None:
    """Return the three temperatures as floats, or None for "auto"."""
    if isinstance(tau, str) and tau == "auto":
        return None
    try:
        a, b, c = (float(t) for t in (() if isinstance(tau, str) else tau))
    except (TypeError, ValueError):
        raise TypeError(
            f'tau={tau!r} is not understood: pass "auto" or three temperatures '
            "(tau_a, tau_b, tau_c)."
        ) from None
    for name, t in zip(("tau_a", "tau_b", "tau_c"), (a, b, c), strict=True):
        if not t > 0:
            raise ValueError(
                f"{name}={t} in tau={tau!r}: temperatures divide squared distances and "
                'must be positive. Use tau="auto" to calibrate them.'
            )
    return a, b, c


def make_rng(random_state: Any) -> np.random.Generator:
    """Return a generator for a `random_state` of scikit-learn."""
    return np.random.default_rng(check_random_state(random_state).randint(2**31))


def validate_choice(name: str, value: Any, choices: tuple[str, ...]) -> None:
    """Raise if a parameter is not one of the allowed strings."""
    if not isinstance(value, str) or value not in choices:
        allowed = ", ".join(repr(choice) for choice in choices)
        raise ValueError(f"{name}={value!r} is not valid: choose one of {allowed}.")


def validate_count_or_share(name: str, value: Any, *, optional: bool = False) -> None:
    """Raise if a parameter is neither a positive integer nor a share in (0, 1]."""
    if optional and value is None:
        return
    if isinstance(value, numbers.Integral) and not isinstance(value, bool):
        validate_number(name, value, 1, np.inf, whole=True)
    else:
        validate_number(name, value, 0, 1)


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the location of the user's call, from any depth inside the package."""
    package, level, frame = str(Path(__file__).parent), 1, sys._getframe()
    while frame.f_back is not None and frame.f_code.co_filename.startswith(package):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)
