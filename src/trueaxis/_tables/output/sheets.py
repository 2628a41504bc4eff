"""Write rows of values to a sheet of Excel."""

from __future__ import annotations

import datetime
import io
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import IO, Any

from trueaxis._files import DISK_FULL, naming, temporary_folder
from trueaxis._tables.output.targets import require_writer
from trueaxis._tables.output.values import as_text
from trueaxis._tables.parsing.cells import TableError

_SHEET_ROWS, _SHEET_COLUMNS = 1 << 20, 1 << 14  # the most that Excel takes
_LARGEST_EXACT = 1 << 53  # integers beyond it are rounded in a sheet


class _Exact(float):
    """A number that XlsxWriter writes with all digits, instead of 16."""

    def __format__(self, how: str) -> str:
        return repr(float(self))


def write_sheet_rows(
    file: IO[bytes], name: str, rows: Iterator[Sequence[Any]], n: int, title: str = ""
) -> None:
    """Write rows of values to the only sheet of an Excel file.

    Parameters
    ----------
    file : binary file
    name : str
        For messages.
    rows : iterator
        Of lists of values; None and NaN are empty cells.
    n : int
        Number of rows.
    title : str
        Name of the sheet.
    """
    xlsxwriter = require_writer("xlsxwriter", name)
    if n > _SHEET_ROWS:
        raise TableError(
            f"{name} would have {n:,} rows, but Excel takes {_SHEET_ROWS:,}: choose "
            "the ending .csv or .parquet."
        )
    buffer = io.BytesIO()  # a ZIP file is not written in order
    options = {
        "constant_memory": True, "default_date_format": "yyyy-mm-dd hh:mm:ss",
        "strings_to_formulas": False, "strings_to_urls": False,
    }  # fmt: skip
    with (
        _naming_full_disks(name),
        temporary_folder() as folder,
        xlsxwriter.Workbook(buffer, options | {"tmpdir": folder}) as book,
    ):
        sheet = book.add_worksheet(title or None)
        formats = {
            datetime.date: book.add_format({"num_format": "yyyy-mm-dd"}),
            datetime.time: book.add_format({"num_format": "hh:mm:ss"}),
        }
        for i, row in enumerate(rows):
            if len(row) > _SHEET_COLUMNS:
                raise TableError(
                    f"{name} would have {len(row):,} columns, but Excel takes "
                    f"{_SHEET_COLUMNS:,}: choose the ending .csv or .parquet."
                )
            for j, value in enumerate(row):
                _write_sheet_cell(sheet, i, j, value, formats.get(type(value)))
    file.write(buffer.getvalue())


@contextmanager
def _naming_full_disks(name: str) -> Iterator[None]:
    """Name the file if there is no space for the temporary ones of XlsxWriter."""
    try:
        yield
    except Exception as error:
        # XlsxWriter wraps the error in one of its own when it closes a file.
        cause = error if isinstance(error, OSError) else next(iter(error.args), None)
        if isinstance(cause, OSError) and cause.errno in DISK_FULL:
            with naming(name):
                raise cause from None
        raise


def _write_sheet_cell(sheet: Any, i: int, j: int, value: Any, how: Any) -> None:
    if value is None or value == "" or value != value:
        return
    if isinstance(value, bool):
        sheet.write_boolean(i, j, value)
    elif isinstance(value, (int, float)):
        exact = abs(value) <= _LARGEST_EXACT or isinstance(value, float)
        if exact and math.isfinite(value):
            sheet.write_number(i, j, _Exact(value))
        else:
            sheet.write_string(i, j, str(value))
    elif getattr(value, "tzinfo", None) is not None:
        # Excel knows no time zones: only as text, it is still the same instant.
        sheet.write_string(i, j, value.isoformat())
    elif isinstance(value, (datetime.datetime, datetime.date, datetime.time)):
        sheet.write_datetime(i, j, value, how)
    elif isinstance(value, datetime.timedelta):
        sheet.write_datetime(i, j, value)
    else:
        sheet.write_string(i, j, str(as_text(value)))
