"""Cells of text: where they are, and how numbers are written."""

import csv
import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trueaxis._tables.output.cell_text import (
    cell_spans,
    encoding_of,
    number_like,
    style_of,
)
from trueaxis._tables.parsing.cells import parse_number


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.text(alphabet='ab1 ",;\t\n', max_size=6), min_size=1, max_size=5),
    st.sampled_from([",", ";", "\t"]),
    st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
)
def test_spans_are_the_cells_of_the_csv_module(cells, delimiter, quoting):
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter, quoting=quoting).writerow(cells)
    text = out.getvalue()[:-2]
    spans = cell_spans(text, delimiter)
    found = [
        next(csv.reader(io.StringIO(text[a:b], newline=""), delimiter=delimiter), [""])
        for a, b in spans
    ]
    assert ["".join(cell) for cell in found] == cells


@pytest.mark.parametrize(
    ("cells", "decimal", "style"),
    [
        (["text", "1,5", "2 kg"], ",", "1,5"),
        (["0", "0.0", "7 kg"], ".", "7 kg"),
        (["0", "$0", "$3"], ".", "$0"),
        (["0", "text"], ".", "0"),
        (["text", ""], ".", None),
        ([], ".", None),
    ],
)
def test_the_first_number_that_shows_its_unit_is_the_example(cells, decimal, style):
    assert style_of(cells, decimal) == style


@given(
    st.floats(-1e12, 1e12),
    st.sampled_from(["", "0", "3,0 kg", "€ 12", "<7 %", "text"]),
)
def test_numbers_are_read_as_they_were(x, style):
    text = number_like(x, style, ",", unclear=True)
    assert parse_number(text, ",", units=True) == x


@pytest.mark.parametrize(
    ("data", "encoding", "mark", "codec"),
    [
        (b"\xef\xbb\xbfa", "utf-8-sig", b"\xef\xbb\xbf", "utf-8"),
        (b"\xef\xbb\xbfa", "UTF8", b"\xef\xbb\xbf", "utf-8"),
        (b"a", "utf-8-sig", b"", "utf-8"),
        (b"\xfe\xff\0a", "utf-16", b"\xfe\xff", "utf-16-be"),
        (b"\xff\xfea\0", "utf-16-le", b"\xff\xfe", "utf-16-le"),
        (b"a\0", "utf-16", b"", "utf-16-le"),
        (b"\xef\xbb\xbfa", "cp1252", b"", "cp1252"),
    ],
)
def test_marks_of_encodings(data, encoding, mark, codec):
    assert encoding_of(data, encoding) == (mark, codec)
