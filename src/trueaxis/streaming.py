"""STREAM files that are large through a model, and what it says to another file.

The same answers as `analysis` and `summary` give for a table in memory, a block of rows
at a time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueaxis.analysis import analyse, names_are_known
from trueaxis.checking import CheckedRows
from trueaxis.diagnostics import column_names
from trueaxis.rows import Rows
from trueaxis.scaling import parted
from trueaxis.sources import ENDINGS, head, open_rows
from trueaxis.summary import scored, who
from trueaxis.tables import STANDARD, Choice, TableError

LARGE_BYTES = 1 << 28  # from which on a file is streamed
BLOCK_BYTES = 1 << 24


def large_rows(model: Any, data: str, choice: Choice) -> Rows | None:
    """The rows of a file that had better not be read at once; None of any other.

    Names and labels of rows are no numbers: tables with them are read whole.
    """
    path = Path(data)
    folder = data != STANDARD and path.is_dir()
    if data == STANDARD or not (folder or path.suffix.lower() in ENDINGS):
        return None
    if not folder and (choice.id or choice.label or not path.is_file()):
        return None
    n, known = head(path)
    if not folder and 8 * n * len(known) < LARGE_BYTES:
        return None
    wanted = _wanted(parted(model).model, known, choice, data)
    block_rows = max(1, BLOCK_BYTES // (8 * len(wanted)))
    columns: Sequence[Any] = wanted
    if any(file.suffix.lower() == ".npy" for file in (path, *path.glob("*.npy"))):
        columns = [known.index(name) for name in wanted]  # they have no names
    rows = open_rows(data, columns=columns, spool=False, block_rows=block_rows)
    return CheckedRows(rows, wanted)


def _wanted(
    method: Any, known: Sequence[str], choice: Choice, data: str
) -> Sequence[str]:
    """Names of the columns that a model was fitted on."""
    if hasattr(method, "feature_names_in_"):
        wanted = column_names(method).tolist()
    else:
        wanted = [name for name in choice.columns or known if name not in choice.drop]
    for name in wanted:
        if name not in known:
            raise TableError(
                f"There is no column {name!r} in {data}; there are {', '.join(known)}."
            )
    if len(wanted) != method.n_features_in_:
        raise TableError(
            f"{data} has {len(wanted)} columns, but the model was fitted on "
            f"{method.n_features_in_}, whose names it does not know: choose them with "
            "--columns or --drop, in the same order."
        )
    return wanted


class Tally:
    """What is counted while rows go by."""

    def __init__(self) -> None:
        self.rows = 0
        self.kinds: Counter[str] = Counter()

    def outliers(self) -> dict[str, int]:
        """How many there were, of each kind."""
        kinds = {kind: self.kinds[kind] for kind in ("inside", "off", "both")}
        return {"count": sum(kinds.values()), **kinds}


def scored_blocks(model: Any, rows: Rows, tally: Tally) -> Iterator[dict[str, Any]]:
    """What is said about every row, as tables of some rows each."""
    for first, block in rows.blocks():
        ids = np.arange(first, first + len(block))
        found = analyse(model, block, ids=ids)
        tally.rows += len(block)
        tally.kinds.update(found.counts)
        yield scored(found)


def transformed_blocks(
    model: Any, rows: Rows, names: Sequence[str], tally: Tally
) -> Iterator[dict[str, Any]]:
    """Scores of rows on the components, as tables of some rows each."""
    for first, block in rows.blocks():
        with names_are_known():
            scores: NDArray = model.transform(block)
        tally.rows += len(block)
        fields = who(np.arange(first, first + len(block)), None, len(block))
        yield fields | dict(zip(names, scores.T, strict=True))
