"""Read text files: columns of numbers and of text, and what was guessed.

`parsing` has the parts: the layout, the splitting into cells, the rules for numbers.
"""

from __future__ import annotations

import codecs
from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np

from trueaxis._tables.column import Column
from trueaxis._tables.parsing.cells import TableError
from trueaxis._tables.parsing.decimal_sign import find_decimal, refuse_unclear
from trueaxis._tables.parsing.dialect import describe, look_at, sample_of
from trueaxis._tables.parsing.numbers import Rules
from trueaxis._tables.parsing.records import guess_encoding
from trueaxis._tables.parsing.splitting import Cells, split, without_empty_rows
from trueaxis._tables.parsing.text_file import HEAD_BYTES, TextFile, TextFormat, head_of


def open_text(data: bytes, source: str, how: TextFormat) -> TextFile:
    """Find out how a text is written."""
    encoding = guess_encoding(data, source) if how.encoding == "auto" else how.encoding
    try:
        ascii_only = encoding == "utf-8" and data.isascii()
        content = data if ascii_only else data.decode(encoding).encode("utf-8")
    except (UnicodeError, LookupError) as error:
        raise TableError(
            f"{source} is not text in the encoding {encoding} ({error}): set "
            "--encoding, such as utf-8, utf-16 or cp1252."
        ) from None
    content = content.removeprefix(codecs.BOM_UTF8)
    if not content[:HEAD_BYTES].strip() and not content.strip():
        raise TableError(f"{source} is empty: there are no rows to analyze.")
    if how.skip and content.count(b"\n", 0, HEAD_BYTES) < how.skip:
        n = len(content.splitlines())
        if n <= how.skip:
            raise TableError(
                f"{source} has {n} lines, and --skip {how.skip} leaves none: skip "
                "fewer."
            )
    head = head_of(content).decode("utf-8", errors="ignore")
    layout = look_at(
        sample_of(head), source, delimiter=how.delimiter, header=how.header,
        decimal=how.decimal, skip=how.skip, comment=how.comment,
    )  # fmt: skip
    names = ("encoding", "delimiter", "decimal", "header")
    given = [name for name in names if getattr(how, name) != "auto"]
    notes = [*describe(layout, encoding, given), *layout.notes]
    return TextFile(content, source, layout, encoding, notes=notes)


def read_text(
    data: bytes,
    source: str,
    how: TextFormat,
    as_text: Callable[[Sequence[str]], Collection[str]] = lambda names: (),
    verbatim: Collection[str] = (),
) -> tuple[list[Column], TextFile]:
    r"""Read all columns of a text.

    Parameters
    ----------
    data : bytes
    source : str
        Name of the file in messages.
    how : TextFormat
    as_text : callable
        Given the names of all columns, return those that are text: names of rows,
        categories, and columns that are not analyzed.
    verbatim : collection of str
        Those of which even words like NA are kept.

    Returns
    -------
    columns : list of Column
    file : TextFile
        Tells the line of a row, and what was guessed.

    Examples
    --------
    >>> from trueaxis._tables.text import TextFormat, read_text
    >>> columns, file = read_text(b"a;b\n1,5;x\n2,5;y\n", "a.csv", TextFormat())
    >>> [(column.name, column.kind) for column in columns], file.place(1)
    ([('a', 'number'), ('b', 'text')], 'line 3')
    """
    file = open_text(data, source, how)
    if file.layout.row_names:
        verbatim = {*verbatim, file.layout.names[0]}
    kept = {*as_text(file.layout.names), *file.layout.codes, *verbatim}
    given = how.decimal if how.decimal in (".", ",") else None
    sign = file.layout.decimal
    # Only text shows whether 1.234 can be thousands: read all of it if nothing in the
    # first rows settles it.
    doubtful = given is None and sign.mark is None and bool(sign.unclear)
    mark = given or sign.mark or "."
    notes = [*file.notes]
    cells = split(file, mark, how, [*file.layout.names] if doubtful else kept)
    cells = without_empty_rows(file, cells)
    evidence = None if given else sign.evidence
    rules = Rules(
        mark, how.words(), file.place, evidence, given is not None, kept, verbatim
    )
    if given is None and sign.mark is None:
        found = _find_decimal(file, cells, kept)
        if found.mark == "," and not doubtful:
            # A cell beyond the first rows shows it: numbers were read with points.
            file.notes[:] = notes
            cells = without_empty_rows(file, split(file, ",", how, kept))
        rules.decimal, rules.evidence = found.mark or ".", found.evidence
    file.decimal = rules.decimal
    file.by_rules = {
        name
        for name, column in zip(file.layout.names, cells, strict=True)
        if isinstance(column, list)
    }
    columns = [
        Column(name, "number", column, unit)
        if isinstance(column, np.ndarray)
        else rules.column(name, column, unit)
        for name, column, unit in zip(
            file.layout.names, cells, file.layout.units, strict=True
        )
    ]
    # Lines may begin or end with a delimiter.
    columns = [
        column
        for i, column in enumerate(columns)
        if i not in file.layout.unnamed or not _is_empty(column) or len(columns) == 1
    ]
    file.notes.extend(rules.notes())
    return columns, file


def _is_empty(column: Column) -> bool:
    return column.kind == "number" and bool(np.isnan(column.values).all())


def _find_decimal(
    file: TextFile, cells: Sequence[Cells], as_text: Collection[str]
) -> Any:
    texts = {
        name: column
        for name, column in zip(file.layout.names, cells, strict=True)
        if isinstance(column, list) and name not in as_text
    }
    clear = file.layout.delimiter == ","
    found = find_decimal(texts, points_are_clear=clear)
    if found.unclear:
        first = found.unclear[0]
        if "," in first.text or file.layout.delimiter == ";":
            # Semicolons are used where the comma is the decimal sign.
            refuse_unclear(found.unclear, file.place)
        file.notes.append(
            f"{first.quoted(file.place)} was read with a decimal point, because no "
            "cell shows otherwise: use --decimal , if it is "
            f"{first.text.replace('.', '')}."
        )
    return found
