"""Rows of large files: copied, they are those that were analyzed."""

import gzip
import io

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from trueaxis._rows.watched_file import SourceError
from trueaxis._tables.output import streamed
from trueaxis._tables.output.streamed import copy_rows
from trueaxis.io import Choice, read_table
from trueaxis._rows.text import TextRows


def copied(path, kept, choice=None, target=None):
    out = io.BytesIO()
    target = target or path.name
    copy_rows(str(path), choice or Choice(), np.array(kept, dtype=bool), out, target)
    return out.getvalue()


@pytest.fixture(autouse=True)
def small_batches(monkeypatch):
    monkeypatch.setattr(streamed, "BATCH_ROWS", 3)


ROWS = [[i + 0.5, 10 * i, (i * 7) % 5] for i in range(1, 11)]


def drawn(sep, rule, blank="\n"):
    """Rows that are drawn with lines between them."""
    rows = [sep.join(map(str, row)) + "\n" for row in ROWS]
    head = sep.join(["flow", "power", "temp"]) + "\n"
    return head + rule + rows[0] + rule + rows[1] + blank + "".join(rows[2:]) + rule


STYLES = {
    "ruled, |": drawn(" | ", "-----+-------+-----\n"),
    "ruled, | at the ends": drawn("|", "|---|:--|---|\n"),
    "ruled, spaces": drawn("  ", "====  ===== ====\n"),
    "lines of spaces": drawn("   ", "", "      \n"),
    "comments": drawn(",", "# paused\n", "\n\n"),
    "a remark below": drawn(";", "") + "checked by: K. L.\n",
    "no end of the last line": drawn(",", "").rstrip("\n"),
}


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("ending", [".txt", ".txt.gz"])
def test_the_rows_that_were_read_are_copied(style, ending, tmp_path):
    path = tmp_path / f"in{ending}"
    data = STYLES[style].encode()
    path.write_bytes(gzip.compress(data) if ending == ".txt.gz" else data)
    X = TextRows(path).read()
    np.testing.assert_array_equal(X, ROWS)
    kept = np.arange(len(X)) % 3 != 1
    for chosen in (kept, ~kept):
        part = tmp_path / "part.txt"
        part.write_bytes(copied(path, chosen))
        np.testing.assert_array_equal(read_table(part).X, X[chosen])


def test_cells_of_several_lines_are_copied_whole(tmp_path):
    path = tmp_path / "in.csv"
    rows = [
        '"a\r\nb",1,2\r\n',
        '"c\r\n\r\n""d""",3,4\r\n',
        "e,5,6\r\n",
        '"f\r\ng",7,8',
    ]
    path.write_bytes(("who,x,y\r\n" + "".join(rows)).encode("utf-8-sig"))
    assert TextRows(path).shape == (4, 2)
    for i, row in enumerate(rows):
        found = copied(path, np.arange(4) == i).decode("utf-8-sig")
        assert found == "who,x,y\r\n" + row


def test_long_cells_are_copied(tmp_path):
    path = tmp_path / "in.csv"
    cell = '"' + "x, " * 45_000 + '"'
    path.write_text(f"who,x,y\n{cell},1,2\nb,3,4\n{cell},5,6\n")
    assert copied(path, [0, 0, 1]).decode() == f"who,x,y\n{cell},5,6\n"


@pytest.mark.parametrize("n", [9, 11])
def test_other_numbers_of_rows_are_an_error(n, tmp_path):
    path = tmp_path / "in.csv"
    path.write_text(STYLES["comments"])
    with pytest.raises(SourceError, match=f"no longer has the {n} rows"):
        copied(path, np.ones(n))


class Mask(np.ndarray):
    """An array that must not become a list as a whole."""

    def tolist(self):
        assert len(self) <= streamed.BATCH_ROWS
        return super().tolist()


def test_the_mask_is_not_copied_to_a_list(tmp_path):
    path, out = tmp_path / "in.csv", io.BytesIO()
    path.write_text("a,b\n" + "1,2\n" * 20)
    copy_rows(str(path), Choice(), np.ones(20, dtype=bool).view(Mask), out, "out.csv")
    assert out.getvalue() == path.read_bytes()


def test_no_rows_of_a_data_frame_with_an_index(tmp_path):
    path = tmp_path / "in.parquet"
    frame = pd.DataFrame({"a": [1.5, 2.5], "b": [3, 4]}, index=["r1", "r2"])
    frame.to_parquet(path)
    assert copied(path, [0, 0], target="o.csv") == b",a,b\n"
    assert copied(path, [0, 1], target="o.csv") == b",a,b\nr2,2.5,4\n"
    out = pq.read_table(io.BytesIO(copied(path, [0, 0], target="o.parquet")))
    assert out.schema.equals(pq.read_schema(path), check_metadata=True)
