"""Turn data frames of pandas, polars and Arrow into columns.

`TableEncoder` takes its columns from here; those of files come from `io`. Text stays
text, even if it is written as a number: only the cells of files are parsed. None of the
three libraries is imported unless one of its objects is passed.

`refuse_other_kinds` refuses dates, complex numbers and the like wherever numbers are
needed: NumPy would silently turn dates into counts, and a missing one into -9.2e18.
"""

from __future__ import annotations

import datetime
import decimal
import numbers
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueaxis._columns import Column, as_objects

CALENDAR = (
    datetime.date,
    datetime.time,
    datetime.timedelta,
    np.datetime64,
    np.timedelta64,
)
_NUMBERS = (numbers.Real, decimal.Decimal, np.bool_)


def is_frame(X: Any) -> bool:
    """Return whether `columns_of` takes X: a data frame, or a list of columns."""
    if isinstance(X, (list, tuple)):
        return len(X) > 0 and all(isinstance(each, Column) for each in X)
    if _library(X) in ("pandas", "polars"):  # but no series
        return hasattr(type(X), "columns")
    return hasattr(X, "__arrow_c_stream__")


def columns_of(X: Any) -> list[Column]:
    """Return the columns of a data frame.

    Parameters
    ----------
    X : frame of pandas, polars or pyarrow, or sequence of Column
        Objects that export an Arrow stream are read by pyarrow.

    Returns
    -------
    list of Column
        Booleans are numbers 0 and 1. Columns whose names are not text are called x0,
        x1, ..., as scikit-learn does.

    Raises
    ------
    TypeError, ValueError
        If the names of columns are not different names, or the frame is lazy.

    Examples
    --------
    >>> import pandas as pd
    >>> from trueaxis._frames import columns_of
    >>> frame = pd.DataFrame({"flow": [1, None], "ok": [True, False], "site": [*"ab"]})
    >>> [(column.name, column.kind) for column in columns_of(frame)]
    [('flow', 'number'), ('ok', 'number'), ('site', 'text')]
    """
    names = frame_names(X)
    if isinstance(X, (list, tuple)):
        return list(X)
    if _library(X) == "pandas":
        named = enumerate(names or [f"x{i}" for i in range(X.shape[1])])
        return [_from_series(name, X.iloc[:, i]) for i, name in named]
    if _library(X) == "polars":
        return [_from_polars_series(series.name, series) for series in X.get_columns()]
    table = _arrow(X)
    chunked = zip(table.column_names, table.columns, strict=True)
    return [_from_arrow_array(name, each.combine_chunks()) for name, each in chunked]


def frame_names(X: Any) -> list[str] | None:
    """Return the names of the columns; None if they are not text.

    Raises
    ------
    TypeError
        If only some of the names are text, or the frame is a lazy one.
    ValueError
        If two columns have the same name.
    """
    if isinstance(X, (list, tuple)):
        names = [column.name for column in X]
    elif hasattr(type(X), "collect"):
        raise TypeError(
            f"X is a polars {type(X).__name__}, whose rows are not in memory: pass "
            "X.collect()."
        )
    elif _library(X) in ("pandas", "polars"):
        names = list(X.columns)
    else:
        names = _arrow(X).column_names
    for name, times in Counter(names).most_common(1):
        if times > 1:
            raise ValueError(
                f"X has {times} columns named {name!r}: give each column its own name."
            )
    if all(isinstance(name, (int, float, np.number)) for name in names):
        # Numbers may be wavelengths, unless they only count the columns, as in pandas.
        counted = names == list(range(len(names)))
        return None if counted else [str(name) for name in names]
    text = [isinstance(name, str) for name in names]
    if any(text) and not all(text):
        other = names[text.index(False)]
        raise TypeError(
            f"Only some names of columns are text ({other!r} is a "
            f"{type(other).__name__}): convert them with X.columns = "
            "X.columns.astype(str)."
        )
    return [str(name) for name in names] if all(text) else None


def is_number(cell: Any) -> bool:
    """Return whether a cell of a column of objects is a number."""
    # NumPy counts a duration among the integers.
    return isinstance(cell, _NUMBERS) and not isinstance(cell, np.timedelta64)


def _library(X: Any) -> str:
    return type(X).__module__.partition(".")[0]


def _numbers(name: str, values: Any) -> Column:
    try:
        return Column(name, "number", _floats(values))
    except OverflowError:
        raise too_large_error(f"Column {name!r} of X") from None


def _from_series(name: str, series: Any) -> Column:
    """Return a column of pandas."""
    import pandas as pd
    from pandas.api import types

    if isinstance(series.dtype, pd.SparseDtype):
        series = series.sparse.to_dense()
    if types.is_complex_dtype(series.dtype):
        raise complex_error(f"Column {name!r} of X")
    if types.is_numeric_dtype(series.dtype):  # or booleans
        return _numbers(name, series.to_numpy(dtype=np.float64, na_value=np.nan))
    values = series.astype(object).to_numpy(copy=True)
    values[series.isna().to_numpy()] = None
    if isinstance(series.dtype, pd.PeriodDtype):  # NumPy has no type for periods
        return Column(name, "calendar", values)
    # Levels of a category are labels, even if they are numbers.
    is_category = isinstance(series.dtype, pd.CategoricalDtype)
    return Column(name, "text", values) if is_category else _from_cells(name, values)


