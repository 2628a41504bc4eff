"""Rows of files of all formats: what can be written, and the corpus."""

import io
import sys
from dataclasses import replace

import numpy as np
import pyarrow.parquet as pq
import pytest
from messy_files import CASES
from written_rows import written

from trueaxis.io import Choice, TableError, read_table
from trueaxis.io.formats import SHEETS, ending_of, kept_standard_input
from trueaxis.io.write import (
    Original,
    formulas_guarded,
    refuse_table,
    write_table,
)


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
        ("out.ods", "tables are written as .csv"),
        ("out.npz", "choose one of these endings"),
        ("out.parquet.gz", "only text and JSON lines are compressed"),
        ("out.csv.zip", "tables are written as"),
        ("in.csv", "is an input and would be overwritten"),
        ("link.csv", "is an input and would be overwritten"),
    ],
)
def test_targets_that_are_refused(target, message, tmp_path):
    path = tmp_path / "in.csv"
    path.write_text("a,b\n1,2\n")
    (tmp_path / "link.csv").hardlink_to(path)
    with pytest.raises(ValueError, match=message):
        refuse_table(str(tmp_path / target), str(path), rows_of=str(path))


def test_text_keeps_its_own_ending_whatever_it_is(tmp_path):
    refuse_table(str(tmp_path / "out.log"), rows_of=str(tmp_path / "in.log"))
    with pytest.raises(TableError, match="tables are written as"):
        refuse_table(str(tmp_path / "out.log"), rows_of=str(tmp_path / "in.csv"))


def test_arrays_take_no_text(tmp_path):
    path = tmp_path / "in.csv"
    path.write_text("a,b,s\n1,2,x\n3,4,y\n")
    with pytest.raises(TableError, match="out.npy holds numbers only"):
        written(path, "out.npy")
    assert written(path, rows=[1]) == b"a,b,s\n3,4,y\n"


@pytest.mark.parametrize(
    ("module", "target"), [("xlsxwriter", "o.xlsx"), ("pyarrow", "o.parquet")]
)
def test_packages_that_are_not_installed(module, target, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(TableError, match=r"needs .*: pip install 'trueaxis\[io\]'"):
        refuse_table(str(tmp_path / target), rows_of=str(tmp_path / "in.csv"))


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
    original = Original(str(path), choice)
    positions = table.positions
    if positions is None:
        assert original.n_rows == len(table.X)
        positions = np.arange(original.n_rows)
    ending = ending_of(str(path))
    ending = ".xlsx" if ending in SHEETS else ".npy" if ending == ".npz" else ending
    again = tmp_path / f"again{ending}"
    with again.open("wb") as file:
        original.write(file, str(again), positions)
    found = read_table(again, replace(choice, sheet=None))
    assert found.columns == table.columns
    np.testing.assert_array_equal(found.X, table.X)
    typed = tmp_path / "again.parquet"
    with typed.open("wb") as file:
        original.write(file, str(typed), positions)
    found = read_table(typed, Choice(columns=table.columns))
    np.testing.assert_allclose(found.X, table.X, rtol=1e-6)  # of float32


# ---------------------------------------------------------------- text, cell by cell


def test_cells_keep_their_text_and_new_ones_have_the_style_of_their_column(tmp_path):
    path = tmp_path / "in.csv"
    lines = ["Report 7;;", "name;mass;x", '"a;b";1,50 kg;007', "c;;008", "d;2 kg;1e3"]
    path.write_bytes("\r\n".join([*lines, "Sum: 3", ""]).encode("utf-8-sig"))
    done = written(path, rows=[0, 2]).decode("utf-8-sig").split("\r\n")
    assert done == [*lines[:3], lines[4], ""]
    whole = written(path, changes={"mass": {1: -2.5}}).decode("utf-8-sig")
    assert whole.split("\r\n") == [*lines[:3], "c;-2,5 kg;008", lines[4], "Sum: 3", ""]
    assert written(path, "out.tsv", rows=[1]).decode("utf-8-sig").split("\r\n") == [
        "name\tmass\tx", "c\t\t008", ""
    ]  # fmt: skip


@pytest.mark.parametrize("source", ["in.csv", "in.parquet", "in.jsonl"])
def test_formulas_are_guarded_wherever_rows_are_written(source, tmp_path):
    path = tmp_path / source
    write_table(path, {"=name": ["=1+1", "-5", "-x"], "a": [1.5, -2.5, 3.5]})
    with formulas_guarded():
        found = written(path, rows=[0, 1, 2]).decode()
    assert found == "'=name,a\n'=1+1,1.5\n-5,-2.5\n'-x,3.5\n"


@pytest.mark.parametrize("kind", ["int16", "float32", "float64", "bool"])
def test_typed_rows_keep_their_types_if_these_hold_the_new_cells(kind, tmp_path):
    pa = pytest.importorskip("pyarrow")
    X = np.array([[1, 0], [0, 1], [1, 1]]).astype(kind)
    np.save(tmp_path / "in.npy", X)
    pq.write_table(pa.table({"a": X[:, 0], "b": X[:, 1]}), tmp_path / "in.parquet")
    for name, column in (("in.npy", "x0"), ("in.parquet", "a")):
        out = tmp_path / f"out-{name}"
        out.write_bytes(written(tmp_path / name, out.name, rows=[0, 2]))
        assert read_table(out).X.tolist() == [[1, 0], [1, 1]]
        changes = {column: {1: 0.5}}
        out.write_bytes(written(tmp_path / name, out.name, changes=changes))
        assert read_table(out).X.tolist() == [[1, 0], [0.5, 1], [1, 1]]


def test_repaired_text_of_typed_files_has_the_style_of_its_column(tmp_path):
    write_table(tmp_path / "in.parquet", {"a": ["1,5 kg", "2,5 kg", None, "4 kg"]})
    write_table(tmp_path / "in.jsonl", {"a": ["1,5 kg", "2,5 kg", None, "4 kg"]})
    for name in ("in.parquet", "in.jsonl"):
        out = tmp_path / f"out-{name}"
        out.write_bytes(written(tmp_path / name, name, changes={"a": {2: 3.25}}))
        assert read_table(out).X.tolist() == [[1.5], [2.5], [3.25], [4]]


def test_text_may_begin_late_in_a_column(tmp_path, monkeypatch):
    monkeypatch.setattr("trueaxis.io.text.PIECE", 40)  # so that it comes in pieces
    source, target = tmp_path / "late.csv", tmp_path / "late.parquet"
    lines = [f"{i},{'late' if i > 30 else ''}" for i in range(40)]
    source.write_text("\n".join(["x,remark", *lines]))
    with target.open("wb") as file:
        Original(str(source)).write(file, target.name)
    assert pq.read_table(target).column("remark").to_pylist() == (
        [None] * 31 + ["late"] * 9
    )
