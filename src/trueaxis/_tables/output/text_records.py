"""Records of a text with all their characters, found as the readers find them.

`parsing.records` and `streamed_text` split the same lines into cells; `text_rows` and
`streamed` copy them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import NamedTuple

from trueaxis._tables.parsing.records import csv_rows, is_left_out, single_spaces


class TextRecord(NamedTuple):
    """A line, or several if a cell in quotes has them.

    text : every character, up to and including the end of the last line
    lines : what a reader takes of it
    """

    text: str
    lines: list[str]

    def cells(self, delimiter: str) -> list[str]:
        """Return the cells as text."""
        return [cell.strip() for cell in next(csv_rows(self.lines, delimiter))]


def text_records(
    lines: Iterable[str], delimiter: str, comment: str
) -> Iterator[TextRecord]:
    r"""Yield records; comments, ruled lines and blank ones between them are left out.

    Examples
    --------
    >>> from trueaxis._tables.output.text_records import text_records
    >>> lines = ["1 | 2\n", "---+---\n", "# paused\n", '3|"4\n', '"\n']
    >>> [record.text for record in text_records(lines, "|", "#")]
    ['1 | 2\n', '3|"4\n"\n']
    """
    lines, spaces = iter(lines), delimiter == " "
    for line in lines:
        if is_left_out(line, comment, delimiter):
            continue
        read = single_spaces(line) if spaces else line
        if '"' in read:
            yield _quoted(chain([line], lines), delimiter, comment)
        elif read.strip("\r\n"):
            yield TextRecord(line, [read])


def _quoted(lines: Iterator[str], delimiter: str, comment: str) -> TextRecord:
    """Take the lines of one record, which may go on in further ones."""
    taken: list[str] = []
    record = TextRecord("", [])

    def read() -> Iterator[str]:
        for line in lines:
            taken.append(line)
            if not is_left_out(line, comment, delimiter):
                record.lines.append(single_spaces(line) if delimiter == " " else line)
                yield record.lines[-1]

    next(csv_rows(read(), delimiter))
    return record._replace(text="".join(taken))
