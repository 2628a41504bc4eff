"""Tables from files of all formats."""

import bz2
import gzip
import io
import json
import lzma
import os
import subprocess
import sys
import threading
import tracemalloc

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from text_files import text_file

from trueaxis.cli.main import main
from trueaxis.datasets import planted
from trueaxis.io import Choice, TableError, formats, read_table
from trueaxis.io import text as text_of_package
from trueaxis.io.write import write_table


def test_formats_agree(tmp_path):
    X = np.random.default_rng(0).standard_normal((20, 3))
    frame = pd.DataFrame(X, columns=["x0", "x1", "x2"])
    frame.to_csv(tmp_path / "a.csv", index=False)
    frame.to_csv(tmp_path / "a.tsv", index=False, sep="\t")
    frame.to_parquet(tmp_path / "a.parquet")
    np.save(tmp_path / "a.npy", X)
    for path in sorted(tmp_path.iterdir()):
        table = read_table(path)
        np.testing.assert_array_equal(table.X, X, err_msg=str(path))
        assert table.columns == ("x0", "x1", "x2")
    part = read_table(tmp_path / "a.npy", Choice(drop=["x1"]))
    assert part.columns == ("x0", "x2")


def test_missing_cells_of_all_formats_are_nan(tmp_path):
    X = np.random.default_rng(0).standard_normal((40, 3))
    X[np.random.default_rng(1).random(X.shape) < 0.2] = np.nan
    frame = pd.DataFrame(X, columns=["x0", "x1", "x2"])
    for word in ("", "NA", "n/a", "?"):
        frame.to_csv(tmp_path / f"{len(word)}.csv", index=False, na_rep=word)
    frame.to_csv(tmp_path / "comma.csv", index=False, sep=";", decimal=",")
    frame.to_parquet(tmp_path / "a.parquet")
    frame.astype("Float64").to_parquet(tmp_path / "null.parquet")
    texts = frame.astype(object).map(lambda x: "NA" if np.isnan(x) else repr(x))
    texts.to_parquet(tmp_path / "text.parquet")
    np.save(tmp_path / "a.npy", X)
    whole = ~np.isnan(X).any(axis=1)
    for path in sorted(tmp_path.iterdir()):
        np.testing.assert_array_equal(read_table(path).X, X, err_msg=str(path))
        few = read_table(path, Choice(missing="drop", columns=["x2", "x0"]))
        some = ~np.isnan(X[:, [2, 0]]).any(axis=1)
        np.testing.assert_array_equal(few.X, X[some][:, [2, 0]])
        few = read_table(path, Choice(missing="drop"))
        assert few.ids.tolist() == list(map(str, np.flatnonzero(whole)))
        assert f"{(~whole).sum()} of 40 rows have a missing cell" in few.notes[-1]


def test_rows_with_missing_cells_are_dropped_with_all_that_is_theirs(tmp_path):
    path = text_file(tmp_path, "id,site,a,b,c\nr1,X,1,,3\nr2,Y,4,5,6\nr3,,7,8,\n")
    choice = Choice(id="id", label="site", drop=["c"], missing="drop")
    table = read_table(path, choice)
    assert table.ids.tolist() == ["r2", "r3"] and table.labels.tolist() == ["Y", ""]
    assert table.positions.tolist() == [1, 2]
    whole = read_table(path, Choice(columns=["a"], missing="drop"))
    assert len(whole.X) == 3 and whole.ids is None and whole.notes == ()
    path = text_file(tmp_path, "a,b\n1,\n,2\n")
    with pytest.raises(TableError, match="All 2 rows have a missing cell.*fill"):
        read_table(path, Choice(missing="drop"))
    with pytest.raises(
        TableError, match="missing is 'guess': choose one of 'fill', 'error'"
    ):
        read_table(path, Choice(missing="guess"))


def test_unknown_columns_folders_and_arrays_are_refused(tmp_path):
    path = text_file(tmp_path, "a,b\n1,2\n")
    for choice in (Choice(id="z"), Choice(drop=["z"]), Choice(columns=["z"])):
        with pytest.raises(
            TableError, match="no column 'z' .*The columns are 'a', 'b'"
        ):
            read_table(path, choice)
    with pytest.raises(TableError, match="No column is left"):
        read_table(path, Choice(drop=["a", "b"]))
    with pytest.raises(TableError, match="is a folder"):
        read_table(tmp_path)
    with pytest.raises(FileNotFoundError):
        read_table(tmp_path / "none.csv")


