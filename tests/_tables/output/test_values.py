"""Cells as text: guarded against spreadsheets, if asked for."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from trueaxis._tables.output.values import formulas_guarded, guarded
from trueaxis.io.write import write_table

NUMBERS = ["-5", "+5", "-1.5e-3", "+2."]


@given(st.text())
@example("=1+1")
@example("\x1b[2J")
@example("-x")
@example("\t=1")
def test_guarded_text_begins_no_formula_and_can_be_restored(text):
    assert guarded(text) == text
    with formulas_guarded():
        safe = guarded(text)
    assert safe in (text, f"'{text}")
    dangerous = re.match(r"[=+@\-\x00-\x1f]", safe)
    assert not dangerous or float(safe) is not None
    assert safe == text or re.match(r"[=+@\-\x00-\x1f]", text)


def test_numbers_are_not_guarded():
    with formulas_guarded():
        assert [guarded(cell) for cell in [*NUMBERS, -5.0]] == [*NUMBERS, -5.0]


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".jsonl"])
def test_only_text_files_are_guarded(tmp_path, ending):
    path = tmp_path / f"t{ending}"
    with formulas_guarded():
        write_table(path, {"=a": ["@x", "y"], "b": [-1.5, 2.0]})
    assert ("'@x" in path.read_text()) == (ending != ".jsonl")
    write_table(path, {"=a": ["@x", "y"], "b": [-1.5, 2.0]})
    assert "'" not in path.read_text()
    if ending == ".csv":
        assert path.read_text().splitlines()[0] == "=a,b"
