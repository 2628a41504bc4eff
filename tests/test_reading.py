"""Files of all sorts become numbers with names, or an error that says where."""

import io
import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from trueaxis.tables import Choice, TableError, read_table
from trueaxis.writing import beside, write_table


def written(tmp_path, text, name="table.csv", encoding="utf-8"):
    path = tmp_path / name
    path.write_bytes(text.encode(encoding))
    return path


@pytest.mark.parametrize(
    "text",
    [
        "a,b\n1,2\n3,4\n",
        "a;b\n1;2\n3;4\n",
        "a\tb\n1\t2\n3\t4\n",
        "a|b\r\n1|2\r\n3|4",
        "\ufeffa,b\n 1 , 2 \n\n3,4\n\n",
        'a,b\n"1","2"\n3,4\n',
        "a;b\n1,0;2,0\n3,0;4\n",
        "a;b\n1;2e0\n3;0.4e1\n",
    ],
)
def test_delimiters_headers_and_decimals_are_found_out(tmp_path, text):
    table = read_table(written(tmp_path, text))
    assert table.columns == ("a", "b")
    np.testing.assert_array_equal(table.X, [[1, 2], [3, 4]])


def test_a_table_without_header_gets_names(tmp_path):
    table = read_table(written(tmp_path, "1,2\n3,4\n5,6\n"))
    assert table.columns == ("x0", "x1") and len(table.X) == 3


def test_one_column_and_names_with_delimiters(tmp_path):
    assert read_table(written(tmp_path, "only\n1\n2\n")).X.shape == (2, 1)
    table = read_table(written(tmp_path, '"flow, in","a\nb"\n1,2\n3,4\n'))
    assert table.columns == ("flow, in", "a\nb")


def test_thousands_of_the_continent(tmp_path):
    table = read_table(written(tmp_path, "a;b\n1.234,5;2\n-0,25;3\n"))
    np.testing.assert_array_equal(table.X[:, 0], [1234.5, -0.25])


def test_other_encodings(tmp_path):
    table = read_table(written(tmp_path, "größe,b\n1,2\n", encoding="latin-1"))
    assert table.columns[0] == "größe"


def test_ids_labels_and_columns(tmp_path):
    path = written(tmp_path, "id,site,a,b,c\nr1,X,1,2,3\nr2,Y,4,5,6\n")
    table = read_table(path, Choice(id="id", label="site", drop=["b"]))
    assert table.columns == ("a", "c")
    assert table.ids.tolist() == ["r1", "r2"] and table.labels.tolist() == ["X", "Y"]
    assert read_table(path, Choice(columns=["c", "a"])).columns == ("c", "a")