def test_parquet_without_pyarrow_says_what_to_install(tmp_path, monkeypatch):
    pd.DataFrame({"a": [1.0]}).to_parquet(tmp_path / "a.parquet")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(TableError, match=r"pip install 'trueaxis\[io\]'"):
        read_table(tmp_path / "a.parquet")
    with pytest.raises(TableError, match=r"pip install 'trueaxis\[io\]'"):
        write_table(tmp_path / "b.parquet", {"a": [1.0]})


def test_standard_input_and_output(monkeypatch, capsys):
    class Stdin:
        buffer = io.BytesIO(b"a,b\n1,2\n")

    monkeypatch.setattr(sys, "stdin", Stdin)
    assert read_table("-").X.tolist() == [[1.0, 2.0]]
    write_table("-", {"row": ["r1"], "score": [0.1]})
    assert capsys.readouterr().out == "row,score\nr1,0.1\n"


@pytest.mark.slow
def test_reading_needs_no_pandas():
    code = (
        "import sys; sys.modules['pandas'] = None\n"
        "from trueaxis.io import read_table; import tempfile, pathlib\n"
        "p = pathlib.Path(tempfile.mkdtemp()) / 'a.csv'; p.write_text('a\\n1\\n')\n"
        "assert read_table(p).X.tolist() == [[1.0]]"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


@pytest.mark.slow
def test_options_and_notes_reach_the_command_line(tmp_path):
    rows = np.random.default_rng(0).integers(1000, 9999, (30, 3))
    text = "".join(";".join(f"{x:,}" for x in row) + "\n" for row in rows.tolist())
    path = str(text_file(tmp_path, text))
    asked = CliRunner().invoke(main, ["fit", path])
    assert asked.exit_code == 1 and "decimal" in asked.stderr
    options = [*"--read decimal=. --read delimiter=; --read header=no --json".split()]
    done = CliRunner().invoke(main, ["fit", path, *options])
    assert json.loads(done.stdout)["rows"] == 30 and done.stderr == ""
    model = str(tmp_path / "m.npz")
    pd.DataFrame(rows + 0.5, columns=["a", "b", "c"]).to_csv(tmp_path / "b.csv")
    for command in (["fit", "-o", model], ["score", model], ["transform", model]):
        done = CliRunner().invoke(main, [*command, str(tmp_path / "b.csv")])
        assert done.exit_code == 0
        assert done.stderr.startswith("Note: The first column has no name")


def test_missing_words_are_no_categories(tmp_path):
    path = text_file(tmp_path, "s,a\nNA,1\nx,2\n,3\ny,5\n")
    for categories in (("s",), ("*",)):
        (column,) = read_table(path, Choice(categories=categories)).frame[:1]
        assert column.values.tolist() == [None, "x", None, "y"]
    # Names of rows may be words like these.
    assert read_table(path, Choice(id="s")).ids.tolist() == ["NA", "x", "", "y"]


def test_cells_of_two_lines_are_no_numbers(tmp_path):
    path = text_file(tmp_path, 'a,b\n"1\n2",1\nabc,2\n3,3\n')
    table = read_table(path)
    assert table.columns == ("b",) and "'a' (text)" in table.notes[-1]


def test_names_of_rows_are_not_rounded(tmp_path):
    names = [1234567890123456789, 1234567890123456788, 7]
    frame = pd.DataFrame({"nr": names, "a": [1.0, 2.0, 4.0]})
    frame.to_parquet(tmp_path / "a.parquet")
    frame.to_json(tmp_path / "a.jsonl", orient="records", lines=True)
    for name in ("a.parquet", "a.jsonl"):
        table = read_table(tmp_path / name, Choice(id="nr"))
        assert table.ids.tolist() == [str(each) for each in names], name
    indexed = frame.set_index("nr")
    indexed.to_parquet(tmp_path / "b.parquet")
    table = read_table(tmp_path / "b.parquet", Choice(id="nr"))
    assert table.ids.tolist() == [str(each) for each in names]


@pytest.mark.slow
def test_notes_are_said_once(tmp_path):
    # The last cell shows the decimal sign, so that the text is split again.
    rows = "".join(f"{i};{i}\n" for i in (*range(40_000), 7))
    path = text_file(tmp_path, "a;b\n" + rows + ";\n0,5;1\nSource: us\n")
    notes = read_table(path).notes
    assert len({*notes}) == len(notes) and sum("Source: us" in n for n in notes) == 1


def test_a_date_among_text_is_text(tmp_path):
    genes = ["TP53", pd.Timestamp("2024-03-01"), "BRCA1", "MARCH2"]
    frame = pd.DataFrame({"gene": genes, "a": [1.0, 3.0, 2.0, 5.0]})
    frame.to_excel(tmp_path / "a.xlsx", index=False, engine="xlsxwriter")
    table = read_table(tmp_path / "a.xlsx", Choice(categories=("gene",)))
    assert table.frame[0].kind == "text" and table.columns == ("a",)


def test_files_without_anything_to_read_say_so(tmp_path):
    pd.DataFrame(index=[1, 2]).to_parquet(tmp_path / "a.parquet", index=False)
    (tmp_path / "deep.json").write_text("[" * 100_000)
    for name, said in (("a.parquet", "no columns|no rows"), ("deep.json", "nested")):
        with pytest.raises(TableError, match=said):
            read_table(tmp_path / name)


def test_names_of_a_model_are_no_ranges(tmp_path):
    path = text_file(tmp_path, "a,b,c\n1,2,4\n3,5,4\n")
    assert read_table(path, Choice(columns=["a:c"])).columns == ("a", "b", "c")
    with pytest.raises(TableError, match="no column 'a:c'"):
        read_table(path, Choice(columns=["a:c"], by_name=True))


WIDE = 1500


def wide_text(cell="{:.3f}", name="c{}"):
    X = np.random.default_rng(0).standard_normal((3, WIDE)).round(3)
    rows = [",".join(map(cell.format, row)) for row in X]
    return "\n".join([",".join(map(name.format, range(WIDE))), *rows]) + "\n", X


def test_wide_text_is_read_like_any_other(tmp_path, monkeypatch):
    lines = wide_text()[0].splitlines()
    lines[2] = ",".join(["NA", *lines[2].split(",")[1:-1], " 1e3"])
    path = text_file(tmp_path, "\n".join(lines))
    found = read_table(path, Choice(id="c3"))
    monkeypatch.setattr(text_of_package, "_MOST_COLUMNS", 10 * WIDE)
    other = read_table(path, Choice(id="c3"))
    assert found.columns == other.columns and found.ids.tolist() == other.ids.tolist()
    np.testing.assert_array_equal(found.X, other.X)
    assert np.isnan(found.X).sum() == 1


@pytest.mark.slow
def test_one_long_line_takes_little_memory(tmp_path):
    line = ",".join(f"{i % 89 / 89:.6f}" for i in range(5000))
    path = text_file(tmp_path, line + "\n")
    tracemalloc.start()
    try:
        assert read_table(path).X.shape == (1, 5000)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    # Python's own objects for every column, and a few copies of the text: 1.3 kB for
    # 9 characters.
    assert peak < 200 * len(line)


def test_parquet_tables_without_their_index_and_lists(tmp_path):
    frame = pd.DataFrame(planted("ocs", n=60, n_features=4).X, columns=list("abcd"))
    frame.index = 1000 * np.arange(60)
    path = tmp_path / "frame.parquet"
    frame.to_parquet(path)
    assert read_table(path).columns == ("a", "b", "c", "d")
    frame["pair"] = [[1, 2]] * 60
    frame.to_parquet(path)
    assert read_table(path).notes == ("Left out: 'pair' (nested).",)
    with pytest.raises(TableError, match="Column 'pair' .*lists or records"):
        read_table(path, Choice(columns=["a", "pair"]))
    assert read_table(path, Choice(drop=("pair",))).columns == ("a", "b", "c", "d")


def test_what_never_ends_is_refused(monkeypatch, tmp_path):
    monkeypatch.setattr(formats, "MOST_PIPED", 1 << 21)
    with pytest.raises(TableError, match=r"/dev/zero is not a file.*2\.1 MB.*Save it"):
        read_table("/dev/zero")


@pytest.mark.parametrize("ending", [".gz", ".bz2", ".xz"])
def test_a_small_file_that_unpacks_to_a_large_one_is_refused(
    monkeypatch, tmp_path, ending
):
    path = tmp_path / f"bomb.csv{ending}"
    text = b"a,b\n" + b"1,2\n3,5\n" * 30_000
    module = {".gz": gzip, ".bz2": bz2, ".xz": lzma}[ending]
    path.write_bytes(module.compress(text))
    assert len(read_table(path).X) == 60_000  # no more than is held in memory
    monkeypatch.setattr(formats, "MOST_PIPED", 1 << 17)
    with pytest.raises(TableError, match=r"bomb.*unpacks to more than.*unpack it"):
        read_table(path)
    monkeypatch.setattr(formats, "MOST_EXPANSION", len(text))
    assert len(read_table(path).X) == 60_000  # it may expand by as much


def test_what_ends_is_read_from_a_pipe(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=("a,b\n1,2\n3,5\n",))
    writer.start()
    assert read_table(pipe).X.tolist() == [[1, 2], [3, 5]]
    writer.join()
