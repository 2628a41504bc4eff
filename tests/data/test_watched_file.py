"""Files that change while they are used."""

import os
import pickle
import re
import shutil

import click.testing
import numpy as np
import pytest
from row_sources import Spoiling, write_parquet

from trueaxis import DSWL, open_rows
from trueaxis.cli.main import main
from trueaxis.data.watched_file import SourceError


def rewrite(path):
    """Change the bytes of a file, and set its time back."""
    times = os.stat(path)
    path.write_bytes(path.read_bytes()[::-1])
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


def swap(path):
    """Put another file of equal size and time in the place of a file."""
    other = path.with_name("other")
    shutil.copy2(path, other)
    os.replace(other, path)


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["npy", "parquet", "parts"])
@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda path: path.unlink(), "can no longer be read .*keep the file until"),
        (lambda path: os.truncate(path, 5000), "has 5,000 bytes, but had"),
        (lambda path: os.utime(path, (1, 1)), "has been modified since it was opened"),
        (rewrite, "has been modified since it was opened"),
        (swap, "has been replaced since it was opened"),
    ],
)
def test_file_changed_between_passes_is_reported(ending, spoil, words, X, tmp_path):
    path = source = tmp_path / f"x.{ending}"
    if ending == "parts":
        source.mkdir()
        write_parquet(source / "0.parquet", X)
        path = source / "1.parquet"
    np.save(path, X) if ending == "npy" else write_parquet(path, X)
    rows = Spoiling(open_rows(source, spool=False), lambda: spoil(path))
    with pytest.raises(SourceError, match=words):
        DSWL(3).fit(rows)


def test_a_map_that_is_written_to_is_not_a_changed_file(X, tmp_path):
    np.save(tmp_path / "x.npy", X)
    stored = np.load(tmp_path / "x.npy", mmap_mode="r+")
    rows = open_rows(stored)
    stored[0, 0] += 1
    stored.flush()
    assert rows.take(np.array([0]))[0, 0] == stored[0, 0]
    swap(tmp_path / "x.npy")
    with pytest.raises(SourceError, match="has been replaced since it was opened"):
        rows.take(np.array([0]))


def test_file_truncated_during_a_pass_is_reported(X, tmp_path):
    np.save(tmp_path / "x.npy", X)
    blocks = open_rows(tmp_path / "x.npy", block_rows=100).blocks()
    next(blocks)
    os.truncate(tmp_path / "x.npy", 20_000)
    with pytest.raises(
        SourceError, match="ends at byte 20,000, but .* more bytes are needed"
    ):
        list(blocks)
    write_parquet(tmp_path / "x.parquet", X, row_group_size=4000)
    blocks = open_rows(tmp_path / "x.parquet", spool=False).blocks()
    next(blocks)
    os.truncate(tmp_path / "x.parquet", 20_000)
    with pytest.raises(SourceError, match="20,000 bytes, but had"):
        list(blocks)


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("s3://bucket/x.parquet", "is a URL, but only local files can be read"),
        ("parts/*.parquet", r"patterns are not expanded: .*glob\.glob"),
    ],
)
def test_urls_and_patterns_are_refused(path, words):
    with pytest.raises(SourceError, match=words):
        DSWL(2).fit(path)
    result = click.testing.CliRunner().invoke(main, ["fit", path])
    assert result.exit_code == 1
    assert re.search(words, result.stderr.replace("\n", " "))


def test_a_copy_on_another_machine_is_the_same_file(tmp_path):
    path = tmp_path / "a.npy"
    np.save(path, np.random.default_rng(0).standard_normal((50, 4)))
    sent = pickle.dumps(open_rows(path))
    swap(path)
    rows = pickle.loads(sent)
    assert rows.read().shape == (50, 4)
    os.utime(path, (1, 1))
    with pytest.raises(SourceError, match="has been modified"):
        rows.read()
