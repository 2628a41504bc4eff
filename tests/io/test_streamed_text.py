"""Text that is decoded block by block gives the same numbers as text in memory."""

import gzip
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from text_files import text_file

from trueaxis import DSWL, open_rows
from trueaxis.data.files import SourceError
from trueaxis.data.text import TextRows
from trueaxis.datasets import planted
from trueaxis.io import Choice, TableError, read_table
from trueaxis.io import text as text_of_package


def lines(n, sep=",", decimal=".", between=""):
    """Return rows with a name, a number, a percentage, a hole, and a word."""
    rng = np.random.default_rng(0)
    for i, x in enumerate(rng.standard_normal(n)):
        cells = [f"r{i}", f"{x:.4f}", f"{i % 7} %", "" if i % 5 == 0 else f"{i}", "x"]
        yield sep.join(cells).replace(".", decimal) + "\n"
        yield between if i % 10 == 0 else ""


def both(path, choice=None, **options):
    """Return a table read in memory, and the streamed rows."""
    choice = choice or Choice(**options)
    return read_table(path, choice), TextRows(path, choice)


def test_lines_are_named_in_any_dialect(tmp_path):
    text = "".join(
        ["# by hand\n", "näme;a;b;c;d\n", *lines(300, ";", ",", "# pause\n")]
    )
    table, rows = both(text_file(tmp_path, text, encoding="utf-16"))
    assert rows.names == table.columns == ("a", "b", "c")
    np.testing.assert_array_equal(rows.read(), table.X)
    # 100 rows, 11 pauses, a comment and the header are above it.
    assert rows.place(100).endswith("line 113")


@pytest.mark.parametrize("at", [12, -12, 0])
def test_damaged_gzip_files_are_refused_with_a_remedy(tmp_path, at):
    path = tmp_path / "a.csv.gz"
    content = bytearray(gzip.compress("".join(["n,a,b,c,d\n", *lines(90)]).encode()))
    content[at] ^= 0xFF
    path.write_bytes(content)
    with pytest.raises(TableError, match=r"a\.csv\.gz cannot be unpacked .* again"):
        TextRows(path).read()


def test_columns_that_become_text_later_are_read_by_the_rules(tmp_path, monkeypatch):
    monkeypatch.setattr(text_of_package, "PIECE", 1 << 10)
    plain = "".join(f"{i}.5,{i % 9}\n" for i in range(2000))
    path = text_file(tmp_path, "a,b\n" + plain + '"1,234.5",7\n-,8\n')
    table, rows = both(path)
    np.testing.assert_array_equal(rows.read(), table.X)
    assert rows.read()[-2, 0] == 1234.5 and np.isnan(rows.read()[-1, 0])
    path = text_file(tmp_path, "a,b\n" + plain + "off,7\n")
    with pytest.raises(TableError, match="'off' in line 2002"):
        TextRows(path)


def test_ragged_lines_and_footers(tmp_path, monkeypatch):
    monkeypatch.setattr(text_of_package, "PIECE", 1 << 10)
    plain = "a,b\n" + "".join(f"{i}.5,{i % 9}\n" for i in range(2000))
    with pytest.raises(TableError, match="Line 2002 of .* has 1 cell, but"):
        TextRows(text_file(tmp_path, plain + "7\n" + "1,2\n" * 9))
    with pytest.raises(TableError, match="Line 2002 of .* has 1 cell, but"):
        TextRows(text_file(tmp_path, plain + "7\n"))
    rows = TextRows(text_file(tmp_path, plain + "Source: somebody\n"))
    assert rows.shape == (2000, 2)
    assert "Source: somebody" in rows.text.notes[-1]


@settings(max_examples=30, deadline=None)
@given(
    st.lists(
        st.lists(st.floats(-1e9, 1e9) | st.none(), min_size=3, max_size=3),
        min_size=1,
        max_size=60,
    ),
    st.sampled_from([(",", "."), (";", ","), ("\t", ".")]),
    st.integers(7, 200),
)
def test_any_numbers_in_chunks_of_any_size(tmp_path_factory, table, signs, chunk):
    sep, decimal = signs
    text = "a" + sep + "b" + sep + "c\n1" + decimal + "5" + f"{sep}2{sep}3\n"
    for row in table:
        cells = ["NA" if x is None else repr(x).replace(".", decimal) for x in row]
        text += sep.join(cells) + "\n"
    path = text_file(tmp_path_factory.mktemp("t"), text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_of_package, "PIECE", 100 + chunk)
        rows = TextRows(path, Choice(columns=["a", "b", "c"]), ["a", "b", "c"]).read()
    expected = [[1.5, 2, 3], *table]
    np.testing.assert_array_equal(rows, np.array(expected, dtype=float))


def test_a_fit_of_a_text_file_is_that_of_the_array(tmp_path):
    X = planted("ocs", n=400, share=0.2).X
    np.savetxt(tmp_path / "a.csv", X, delimiter=",", fmt="%.17g")
    streamed = DSWL(3).fit(str(tmp_path / "a.csv"))
    np.testing.assert_allclose(
        np.abs(streamed.components_), np.abs(DSWL(3).fit(X).components_), atol=1e-9
    )
    rows = open_rows(tmp_path / "a.csv", columns=["x2", "x0"])
    np.testing.assert_array_equal(rows.read(), X[:, [2, 0]])
    again = pickle.loads(pickle.dumps(rows))
    np.testing.assert_array_equal(again.take(np.array([7, 3])), X[[7, 3]][:, [2, 0]])


def test_what_cannot_be_read_says_why(tmp_path):
    path = text_file(tmp_path, "a,b\n1,2\n3,4\n")
    with pytest.raises(
        SourceError, match="has no column 'z'; its columns are 'a', 'b'"
    ):
        open_rows(path, columns=["z"])
    with pytest.raises(SourceError, match="has no column of numbers"):
        open_rows(text_file(tmp_path, "a\nx\ny\n"))
    with pytest.raises(SourceError, match="cannot be read"):
        open_rows(tmp_path / "lost.csv")


@pytest.mark.parametrize("encoding", ["utf-8", "cp1252", "utf-16", "utf-32"])
def test_the_head_ends_between_records(tmp_path, monkeypatch, encoding):
    monkeypatch.setattr(text_of_package, "PIECE", 1 << 10)
    rows = "".join(f'{i}.5,"é\n{i % 7}",{i % 9}\n' for i in range(900))
    table, stream = both(text_file(tmp_path, "a,b,c\n" + rows, encoding=encoding))
    assert stream.names == table.columns == ("a", "c")
    np.testing.assert_array_equal(stream.read(), table.X)
    assert not [note for note in stream.text.notes if "left out" in note]
    assert stream.place(3).endswith("line 8")  # where the record begins


def test_numbers_that_stand_for_missing_cells(tmp_path):
    path = text_file(tmp_path, "a,b\n-999,1\n-999.0,9999\n4,9.999\n")
    table, rows = both(path, na=["-999", "9.999"])
    np.testing.assert_array_equal(rows.read(), table.X)
    assert np.isnan(table.X).sum() == 3
