"""Decide whether the first line of a text file is a header or data."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from trueaxis._tables.parsing.cells import (
    TableError,
    is_missing,
    is_number,
    parse_number,
)

_ROWS, _CELLS = 200, 20_000  # compare at most this many with the first line
_FEWEST = 3  # fewest numbers, and rows below them, that can be compared


def first_line_is_header(
    first: list[str], rest: list[list[str]], header: str
) -> tuple[bool, list[str]]:
    """Return whether the first line is a header, and notes if that is doubtful.

    Parameters
    ----------
    first : list of str
        Cells of the first line.
    rest : list of list of str
        Cells of the lines below.
    header : {"auto", "yes", "no"}

    Examples
    --------
    >>> from trueaxis._tables.parsing.header import first_line_is_header
    >>> first_line_is_header(["a", "b"], [["1", "2"]], "auto")
    (True, [])
    >>> first_line_is_header(["1", "2"], [["3", "4"]], "auto")
    (False, [])
    """
    if header not in ("auto", "yes", "no"):
        raise TableError(f"--header is {header!r}: choose auto, yes or no.")
    if header != "auto":
        return header == "yes", []
    numeric = [*map(is_number, first)]
    numbers = [i for i, number in enumerate(numeric) if number]
    texts = [
        i for i, cell in enumerate(first) if not numeric[i] and not is_missing(cell)
    ]
    if not numbers:
        return bool(texts), []
    spaced, far = _looks_like_names([first[i] for i in numbers], numbers, rest)
    if not texts:
        if spaced and far:
            return True, [
                _AS_NAMES.format("they are evenly spaced and far from those below")
            ]
        return False, [_AS_DATA.format("it has only numbers")] if spaced or far else []
    if not rest or any(_has_number(column, rest) for column in texts):
        reason = "it has text in a column of numbers"
        return True, [] if far else [_AS_NAMES.format(reason)]
    if far and len(numbers) >= _FEWEST:
        return True, [_AS_NAMES.format("they are far from those below")]
    reason = "it has numbers and text in the same columns as the rest"
    return False, [_AS_DATA.format(reason)]


_AS_DATA = (
    "The first line was read as data because {} (use --header yes if it is a header)."
)
_AS_NAMES = (
    "The first line was read as column names, although it has numbers, because {} (use "
    "--header no if it is data)."
)


def _has_number(column: int, rest: list[list[str]]) -> bool:
    return any(is_number(row[column]) for row in rest)


def _looks_like_names(
    cells: list[str], columns: list[int], rest: list[list[str]]
) -> tuple[bool, bool]:
    """Return whether numbers are evenly spaced, and whether they are far from the rest.

    Numbers are far if they rise or fall, and if in every column they are outside the
    range of the rows below by more than three times that range: wavelengths above
    absorbances, years above rates. A row of data that is both would be an outlier in
    all columns, in equal steps. The numbers 0, 1, 2, ... or 1, 2, 3, ..., which pandas
    writes for columns without names, are far as well if all rows below have decimals.
    """
    if len(set(cells)) < len(cells) or len(cells) < 2:
        return False, False
    n_rows = max(_FEWEST, min(_ROWS, _CELLS // len(cells)))
    given = _values(cells)
    below = np.array([_values([row[i] for i in columns]) for row in rest[:n_rows]])
    below = below.reshape(-1, len(columns))
    known = (~np.isnan(below)).sum(axis=0) >= _FEWEST
    spaced = _evenly_spaced(given) and not any(_evenly_spaced(row) for row in below)
    steps = np.diff(given)
    if known.sum() < 2 or not ((steps > 0).all() or (steps < 0).all()):
        return spaced, False
    below, given = below[:, known], given[known]
    if cells in ([str(i + base) for i in range(len(cells))] for base in (0, 1)):
        # Whether infinity has decimals is not known; then it counts as having some.
        if (
            (np.fmod(below, 1, where=np.isfinite(below), out=below.copy()) != 0)
            .any(axis=1)
            .all()
        ):
            return spaced, True
    low, high = np.nanmin(below, axis=0), np.nanmax(below, axis=0)
    away = np.maximum(low - given, given - high)
    return spaced, bool((away > 3 * (high - low)).all())


def _evenly_spaced(numbers: NDArray[np.float64]) -> bool:
    steps = np.diff(numbers)
    if len(numbers) < _FEWEST or np.isnan(steps).any() or not steps[0]:
        return False
    return bool(np.allclose(steps, steps[0], rtol=1e-3, atol=0))


def _values(cells: list[str]) -> NDArray[np.float64]:
    """Parse numbers with either decimal sign, well enough to compare sizes."""
    out = []
    for cell in cells:
        number = parse_number(cell, "," if "," in cell else ".")
        number = parse_number(cell, ".") if number is None else number
        out.append(np.nan if number is None else number)
    return np.array(out)
