"""Parse the text formats of registries: CSV and ARFF.

Registries differ in the names and the order of columns, and add columns of their own.
So columns are recognized by their content: a feature by its sum, the classes by their
sizes.
"""

from __future__ import annotations

import codecs
import csv
import io
import re

import numpy as np
from numpy.typing import NDArray

from studies.data.checks import ROUNDING, rename_classes
from studies.data.registry import Facts

Cells = list[list[str]]

BOOLEANS = {"true": "1", "false": "0"}


def decode(raw: bytes) -> str:
    """Return the text of a file; some files at UCI are UTF-16."""
    if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return raw.decode("utf-16")
    return raw.decode("utf-8-sig")


def csv_cells(text: str) -> Cells:
    """Return the rows of a CSV file, without its header."""
    return _check_rows(_split(text, '"')[1:])


def arff_cells(text: str) -> Cells:
    """Return the rows of a dense ARFF file."""
    parts = re.split(r"^@data\b.*$", text, maxsplit=1, flags=re.MULTILINE | re.I)
    if len(parts) < 2:
        raise ValueError("it has no @data line, so it is not an ARFF file")
    lines = (line for line in parts[1].splitlines() if not line.startswith("%"))
    # Names with spaces are in single quotes, rarely in double ones.
    quote = '"' if '"' in parts[1] and "'" not in parts[1] else "'"
    return _check_rows(_split("\n".join(lines), quote))


def _split(text: str, quote: str) -> Cells:
    lines = io.StringIO(text, newline="")
    try:
        return list(csv.reader(lines, quotechar=quote, skipinitialspace=True))
    except csv.Error as error:  # such as a web page with very long lines
        raise ValueError(f"it is not a table ({error})") from None


def _check_rows(rows: Cells) -> Cells:
    rows = [row for row in rows if any(cell.strip() for cell in row)]
    if not rows:
        raise ValueError("it has no rows")
    widths = sorted({len(row) for row in rows})
    if len(widths) > 1:
        raise ValueError(f"its rows have from {widths[0]} to {widths[-1]} cells")
    return rows


def find_table(facts: Facts, cells: Cells) -> tuple[NDArray[np.float64], list[str]]:
    """Find features and classes among the columns of a downloaded file.

    Parameters
    ----------
    facts : Facts
        Facts with the column sums and class sizes to look for.
    cells : list of list of str

    Returns
    -------
    X : ndarray of shape (n, D)
    labels : list of str
    """
    columns = [[cell.strip() for cell in column] for column in zip(*cells, strict=True)]
    numbers = {
        j: values for j, c in enumerate(columns) if (values := _numbers(c)) is not None
    }
    X = np.empty((len(cells), facts.d))
    for k, expected in enumerate(facts.column_sums):
        error = {j: abs(v.sum() - expected) / abs(expected) for j, v in numbers.items()}
        best = min(error, key=error.__getitem__, default=None)
        if best is None or error[best] > ROUNDING:
            raise ValueError(
                f"none of its columns adds up to {expected:.10g}, as "
                f"{facts.features[k]} does"
            )
        X[:, k] = numbers.pop(best)
        columns[best] = []
    for column in reversed([column for column in columns if column]):
        labels = _classes(column, facts)
        if labels is not None:
            return X, labels
    raise ValueError(f"none of its columns has the class sizes of {facts.name}")


def _classes(column: list[str], facts: Facts) -> list[str] | None:
    """Return the classes under our names, or None if the column has no classes."""
    return rename_classes([_label(cell) for cell in column], facts.class_counts)


def _numbers(column: list[str]) -> NDArray[np.float64] | None:
    try:
        values = np.array(
            [BOOLEANS.get(cell.lower(), cell) for cell in column], dtype=float
        )
    except ValueError:
        return None
    return values if np.isfinite(values).all() else None


def _label(cell: str) -> str:
    try:
        value = float(cell)
    except ValueError:
        return cell
    return str(int(value)) if value.is_integer() else cell


def find_images(facts: Facts, cells: Cells) -> tuple[NDArray[np.float64], list[str]]:
    """Find pixels and classes; the classes are in the last or in the first column.

    Parameters
    ----------
    facts : Facts
    cells : list of list of str

    Returns
    -------
    flat : ndarray of shape (n, pixels)
    labels : list of str
    """
    for place in (-1, 0):
        labels = _classes([row[place].strip() for row in cells], facts)
        if labels is not None:
            rest = [row[:-1] if place else row[1:] for row in cells]
            return np.array(rest, dtype=np.float64), labels
    raise ValueError(f"none of its columns has the class sizes of {facts.name}")
