"""A case of the corpus of messy files: a file, options, and what must come of it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

nan = float("nan")
NAMES = ("flow", "power", "temp")
ROWS = [
    [1.5, 20.0, 7.25],
    [2.5, 31.0, 8.5],
    [4.5, 29.0, 6.75],
    [3.5, 24.0, 9.5],
    [0.5, 27.0, 7.75],
    [6.5, 22.0, 8.25],
]
LINES = 1 + len(ROWS)  # with the header
ANY = ("",)  # notes that may be there or not


@dataclass(frozen=True)
class Case:
    """A file and either the table that is in it or the sentence that refuses it.

    Attributes
    ----------
    name : str
    file : str
        Name of the file; "-" is standard input.
    content : bytes or callable
        The file, or a function that writes it to a path.
    options : dict
        Fields of `Choice`.
    columns, X, ids, labels
        The expected table.
    notes : tuple of str
        Parts of the notes, upper or lower case; without any, there must be no note.
    error : tuple of str
        Parts of the sentence; with any, no table is expected.
    """

    name: str
    file: str
    content: bytes | Callable[[Path], object]
    options: dict[str, Any] = field(default_factory=dict)
    columns: tuple[str, ...] = NAMES
    X: Any = None
    ids: list[str] | None = None
    labels: list[str] | None = None
    notes: tuple[str, ...] = ()
    error: tuple[str, ...] = ()

    @property
    def is_text(self) -> bool:
        """Whether the file is a text table, compressed or not."""
        others = ("parquet", "pq", "feather", "arrow", "ipc", "xls", "ods", "np", "js")
        endings = [part.lower() for part in self.file.split(".")[1:]]
        return not any(ending.startswith(others) for ending in endings)

    @property
    def is_large(self) -> bool:
        """Whether the file takes more than a moment to read."""
        return isinstance(self.content, bytes) and len(self.content) > 200_000

    def write(self, folder: Path) -> Path:
        """Write the file to a folder and return its path."""
        path = folder / ("stdin" if self.file == "-" else self.file)
        if isinstance(self.content, bytes):
            path.write_bytes(self.content)
        else:
            self.content(path)
        return path


def good(
    name, content, *, columns=NAMES, X=ROWS, ids=None, labels=None, notes=(),
    file="a.csv", **options,
):  # fmt: skip
    """Return a case that must give a table, by default that of `text()`."""
    options = _choice(options)
    columns = tuple(columns.split()) if isinstance(columns, str) else tuple(columns)
    notes = (notes,) if isinstance(notes, str) else tuple(notes)
    return Case(name, file, _bytes(content), options, columns, X, ids, labels, notes)


def bad(name, content, *error, file="a.csv", **options):
    """Return a case that must be refused with a sentence that has certain parts."""
    return Case(name, file, _bytes(content), _choice(options), error=error)


def _choice(options):
    """Return fields of `Choice`; `chosen` stands for its field `columns`."""
    return {{"chosen": "columns"}.get(key, key): x for key, x in options.items()}


def _bytes(content):
    return content.encode() if isinstance(content, str) else content


# ---------------------------------------------------------------- tables


def text(rows=ROWS, names=NAMES, sep=",", decimal=".", end="\n"):
    """Return a text table."""
    lines = [[*names]] * bool(names) + [[_cell(x, decimal) for x in r] for r in rows]
    return "".join(sep.join(line) + end for line in lines)


def _cell(x, decimal):
    return x if isinstance(x, str) else f"{x:g}".replace(".", decimal)


def beside(*columns, rows=ROWS, first=False):
    """Return rows with further columns, at the end or at the start."""
    more = zip(*columns, strict=True)
    return [
        [*new, *row] if first else [*row, *new]
        for row, new in zip(rows, more, strict=True)
    ]


def with_column(name, cells, sep=",", decimal=".", first=False):
    """Return a text table with a further column."""
    names = [name, *NAMES] if first else [*NAMES, name]
    return text(beside(cells, first=first), names, sep, decimal)


def changed(line, new, content=None):
    """Return a text table with one line replaced; lines count from 1."""
    lines = (content or text()).splitlines(keepends=True)
    lines[line - 1] = new
    return "".join(lines)


def without(*rows, X=ROWS):
    """Return rows except some."""
    return [row for i, row in enumerate(X) if i not in rows]


def holed(*cells, X=ROWS):
    """Return rows with missing cells at some positions."""
    out = [list(row) for row in X]
    for i, j in cells:
        out[i][j] = nan
    return out
