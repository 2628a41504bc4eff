"""Rows of files of all formats: what can be written, and the corpus."""

import io
import sys
from dataclasses import replace

import numpy as np
import pytest
from messy_files import CASES
from written_rows import written

from trueaxis._tables.formats import SHEETS, ending_of, read_bytes
from trueaxis.io.original import (
    kept_standard_input,
    open_original,
    refuse_original,
    refuse_text,
    write_rows,
)
from trueaxis._tables.output.text_rows import TextOriginal
from trueaxis.io import Choice, TableError, read_table


def test_standard_input_can_be_read_again(monkeypatch):
    data = b"a,b\n1,2\n3,4\n"
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))
    with kept_standard_input("-"):
        assert read_table("-").X.tolist() == [[1, 2], [3, 4]]
        assert written("-", "-", rows=[1]) == b"a,b\n3,4\n"
    with kept_standard_input("in.csv"):
        pass


# ---------------------------------------------------------------- targets


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("out.ods", "choose the ending .xlsx or .csv"),
        ("out.xls", "cannot be written"),
        ("out.npz", "choose the ending .npy"),
        ("out.html", "tables are written as"),
        ("out.parquet.gz", "only text and JSON lines are compressed"),
        ("out.csv.zip", "only as .gz, .bz2, .xz"),
        ("in.csv", "is an input and would be overwritten"),
        ("link.csv", "is an input and would be overwritten"),
    ],
)
def test_targets_that_are_refused(target, message, tmp_path):
    path = tmp_path / "in.csv"
    path.write_text("a,b\n1,2\n")
    (tmp_path / "link.csv").hardlink_to(path)
    with pytest.raises(TableError, match=message):
        refuse_original(str(tmp_path / target), str(path))


def test_text_keeps_its_own_ending_whatever_it_is(tmp_path):
    refuse_original(str(tmp_path / "out.log"), str(tmp_path / "in.log"))
    with pytest.raises(TableError, match="tables are written as"):
        refuse_original(str(tmp_path / "out.log"), str(tmp_path / "in.csv"))


def test_arrays_take_no_text(tmp_path):
    path = tmp_path / "in.csv"
    path.write_text("a,b,s\n1,2,x\n3,4,y\n")
    with pytest.raises(TableError, match="but 's' is a column"):
        refuse_text(open_original(str(path)), "out.npy")
    refuse_text(open_original(str(path)), "out.csv")


@pytest.mark.parametrize(
    ("module", "target"), [("xlsxwriter", "o.xlsx"), ("pyarrow", "o.parquet")]
)
def test_packages_that_are_not_installed(module, target, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(TableError, match=r"needs .*: pip install 'trueaxis\[io\]'"):
        refuse_original(str(tmp_path / target), str(tmp_path / "in.csv"))


# ---------------------------------------------------------------- the corpus


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(case, id=case.name, marks=[pytest.mark.slow] * case.is_large)
        for case in CASES
        if not case.error and case.file != "-"
    ],
)
def test_messy_files_are_written_again(case, tmp_path):
    path, choice = case.write(tmp_path), Choice(**case.options)
    table = read_table(path, choice)
    original = open_original(str(path), choice)
    positions = table.positions
    if positions is None:
        assert len(original) == len(table.X)
        positions = np.arange(len(original))
    whole = io.BytesIO()
    if isinstance(original, TextOriginal):
        write_rows(original, whole, "-")
        assert whole.getvalue() == read_bytes(str(path))
    ending = ending_of(str(path))
    ending = ".xlsx" if ending in SHEETS else ".npy" if ending == ".npz" else ending
    again = tmp_path / f"again{ending}"
    with again.open("wb") as file:
        write_rows(original, file, str(again), positions)
    found = read_table(again, replace(choice, sheet=None))
    assert found.columns == table.columns
    np.testing.assert_array_equal(found.X, table.X)
    typed = tmp_path / "again.parquet"
    with typed.open("wb") as file:
        write_rows(original, file, str(typed), positions)
    found = read_table(typed, Choice(columns=table.columns))
    np.testing.assert_allclose(found.X, table.X, rtol=1e-6)  # of float32
