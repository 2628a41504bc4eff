"""Whether the first line of a text file has names of columns, or is data."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from trueaxis._tables.cells import TableError, is_missing, is_number, value

_ROWS, _CELLS = 200, 20_000  # that a first line is compared with
_FEWEST = 3  # numbers, and rows below them, that can show a regular spacing


def first_line_is_header(
    first: list[str], rest: list[list[str]], header: str
) -> tuple[bool, list[str]]:
    """Whether a first line is a header, and what to say if that is doubtful.

    Parameters
    ----------
    first : list of str
        Cells of the first line.
    rest : list of list of str
        Those below.
    header : {"auto", "yes", "no"}

    Examples
    --------
    >>> from trueaxis._tables.header import first_line_is_header
    >>> first_line_is_header(["a", "b"], [["1", "2"]], "auto")
    (True, [])
    >>> first_line_is_header(["1", "2"], [["3", "4"]], "auto")
    (False, [])
    """
    if header not in ("auto", "yes", "no"):
        raise TableError(f"--header is {header!r}: choose auto, yes or no.")
    if header != "auto":
        return header == "yes", []
    numbers = [i for i, cell in enumerate(first) if is_number(cell)]
    texts = [
        i
        for i, cell in enumerate(first)
        if not is_number(cell) and not is_missing(cell)
    ]
    if not numbers:
        return bool(texts), []
    spaced, far = _looks_like_names([first[i] for i in numbers], numbers, rest)
    if not texts:
        if spaced and far:
            return True, [
                _AS_NAMES.format("they are evenly spaced and unlike those below")
            ]
        return False, [_AS_DATA.format("it has numbers only")] if spaced or far else []
    if not rest or any(_has_number(column, rest) for column in texts):
        text = "it has text, too, in a column that has numbers"
        return True, [] if far else [_AS_NAMES.format(text)]
    if far and len(numbers) >= _FEWEST:
        return True, [_AS_NAMES.format("they are unlike those below")]
    return False, [_AS_DATA.format("it has numbers and text where the others do")]


_AS_DATA = "The first line was taken as data: {} (--header yes otherwise)."
_AS_NAMES = (
    "The first line was taken as names of columns, though it has numbers: {} (--header "
    "no otherwise)."
)


def _has_number(column: int, rest: list[list[str]]) -> bool:
    return any(is_number(row[column]) for row in rest)


def _looks_like_names(
    cells: list[str], columns: list[int], rest: list[list[str]]
) -> tuple[bool, bool]:
    """Whether numbers are evenly spaced; whether they are unlike those below.

    Unlike is, in rising or falling order, beyond three times the range of a column, on
    either side, in every column: wavelengths above absorbances, years above rates. A
    row of data that happened to be both would be an outlier in all columns, in steps of
    equal size. Counted from 0 or 1, as pandas does where there are no names, above rows
    with decimals is unlike, too.
    """
    if len(set(cells)) < len(cells) or len(cells) < 2:
        return False, False
    few = max(_FEWEST, min(_ROWS, _CELLS // len(cells)))
    given = _values(cells)
    below = np.array([_values([row[i] for i in columns]) for row in rest[:few]])
    below = below.reshape(-1, len(columns))
    below = below[~np.isnan(below).any(axis=1)]
    spaced = _evenly(given) and not any(_evenly(row) for row in below)
    steps = np.diff(given)
    if len(below) < _FEWEST or not ((steps > 0).all() or (steps < 0).all()):
        return spaced, False
    if cells in ([str(i + base) for i in range(len(cells))] for base in (0, 1)):
        if (below % 1 != 0).any(axis=1).all():
            return spaced, True
    low, high = below.min(axis=0), below.max(axis=0)
    away = np.maximum(low - given, given - high)
    return spaced, bool((away > 3 * (high - low)).all())


def _evenly(numbers: NDArray[np.float64]) -> bool:
    steps = np.diff(numbers)
    if len(numbers) < _FEWEST or np.isnan(steps).any() or not steps[0]:
        return False
    return bool(np.allclose(steps, steps[0], rtol=1e-3, atol=0))


def _values(cells: list[str]) -> NDArray[np.float64]:
    """Numbers with either decimal sign: for sizes, not for results."""
    out = []
    for cell in cells:
        number = value(cell, "," if "," in cell else ".")
        number = value(cell, ".") if number is None else number
        out.append(np.nan if number is None else number)
    return np.array(out)
