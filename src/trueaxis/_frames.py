"""Turn data frames of pandas, polars and Arrow into columns.

`TableEncoder` takes its columns from here; those of files come from `io`. Text stays
text, even if it is written as a number: only the cells of files are parsed. None of the
three libraries is imported unless its objects arrive.

`refuse_other_kinds` refuses dates, complex numbers and the like wherever numbers are
needed: NumPy would silently turn dates into counts, and a missing one into -9.2e18.
"""

from __future__ import annotations

import datetime
import decimal
import numbers
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueaxis._columns import Column, Kind, as_objects

CALENDAR = (
    datetime.date,
    datetime.time,
    datetime.timedelta,
    np.datetime64,
    np.timedelta64,
)
# How NumPy, pandas, polars and Arrow begin the names of types of dates and times.
_CALENDAR_TYPE = re.compile(r"date|time|duration|period|month_", re.IGNORECASE)
_NUMBERS = (numbers.Real, decimal.Decimal, np.bool_)


def is_frame(X: Any) -> bool:
    """Return whether `columns_of` takes X: a data frame, or a list of columns."""
    if isinstance(X, (list, tuple)):
        return len(X) > 0 and all(isinstance(each, Column) for each in X)
    if _library(X) == "pandas":
        return hasattr(X, "columns")
    return _library(X) == "polars" or hasattr(X, "__arrow_c_stream__")


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
    ValueError
        If two columns have the same name.

    Examples
    --------
    >>> import pandas as pd
    >>> from trueaxis._frames import columns_of
    >>> frame = pd.DataFrame({"flow": [1, None], "ok": [True, False], "site": [*"ab"]})
    >>> [(column.name, column.kind) for column in columns_of(frame)]
    [('flow', 'number'), ('ok', 'number'), ('site', 'text')]
    """
    if isinstance(X, (list, tuple)):
        columns = list(X)
    elif _library(X) == "pandas":
        columns = _from_pandas(X)
    elif _library(X) == "polars":
        columns = _from_polars(X)
    else:
        columns = _from_arrow(X)
    _refuse_repeated([column.name for column in columns])
    return columns


def frame_names(X: Any) -> list[str] | None:
    """Return the names of the columns; None if they are not text.

    Raises
    ------
    TypeError
        If only some of the names are text.
    """
    if isinstance(X, (list, tuple)):
        return [column.name for column in X]
    stored = (
        X.columns if _library(X) in ("pandas", "polars") else _arrow(X).column_names
    )
    names = list(stored)
    if all(isinstance(name, (int, float, np.number)) for name in names):
        # Wavelengths, unless they only count the columns, as pandas does.
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


# ------------------------------------------------------------------------------- pandas


def _from_pandas(frame: Any) -> list[Column]:
    names = frame_names(frame)
    return [
        _from_series(f"x{i}" if names is None else names[i], frame.iloc[:, i])
        for i in range(frame.shape[1])
    ]


def _from_series(name: str, series: Any) -> Column:
    import pandas as pd
    from pandas.api import types

    dtype = series.dtype
    if isinstance(dtype, getattr(pd, "ArrowDtype", ())):
        import pyarrow

        return _from_arrow_array(name, pyarrow.array(series.array))
    if isinstance(dtype, pd.SparseDtype):
        series = series.sparse.to_dense()
        dtype = series.dtype
    if types.is_complex_dtype(dtype):
        raise complex_error(f"Column {name!r} of X")
    if types.is_bool_dtype(dtype) and not isinstance(dtype, pd.CategoricalDtype):
        return _numbers(name, series.to_numpy(dtype=np.float64, na_value=np.nan))
    if types.is_numeric_dtype(dtype):
        return _numbers(name, series.to_numpy(dtype=np.float64, na_value=np.nan))
    values = series.astype(object).to_numpy(copy=True)
    values[series.isna().to_numpy()] = None
    calendar = dtype.kind in "mM" if isinstance(dtype, np.dtype) else False
    if calendar or isinstance(dtype, (pd.DatetimeTZDtype, pd.PeriodDtype)):
        return Column(name, "calendar", values)
    if types.is_object_dtype(dtype):
        return _from_objects(name, values)
    return Column(name, "text", values)


# ------------------------------------------------------------------------------- polars


def _from_polars(frame: Any) -> list[Column]:
    if not hasattr(frame, "get_columns"):
        raise TypeError(
            f"X is a polars {type(frame).__name__}, whose rows are not in memory: pass "
            "X.collect()."
        )
    return [_from_polars_series(each.name, each) for each in frame.get_columns()]


def _from_polars_series(name: str, series: Any) -> Column:
    dtype = series.dtype
    if dtype.is_numeric() or str(dtype) == "Boolean":
        return _numbers(name, series.to_numpy())
    values = as_objects(series.to_list())
    if str(dtype) in ("Null", "Object"):
        return _from_objects(name, values)
    if dtype.is_temporal():
        return Column(name, "calendar", values)
    return Column(name, "nested" if dtype.is_nested() else "text", values)


# -------------------------------------------------------------------------------- Arrow


def _arrow(X: Any) -> Any:
    import pyarrow

    return X if isinstance(X, pyarrow.Table) else pyarrow.table(X)


def _from_arrow(X: Any) -> list[Column]:
    table = _arrow(X)
    return [
        _from_arrow_array(name, table.column(i).combine_chunks())
        for i, name in enumerate(table.column_names)
    ]


def _from_arrow_array(name: str, array: Any) -> Column:
    from pyarrow import types

    if hasattr(array, "storage"):  # an extension type
        array = array.storage
    kind: Kind = "text"
    # Levels are what a dictionary means, also if they are numbers.
    coded = types.is_dictionary(array.type)
    if coded:
        array = array.dictionary_decode()
    dtype = array.type
    is_numeric = (
        types.is_integer(dtype)
        or types.is_floating(dtype)
        or types.is_decimal(dtype)
        or types.is_boolean(dtype)
    )
    if types.is_null(dtype) or (is_numeric and not coded):
        return _numbers(name, array.to_numpy(zero_copy_only=False))
    if types.is_temporal(dtype):
        kind = "calendar"
    elif types.is_nested(dtype):
        kind = "nested"
    return Column(name, kind, as_objects(array.to_pylist()))


# ------------------------------------------------------------------------------ objects


def _from_objects(name: str, values: NDArray[Any]) -> Column:
    """Return a column of Python objects, whose kind is that of its cells."""
    known = [cell for cell in values if cell is not None]
    if any(isinstance(cell, (complex, np.complexfloating)) for cell in known):
        raise complex_error(f"Column {name!r} of X")
    if all(map(is_number, known)):
        return _numbers(name, values)
    kind: Kind = "text"
    if all(isinstance(cell, CALENDAR) for cell in known):
        kind = "calendar"
    elif not all(isinstance(cell, (str, bytes)) or np.isscalar(cell) for cell in known):
        kind = "nested" if any(map(_is_nested, known)) else "text"
    return Column(name, kind, values)


def _is_nested(cell: Any) -> bool:
    return isinstance(cell, (Sequence, dict, set, frozenset, np.ndarray)) and (
        not isinstance(cell, (str, bytes))
    )


def _floats(cells: NDArray[Any]) -> NDArray[np.float64]:
    if cells.dtype.kind == "O":  # decimals, or booleans with holes
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
    columns = _column_types(X)
    _refuse_repeated([name for name, _ in columns])
    for name, kind in columns:
        _refuse_type(kind, f"Column {name!r} of X")
    cells = X
    if columns or isinstance(X, (list, tuple)):
        try:
            cells = np.asarray(X)
        except ValueError:
            raise ValueError(
                f"X is a {type(X).__name__} whose rows differ in length: every "
                "row needs the same number of cells."
            ) from None
    kind = getattr(cells, "dtype", None)
    _refuse_type(kind, "X")
    if getattr(kind, "kind", "") in "OUS" and getattr(cells, "ndim", 0) in (1, 2):
        _refuse_cells(np.asarray(cells), [name for name, _ in columns])


def _column_types(X: Any) -> list[tuple[str, Any]]:
    """Return names and types of the columns of a frame; none of anything else."""
    if hasattr(type(X), "collect"):  # a frame may have a column of this name
        raise TypeError(
            f"X is a polars {type(X).__name__}, whose rows are not in memory: "
            "pass X.collect()."
        )
    if hasattr(X, "columns") and hasattr(X, "dtypes"):  # of pandas or polars
        names, kinds = X.columns, X.dtypes
    elif hasattr(X, "schema"):  # of pyarrow
        names, kinds = X.schema.names, X.schema.types
    else:
        return []
    return [(str(name), kind) for name, kind in zip(names, kinds, strict=True)]


def _refuse_repeated(names: list[str]) -> None:
    """Raise if two columns have the same name, which would stand for either."""
    for name, times in Counter(names).most_common(1):
        if times > 1:
            raise ValueError(
                f"X has {times} columns named {name!r}: give each column its own name."
            )


def _refuse_type(kind: Any, where: str) -> None:
    if _CALENDAR_TYPE.match(str(kind)):
        raise _calendar(where, str(kind))
    if str(kind).startswith("complex"):
        raise complex_error(where)


def _refuse_cells(cells: NDArray[Any], names: list[str]) -> None:
    """Raise if a cell of an array of objects or text is not a number."""
    for column, values in enumerate(cells.T if cells.ndim == 2 else cells[None]):
        name = repr(names[column]) if names else column
        of_column = f" in column {name}" if cells.ndim == 2 else ""
        for row, cell in enumerate(values):
            if type(cell) is not float:
                _refuse_cell(cell, row, of_column)


def _refuse_cell(cell: Any, row: int, of_column: str) -> None:
    place = f"Row {row}{of_column} of X"
    if isinstance(cell, CALENDAR):
        raise _calendar(place, type(cell).__name__)
    if isinstance(cell, (complex, np.complexfloating)):
        raise complex_error(place)
    try:
        float(cell)
    except TypeError as error:
        if hasattr(cell, "__len__"):
            raise TypeError(
                f"{place} is of type {type(cell).__name__}, but only numbers can be "
                f"analyzed: use one number per cell ({error})."
            ) from None
        return  # None, and what scikit-learn refuses
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
