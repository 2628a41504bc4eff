"""Records with all their characters are those that are read."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trueaxis._tables.output.text_records import text_records
from trueaxis._tables.parsing.records import LINE, read_records

LINES = [
    "1{s}2", '"a"{s}3', '"b\nc"{s}4', '"d\n# e\nf"{s}5', "# x", "---", "", '6{s}""',
]  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(
    st.lists(st.sampled_from(LINES), max_size=8),
    st.sampled_from([",", "|", " ", "\t"]),
    st.sampled_from(["\n", "\r\n", "\r"]),
)
def test_the_readers_find_the_same_records(lines, delimiter, newline):
    text = "".join(line.format(s=delimiter) + "\n" for line in lines)
    text = text.replace("\n", newline)
    parts = [match[0] for match in LINE.finditer(text)]
    found = [*text_records(parts, delimiter, "#")]
    read = [cells for _, cells in read_records(text, delimiter, "#", 0, "")]
    assert [record.cells(delimiter) for record in found] == read
    # Only what is between records is not in them.
    for record in found:
        before, text = text.split(record.text, 1)
        assert not before.strip() or before.lstrip().startswith(("#", "---"))


@pytest.mark.parametrize("delimiter", [",", " "])
def test_a_quotation_mark_that_is_not_closed(delimiter):
    parts = ["1{}2\n", '"3{}4\n', "5{}6\n"]
    parts = [part.format(delimiter) for part in parts]
    found = [record.text for record in text_records(parts, delimiter, "")]
    assert found == [parts[0], parts[1] + parts[2]]
