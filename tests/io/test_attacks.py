"""Files that would be misread without a word, take all memory, or take forever."""

import gzip
import json
import time

import numpy as np
import pyarrow
import pyarrow.parquet as parquet
import pytest
import xlsxwriter
from text_files import text_file

from trueaxis.data.memory import TooLarge
from trueaxis.data.text import TextRows
from trueaxis.io import Choice, TableError, formats, read_table

MANY = "a;b\n" + "".join(f"{i % 900};{i % 77}\n" for i in range(20_000))


@pytest.mark.parametrize(
    ("text", "place"),
    [
        (MANY + "1.234;5\n", "line 20002"),
        ("a;b\n" + "".join(f"{i:,};7\n".replace(",", ".") for i in range(3000)),
         "line 1002"),
        (MANY.replace(";", "\t") + "1,234\t5\n", "line 20002"),
    ],
)  # fmt: skip
def test_ambiguity_is_judged_on_the_whole_column(text, place, tmp_path):
    path = text_file(tmp_path, text)
    for read in (read_table, TextRows):
        with pytest.raises(TableError, match=f"{place}.* can be read in two ways"):
            read(path)


def test_a_late_decimal_comma_says_what_was_unclear(tmp_path):
    path = text_file(tmp_path, MANY + "1.234;5\n0,5;6\n")
    for X in (read_table(path).X, TextRows(path).read()):
        assert X[-2:].tolist() == [[1234, 5], [0.5, 6]]


def test_codes_that_are_seen_late_are_no_numbers(tmp_path):
    text = "zip,b\n" + "".join(f"{10000 + i},{i % 77}\n" for i in range(20_000))
    path = text_file(tmp_path, text + "01067,5\n")
    assert read_table(path).columns == TextRows(path).names == ("b",)
    assert read_table(path, Choice(id="zip")).ids[-1] == "01067"


@pytest.mark.parametrize("cell", ["(-1.5)", "--1.5", "+-1.5", "-1.5-", "-(1.5)"])
def test_two_signs_are_no_number(cell, tmp_path):
    path = text_file(tmp_path, f"a,b\n1,2\n2,{cell}\n3,4\n4,4\n")
    with pytest.raises(TableError, match="1 of 4 cells that are not numbers.*line 3"):
        read_table(path)


@pytest.mark.soak  # as it measures time
@pytest.mark.parametrize(
    "cell", ["(" + ", ".join(["0.1"] * 3000) + ")", "<" + " " * 20_000 + "x",
             "1" + ".000" * 5000 + "x", "." * 20_000]
)  # fmt: skip
def test_no_cell_takes_long(cell, tmp_path):
    path = text_file(tmp_path, "a,b\n" + f'1,"{cell}"\n2,7\n' * 100)
    begin = time.process_time()
    assert read_table(path).columns[:1] == ("a",)
    assert time.process_time() - begin < 5


@pytest.mark.soak  # as it measures time
def test_no_line_of_empty_cells_takes_long(tmp_path):
    line = "\t" * 3000 + "5\n"
    path = text_file(tmp_path, "\t".join(map(str, range(3001))) + "\n" + line * 300)
    begin = time.process_time()
    assert read_table(path, Choice(header="yes")).X.shape == (300, 1)
    assert time.process_time() - begin < 5


def test_a_cell_far_from_the_table_is_refused(tmp_path):
    path = tmp_path / "far.xlsx"
    with xlsxwriter.Workbook(path) as book:
        sheet = book.add_worksheet()
        for row, cells in enumerate([["a", "b"], [1, 2], [2, 3], [3, 5]]):
            sheet.write_row(row, 0, cells)
        sheet.write("XFD1048576", 1)
    with pytest.raises(TableError, match="17,179,869,184 cells.*delete the cells"):
        read_table(path)


def test_small_files_that_expand_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(formats, "MOST_PIPED", 1 << 20)
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(b"a,b\n" + b"1,2\n" * 500_000))
    with pytest.raises(TableError, match="unpacks to .* so much is not unpacked"):
        read_table(tmp_path / "a.csv.gz")
    path = tmp_path / "a.jsonl"
    path.write_text("".join(json.dumps({f"k{i}": 1}) + "\n" for i in range(10_000)))
    with pytest.raises(TooLarge, match="10,000 rows with 10,000 different keys"):
        read_table(path)


def test_a_long_text_that_is_stored_once_takes_its_memory_once(tmp_path):
    n = 100_000
    index = pyarrow.array(np.zeros(n, np.int32))
    text = pyarrow.DictionaryArray.from_arrays(index, pyarrow.array(["x" * 100_000]))
    table = pyarrow.table({"a": np.arange(n) % 1000 * 1.5, "s": text})
    parquet.write_table(table, tmp_path / "a.parquet")  # 10 GB of characters
    assert read_table(tmp_path / "a.parquet").columns == ("a",)


def test_many_constant_rows_are_refused_before_they_are_read(tmp_path, monkeypatch):
    table = pyarrow.table({"a": np.ones(1 << 20)})
    parquet.write_table(table, tmp_path / "a.parquet")
    monkeypatch.setattr("trueaxis.data.memory.available_memory", lambda: 1 << 20)
    with pytest.raises(TooLarge, match="1,048,576 rows"):
        read_table(tmp_path / "a.parquet")
