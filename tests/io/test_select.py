"""Columns chosen by name, by range and by pattern."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trueaxis._columns import TableError, select

NAMES = ["id", "flow", "temp_in", "temp_out", "a:b", "t [C]", "x*", "xy"]


@pytest.mark.parametrize(
    ("patterns", "expected"),
    [
        ([], []),
        (["flow"], ["flow"]),
        ("flow", ["flow"]),
        (["xy", "flow"], ["xy", "flow"]),
        (["flow:temp_out"], ["flow", "temp_in", "temp_out"]),
        (["flow:flow"], ["flow"]),
        ([":flow"], ["id", "flow"]),
        (["x*:"], ["x*", "xy"]),
        ([":"], NAMES),
        (["temp*"], ["temp_in", "temp_out"]),
        (["temp_??"], ["temp_in"]),
        (["*t*"], ["temp_in", "temp_out", "t [C]"]),
        (["t [?]"], ["t [C]"]),
        (["****"], NAMES),
        # A name that exists is neither a range nor a pattern.
        (["a:b"], ["a:b"]),
        (["x*"], ["x*"]),
        # Names may have colons themselves.
        (["temp_out:a:b"], ["temp_out", "a:b"]),
        (["a:b:x*"], ["a:b", "t [C]", "x*"]),
        # Each column once, where it was first meant.
        (["xy", "temp_out", "temp*", "xy"], ["xy", "temp_out", "temp_in"]),
    ],
)
def test_what_patterns_mean(patterns, expected):
    assert select(patterns, NAMES, "--columns") == expected


@pytest.mark.parametrize(
    ("pattern", "match"),
    [
        ("flwo", r"no column 'flwo' \(--drop\)\. Did you mean 'flow'\?"),
        ("FLOW", "Did you mean 'flow'?"),
        ("flow ", "Did you mean 'flow'?"),
        ("zzz", r"no column 'zzz' \(--drop\)\. The columns are 'id', 'flow'"),
        ("q*", r"No column matches 'q\*' \(--drop\)"),
        ("flow:tempout", r"no column 'tempout' \(--drop, in 'flow:tempout'\)"),
        ("nope:flow", "no column 'nope'"),
        ("temp_out:flow", "'temp_out' comes after 'flow' .* write 'flow:temp_out'"),
        ("no:pe", "no column 'no:pe'"),
        ("", "no column ''"),
    ],
)
def test_what_is_refused(pattern, match):
    with pytest.raises(TableError, match=match):
        select([pattern], NAMES, "--drop")


def test_ranges_that_can_be_read_in_two_ways():
    with pytest.raises(TableError, match="can be read as 2 different ranges"):
        select(["a:b:c"], ["a", "a:b", "b:c", "c"], "drop")


def test_names_must_be_text():
    with pytest.raises(TypeError, match="columns has 3, a int"):
        select([3], NAMES, "columns")


def test_messages_list_a_dozen_names_and_no_control_characters():
    names = [f"x{i}\x1b[2J\n" for i in range(100)]
    with pytest.raises(TableError) as error:
        select(["nothing\x1b"], names, "--drop")
    text = str(error.value)
    assert text.endswith("and 88 more.") and text.count("x1b[2J") == 12
    assert text.isprintable()


texts = st.text("ab:*?[]x ", max_size=5)


@given(st.lists(texts, min_size=1, unique=True), texts)
def test_hostile_names_and_patterns(names, pattern):
    for name in names:
        assert select([name], names, "drop") == [name]
    try:
        found = select([pattern], names, "drop")
    except TableError:
        return
    assert found and set(found) <= set(names)
    positions = [names.index(name) for name in found]
    assert positions == sorted(set(positions))
    if ":" not in pattern and pattern not in names:
        parts = [
            ".*" if c == "*" else "." if c == "?" else re.escape(c) for c in pattern
        ]
        matching = [n for n in names if re.fullmatch("".join(parts), n)]
        assert found == matching
