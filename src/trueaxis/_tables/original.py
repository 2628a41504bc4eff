"""The rows of a file as they stand there, for writing some of them again.

`read` makes numbers of a file; this module gives back what it was made from: all
columns, in the order and the style of the file. Files that are too large to be held in
memory are copied by `output.streamed`.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from trueaxis._tables.formats import (
    ARROW,
    JSON,
    NUMPY,
    PARQUET,
    SHEETS,
    STANDARD,
    ending_of,
    read_bytes,
)
from trueaxis._tables.output.arrow_rows import ArrowOriginal
from trueaxis._tables.output.targets import (
    TEXT,
    refuse_ending,
    refuse_target,
)
from trueaxis._tables.output.text_rows import Changes, TextOriginal
from trueaxis._tables.output.typed_rows import (
    ArrayOriginal,
    JsonOriginal,
    SheetOriginal,
)
from trueaxis._tables.parsing.cells import TableError
from trueaxis._tables.read import Choice, read_columns
from trueaxis._tables.write import write_content

_BINARY = (*NUMPY, *PARQUET, *ARROW, *JSON, *SHEETS)


class Original(Protocol):
    """Rows of a file; each format has its own class.

    Attributes
    ----------
    names : list of str
        All columns.
    native : tuple of str
        Endings of files that hold rows as they stand in this one; "" is also that of
        standard output.
    """

    names: list[str]
    native: tuple[str, ...]

    def __len__(self) -> int:
        """Return the number of rows."""

    def write(
        self,
        file: IO[bytes],
        target: str,
        rows: NDArray[np.intp] | None,
        changes: Changes,
    ) -> list[str]:
        """Write rows as they stand in the file.

        Parameters
        ----------
        file : binary file
        target : str
            Its name, with one of the `native` endings.
        rows : ndarray of int, or None
            Which rows, in this order; None for all of them, and what is around them.
        changes : dict
            New values by column and row of this file.

        Returns
        -------
        list of str
            Notes about types that could not be kept.
        """

    def columns(self, rows: NDArray[np.intp], changes: Changes) -> dict[str, Any]:
        """Return columns for a file of another format."""

    def texts(self) -> list[str]:
        """Return the columns that are not numbers."""


def open_original(source: str, choice: Choice | None = None) -> Original:
    r"""Open the rows of a file for writing some of them again.

    Examples
    --------
    >>> import io, pathlib, tempfile
    >>> import numpy as np
    >>> from trueaxis._tables.original import open_original, write_rows
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "pumps.csv"
    >>> _ = path.write_text("pump;flow\nA; 1,50\nB;\n")
    >>> original, out = open_original(str(path)), io.BytesIO()
    >>> _ = write_rows(original, out, "out.csv", np.array([1]), {"flow": {1: 2.5}})
    >>> out.getvalue()
    b'pump;flow\nB;2,5\n'
    """
    choice = choice or Choice()
    try:
        return _open(source, choice)
    except (ValueError, TypeError, IsADirectoryError):
        read_columns(source, choice)  # says what is wrong, and where
        raise


def refuse_other_rows(original: Original, n: int, source: str) -> None:
    """Raise if a file does not have the rows that were analyzed."""
    if len(original) != n:
        raise TableError(
            f"{source} has {len(original):,} rows, but {n:,} were analyzed: it was "
            "modified while being read. Run again once it is complete."
        )


def _open(source: str, choice: Choice) -> Original:
    ending = ending_of(source)
    if ending in PARQUET + ARROW:
        return ArrowOriginal(source, choice)
    if ending in JSON:
        return JsonOriginal(source, choice)
    if ending in SHEETS:
        return SheetOriginal(source, choice)
    if ending in NUMPY:
        return ArrayOriginal(source)
    return TextOriginal(read_bytes(source), source, choice)


def write_rows(
    original: Original,
    file: IO[bytes],
    target: str,
    rows: NDArray[np.intp] | None = None,
    changes: Changes | None = None,
) -> list[str]:
    """Write rows of a file, in its own format or in that of the target.

    Parameters
    ----------
    original : Original
    file : binary file
    target : str
        Its name, whose ending tells the format; "-" for that of the original if it is
        text, and CSV otherwise.
    rows : ndarray of int, optional
        Which rows, in this order; all by default.
    changes : dict, optional
        New values by column and row.

    Returns
    -------
    list of str
        Notes about types that could not be kept.
    """
    changes = changes or {}
    if keeps_format(original, target):
        return original.write(file, target, rows, changes)
    rows = np.arange(len(original)) if rows is None else rows
    fields = original.columns(rows, changes)
    if ending_of(target) in (*TEXT, ".dat", ".data"):
        fields = {name: _without_booleans(values) for name, values in fields.items()}
    if ending_of(target) == ".npy":
        fields = {name: _floats(values) for name, values in fields.items()}
    write_content(file, target, iter([fields]), len(rows))
    return []


def keeps_format(original: Original, target: str) -> bool:
    """Return whether rows can be written as they stand in the file."""
    return ending_of(target) in original.native


def refuse_original(target: str, data: str, *sources: str) -> None:
    """Raise early if rows of a file cannot be written to a target."""
    if target in ("", STANDARD):
        return
    refuse_target(target, data, *sources)
    ending = ending_of(target)
    if ending in SHEETS and ending != ".xlsx":
        raise TableError(
            f"{target} ends in {ending}, which cannot be written: choose the ending "
            ".xlsx or .csv."
        )
    if ending == ".npz":
        raise TableError(
            f"{target} ends in .npz, as models do: choose the ending .npy for an array."
        )
    more = [".npy"]
    source = ending_of(data)
    if source not in _BINARY and ending not in _BINARY:
        more.append(source)  # text with another ending
    if source in JSON:
        more += JSON
    refuse_ending(target, *more)


def refuse_text(original: Original, target: str) -> None:
    """Raise if the target is an array of numbers, but columns are not numbers."""
    texts = original.texts() if ending_of(target) == ".npy" else []
    if texts:
        raise TableError(
            f"{target} holds numbers only, but {texts[0]!r} is a column of other cells "
            f"({len(texts)} such columns): choose the ending .parquet or .csv."
        )


@contextmanager
def kept_standard_input(source: str) -> Iterator[None]:
    """Let standard input be read more than once, if it is the source."""
    if source != STANDARD:
        yield
        return
    before = sys.stdin
    content = _Rewound(read_bytes(STANDARD))
    sys.stdin = io.TextIOWrapper(content, encoding="utf-8")
    try:
        yield
    finally:
        sys.stdin = before


class _Rewound(io.BytesIO):
    """Bytes that begin anew once all of them were read."""

    def read(self, size: int | None = -1) -> bytes:
        data = super().read(size)
        if not data or size is None or size < 0:
            self.seek(0)
        return data


def _without_booleans(values: Any) -> Any:
    """Return numbers for booleans: as words, they would be read as text."""
    if isinstance(values, np.ndarray):
        return values.astype(int) if values.dtype == bool else values
    return [int(value) if isinstance(value, bool) else value for value in values]


def _floats(values: Any) -> NDArray[Any]:
    """Return numbers as an array, with NaN for those that are missing."""
    if isinstance(values, np.ndarray):
        return values
    if all(isinstance(value, int) for value in values):
        return np.array(values)
    return np.array([np.nan if v is None else float(v) for v in values])