def test_formats_agree(tmp_path):
    X = np.random.default_rng(0).standard_normal((20, 3))
    frame = pd.DataFrame(X, columns=["x0", "x1", "x2"])
    frame.to_csv(tmp_path / "a.csv", index=False)
    frame.to_csv(tmp_path / "a.tsv", index=False, sep="\t")
    frame.to_parquet(tmp_path / "a.parquet")
    np.save(tmp_path / "a.npy", X)
    np.savez(tmp_path / "a.npz", table=X, notes=np.arange(3))
    for path in sorted(tmp_path.iterdir()):
        table = read_table(path)
        np.testing.assert_array_equal(table.X, X, err_msg=str(path))
        assert table.columns == ("x0", "x1", "x2")
    part = read_table(tmp_path / "a.npy", Choice(drop=["x1"]))
    assert part.columns == ("x0", "x2")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n1,2\n\n3,x7\n", "Column 'b' has text: 'x7' in line 4.*--drop b"),
        (
            "a,b\n1,\n3,4\n",
            "'b' has a cell that is missing in line 2.*in 1 of 2",
        ),
        ("a,b\n1,NA\n3,n/a\n", r"missing in line 2 \(such cells: 2"),
        ("a,b\n1,inf\n", "infinite in line 2"),
        ("a,b\n1,2\n3\n", "Line 3 of .* has 1 cells, line 1 has 2"),
        ("a,a\n1,2\n", "two columns named 'a'"),
        ("a,b\n", "has a header, but no rows"),
        ("", "is empty"),
        ("\n \n", "is empty"),
        ("a,b\n1,2\n\x00", "is no text"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(tmp_path, text, message):
    with pytest.raises(TableError, match=message):
        read_table(written(tmp_path, text))


def test_missing_cells_are_named_in_other_formats_too(tmp_path):
    X = np.ones((4, 2))
    X[2, 1] = np.nan
    np.save(tmp_path / "a.npy", X)
    frame = pd.DataFrame({"a": [1, None, 3], "b": ["u", "v", "w"]})
    frame.to_parquet(tmp_path / "a.parquet")
    with pytest.raises(TableError, match="'x1' has a cell that is missing in row 2"):
        read_table(tmp_path / "a.npy")
    with pytest.raises(TableError, match="'b' has text: 'u' in row 0"):
        read_table(tmp_path / "a.parquet")
    with pytest.raises(TableError, match="'a' has a cell that is missing in row 1"):
        read_table(tmp_path / "a.parquet", Choice(drop=["b"]))


def test_unknown_columns_folders_and_arrays_are_refused(tmp_path):
    path = written(tmp_path, "a,b\n1,2\n")
    for choice in (Choice(id="z"), Choice(drop=["z"]), Choice(columns=["z"])):
        with pytest.raises(TableError, match="no column 'z'; there are a, b"):
            read_table(path, choice)
    with pytest.raises(TableError, match="No column is left"):
        read_table(path, Choice(drop=["a", "b"]))
    with pytest.raises(TableError, match="is a folder"):
        read_table(tmp_path)
    with pytest.raises(FileNotFoundError):
        read_table(tmp_path / "none.csv")
    np.save(tmp_path / "cube.npy", np.ones((2, 2, 2)))
    with pytest.raises(TableError, match="3 dimensions"):
        read_table(tmp_path / "cube.npy")
    np.save(tmp_path / "objects.npy", np.array([[1, "a"]], dtype=object))
    with pytest.raises(TableError, match="no plain numbers"):
        read_table(tmp_path / "objects.npy")
    np.savez(tmp_path / "two.npz", a=np.ones((2, 2)), b=np.ones((2, 2)))
    with pytest.raises(TableError, match="has 2 tables"):
        read_table(tmp_path / "two.npz")


def test_parquet_without_pyarrow_says_what_to_install(tmp_path, monkeypatch):
    pd.DataFrame({"a": [1.0]}).to_parquet(tmp_path / "a.parquet")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(TableError, match=r"pip install 'trueaxis\[parquet\]'"):
        read_table(tmp_path / "a.parquet")
    with pytest.raises(TableError, match=r"pip install 'trueaxis\[parquet\]'"):
        write_table(tmp_path / "b.parquet", {"a": [1.0]})


def test_standard_input_and_output(monkeypatch, capsys):
    class Stdin:
        buffer = io.BytesIO(b"a,b\n1,2\n")

    monkeypatch.setattr(sys, "stdin", Stdin)
    assert read_table("-").X.tolist() == [[1.0, 2.0]]
    write_table("-", {"row": ["r1"], "score": [0.1]})
    assert capsys.readouterr().out == "row,score\nr1,0.1\n"


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".parquet"])
def test_what_is_written_is_read_again(tmp_path, ending):
    values = np.random.default_rng(0).standard_normal(9)
    path = tmp_path / f"out{ending}"
    write_table(path, {"name": [f"r{i}, x" for i in range(9)], "value": values})
    table = read_table(path, Choice(id="name"))
    np.testing.assert_array_equal(table.X[:, 0], values)  # every digit
    assert table.ids[3] == "r3, x"
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


def test_a_failed_write_leaves_the_old_file_alone(tmp_path):
    path = tmp_path / "out.csv"
    path.write_text("old")
    for error in (RuntimeError, KeyboardInterrupt):
        with pytest.raises(error), beside(path) as file:
            file.write(b"half")
            raise error
    assert path.read_text() == "old" and len(list(tmp_path.iterdir())) == 1
    with pytest.raises(FileNotFoundError, match="No such folder.*create it first"):
        write_table(tmp_path / "no" / "out.csv", {"a": [1]})


def test_files_are_as_private_as_others(tmp_path):
    write_table(tmp_path / "out.csv", {"a": [1]})
    (tmp_path / "other").write_text("")
    mode = os.stat(tmp_path / "out.csv").st_mode
    assert mode == os.stat(tmp_path / "other").st_mode


def test_reading_needs_no_pandas():
    code = (
        "import sys; sys.modules['pandas'] = None\n"
        "from trueaxis.tables import read_table; import tempfile, pathlib\n"
        "p = pathlib.Path(tempfile.mkdtemp()) / 'a.csv'; p.write_text('a\\n1\\n')\n"
        "assert read_table(p).X.tolist() == [[1.0]]"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
