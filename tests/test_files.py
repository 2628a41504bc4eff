"""Atomic writing of files."""

import os

import pytest

from trueaxis._files import atomic_write
from trueaxis._tables.write import write_table


def test_a_failed_write_leaves_the_old_file_alone(tmp_path):
    path = tmp_path / "out.csv"
    path.write_text("old")
    for error in (RuntimeError, KeyboardInterrupt):
        with pytest.raises(error), atomic_write(path) as file:
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