def _from_polars_series(name: str, series: Any) -> Column:
    if series.dtype.is_numeric() or str(series.dtype) == "Boolean":
        return _numbers(name, series.to_numpy())
    return _from_cells(name, as_objects(series.to_list()))


def _arrow(X: Any) -> Any:
    import pyarrow

    return X if isinstance(X, pyarrow.Table) else pyarrow.table(X)


def _from_arrow_array(name: str, array: Any) -> Column:
    from pyarrow import types

    if hasattr(array, "storage"):  # an extension type
        array = array.storage
    if types.is_dictionary(array.type):
        cells = as_objects(array.dictionary_decode().to_pylist())
        return Column(name, "text", cells)
    kind = array.type
    is_number = types.is_integer(kind) or types.is_floating(kind)
    if is_number or types.is_boolean(kind) or types.is_decimal(kind):
        return _numbers(name, array.to_numpy(zero_copy_only=False))
    return _from_cells(name, as_objects(array.to_pylist()))


def _from_cells(name: str, values: NDArray[Any]) -> Column:
    """Return a column of Python objects, whose kind is that of its cells."""
    known = [cell for cell in values if cell is not None]
    if known and all(type(cell) is str for cell in known):
        return Column(name, "text", values)
    if any(isinstance(cell, (complex, np.complexfloating)) for cell in known):
        raise complex_error(f"Column {name!r} of X")
    if all(map(is_number, known)):
        return _numbers(name, values)
    if all(isinstance(cell, CALENDAR) for cell in known):
        return Column(name, "calendar", values)
    return Column(name, "nested" if any(map(_is_nested, known)) else "text", values)


def _is_nested(cell: Any) -> bool:
    return isinstance(cell, (Sequence, dict, set, frozenset, np.ndarray)) and (
        not isinstance(cell, (str, bytes))
    )


def _floats(cells: NDArray[Any]) -> NDArray[np.float64]:
    if cells.dtype.kind == "O":  # decimals, or booleans with missing values
        cells = np.array([np.nan if cell is None else float(cell) for cell in cells])
    return np.asarray(cells, dtype=np.float64)


def complex_error(where: str) -> ValueError:
    """Return the error about complex numbers."""
    # scikit-learn's checks look for the first words.
    return ValueError(
        f"Complex data not supported. {where} has complex numbers: pass their real and "
        "imaginary parts as two columns."
    )


def too_large_error(where: str) -> ValueError:
    """Return the error about integers that no float can hold."""
    return ValueError(
        f"{where} has an integer beyond {np.finfo(float).max:.2g}, where floats end: "
        "drop its row, or take logarithms."
    )


# -------------------------------------------------------------------------- other kinds


def refuse_other_kinds(X: Any) -> None:
    """Raise if a table has text, dates, complex or too large numbers.

    Parameters
    ----------
    X : array-like, or frame of pandas, polars or pyarrow
        Sparse matrices and the like are left to scikit-learn.
    """
    if is_frame(X):
        frame_names(X)  # raises for invalid names
        kinds = [getattr(kind, "kind", "O") for kind in getattr(X, "dtypes", "O")]
        if all(kind in "biuf" for kind in kinds):  # of a pandas frame
            return
        for column in columns_of(X):
            where = f"Column {column.name!r} of X"
            if column.kind == "calendar":
                known = [cell for cell in column.values if cell is not None]
                raise _calendar(where, type(known[0]).__name__ if known else "missing")
            if column.kind != "number":
                _refuse_cells(column.values, f" in column {column.name!r}")
        return
    if isinstance(X, (list, tuple)):
        try:
            X = np.asarray(X)
        except ValueError:
            raise ValueError(
                f"X is a {type(X).__name__} whose rows differ in length: every "
                "row needs the same number of cells."
            ) from None
    dtype = getattr(X, "dtype", None)
    kind = getattr(dtype, "kind", "")
    if kind in ("m", "M"):
        raise _calendar("X", str(dtype))
    if kind == "c":
        raise complex_error("X")
    if kind in ("O", "U", "S") and getattr(X, "ndim", 0) in (1, 2):
        cells = np.asarray(X)
        for i, values in enumerate(cells.T if cells.ndim == 2 else [cells]):
            _refuse_cells(values, f" in column {i}" if cells.ndim == 2 else "")


def _refuse_cells(cells: NDArray[Any], of_column: str = "") -> None:
    """Raise if a cell of objects or text is not a number."""
    for row, cell in enumerate(cells):
        if type(cell) is float:
            continue
        place = f"Row {row}{of_column} of X"
        if isinstance(cell, CALENDAR):
            raise _calendar(place, type(cell).__name__)
        if isinstance(cell, (complex, np.complexfloating)):
            raise complex_error(place)
        try:
            float(cell)
        except TypeError as error:  # or None, and what scikit-learn refuses
            if hasattr(cell, "__len__"):
                raise TypeError(
                    f"{place} is of type {type(cell).__name__}, but only numbers can "
                    f"be analyzed: use one number per cell ({error})."
                ) from None
        except OverflowError:
            raise too_large_error(place) from None
        except ValueError:
            raise ValueError(
                f"X has text{of_column}: {str(cell)[:50]!r} in row {row}. Only "
                "numbers can be analyzed: drop the column or encode it."
            ) from None


def _calendar(where: str, kind: str) -> TypeError:
    return TypeError(
        f"{where} has dates or times ({kind}), but only numbers can be analyzed: drop "
        "them, or convert them to numbers, such as days since the first."
    )
