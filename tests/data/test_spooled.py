"""When rows are written to a spool, and when it is removed."""

import logging
import os
import pickle
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from row_sources import NAMES, D, N, several_ways, write_parquet

from trueaxis import DSWL, open_rows
from trueaxis.data import parquet as parquet_rows
from trueaxis.data import spooled as spool
from trueaxis.data.parquet import ParquetRows
from trueaxis.data.spooled import SpooledRows
from trueaxis.data.watched_file import SourceError
from trueaxis.methods import METHODS


@pytest.mark.slow
@several_ways
def test_a_spool_gives_the_model_of_the_array(X, folder, spools, at_once, options):
    model = DSWL(3, **options).fit(folder / "parts")
    expected = DSWL(3, **options).fit(X)
    assert len(spools) == 1  # whose blocks start at the same rows as those of X
    assert model.components_.tobytes() == expected.components_.tobytes()
    assert model.weights_.tobytes() == expected.weights_.tobytes()


@pytest.mark.slow
def test_spool_is_removed_after_the_fit(folder, spools, at_once, caplog):
    rows = open_rows(folder / "parts")
    assert isinstance(rows, SpooledRows) and not spools
    with caplog.at_level(logging.INFO, logger="trueaxis"):
        model = DSWL(3).fit(rows)
    assert [file.closed for file in spools] == [True]
    assert "Decoding 9,000 rows to a temporary file of 1.4 MB in " in caplog.text
    model.fit(rows)
    assert [file.closed for file in spools] == [True, True]
    with rows:
        model.fit(rows).predict(rows)
        assert [file.closed for file in spools[2:]] == [False]
    assert spools[2].closed
    DSWL(3).fit(open_rows(folder / "parts", spool=False))
    assert len(spools) == 3


@pytest.fixture
def decoded(monkeypatch):
    """Collect the numbers of the files that are decoded."""
    files, decode = [], ParquetRows._batches

    def decoding(self, groups):
        files.append(int(self.name[-len("0.parquet")]))
        return decode(self, groups)

    monkeypatch.setattr(ParquetRows, "_batches", decoding)
    return files


@pytest.mark.slow
def test_how_often_files_are_decoded(X, folder, spools, decoded):
    def times():
        seen = [decoded.count(number) for number in range(3)]
        decoded.clear()
        assert len(set(seen)) == 1
        return seen[0]

    rows = open_rows(folder / "parts")
    # A default fit reads a sample and makes two passes: a spool would cost more.
    model = DSWL(3).fit(rows)
    assert times() == 3 and not spools
    # An iterative fit is worth a spool.
    iterating = METHODS["l2p-pca"](3).fit(rows)
    assert iterating.n_iter_ > 5
    assert times() == 4 and [file.closed for file in spools] == [True]
    for ask in (model.predict, model.transform, model.distances):
        ask(rows)
        assert times() == 1 and len(spools) == 1
    with rows:
        for _ in range(3):
            model.predict(rows)
            assert times() == 1 and len(spools) == 1
        model.predict(rows)
        assert times() == 1 and len(spools) == 2
        model.fit(rows)
        assert times() == 0 and len(spools) == 2
    model.predict(rows)  # the count of reads starts again
    assert times() == 1 and [file.closed for file in spools] == [True] * 2
    METHODS["l2p-pca"](3).fit(open_rows(folder / "parts", spool=False))
    assert times() > 5 and len(spools) == 2


def test_decoding_is_bitwise_the_same_for_any_batch_size(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((5000, 6)) * 10.0 ** rng.integers(-300, 300, (5000, 6))
    X[::7] = -0.0
    write_parquet(tmp_path / "x.parquet", X, NAMES[:6], row_group_size=1700)
    spread = rng.permutation(5000)[:300]
    for bytes_ in (1, 10_000, 1 << 24):
        monkeypatch.setattr(parquet_rows, "BATCH_BYTES", bytes_)
        rows = open_rows(tmp_path / "x.parquet", spool=False)
        with open_rows(tmp_path / "x.parquet") as spooled:
            for _ in range(spool.FREE_READS + 2):
                read = np.vstack([block.copy() for _, block in spooled.blocks()])
                assert read.tobytes() == X.tobytes()
            for index in (spread, np.arange(1600, 3500), np.array([3, 3, 4, 6, 6])):
                for source in (rows, spooled):
                    assert source.take(index).tobytes() == X[index].tobytes()


@pytest.mark.parametrize("what", [KeyboardInterrupt, ValueError])
def test_spool_is_removed_after_an_error(what, folder, spools, at_once, monkeypatch):
    def fail(*args, **options):
        assert not spools[0].closed
        raise what("stop")

    monkeypatch.setattr("trueaxis.base.fit_with", fail)
    with pytest.raises(what):
        DSWL(3).fit(folder / "parts")
    assert [file.closed for file in spools] == [True]


def test_spool_is_removed_after_an_error_while_writing(X, tmp_path, spools, at_once):
    path = tmp_path / "x.parquet"
    write_parquet(path, X)
    raw = bytearray(path.read_bytes())
    raw[3000:9000] = os.urandom(6000)
    path.write_bytes(raw)  # what the file says about its rows is intact
    rows = open_rows(path)
    with pytest.raises(SourceError, match="Reading .*x.parquet, row group 0, failed"):
        DSWL(3).fit(rows)
    assert [file.closed for file in spools] == [True]


def test_too_little_disk_space_is_reported(folder, monkeypatch, spools, at_once):
    usage = spool.shutil.disk_usage("/")._replace(free=1000)
    monkeypatch.setattr(spool.shutil, "disk_usage", lambda folder: usage)
    with pytest.raises(
        SourceError, match="1.4 MB in .*1.0 kB left.*TMPDIR.*spool=False"
    ):
        DSWL(3).fit(folder / "parts")
    assert not spools


def test_full_disk_is_reported(folder, monkeypatch, at_once):
    class Full:
        closed = False

        def fileno(self):
            raise OSError(95, "Operation not supported")  # by this disk

        def write(self, view):
            raise OSError(28, "No space left on device")

        def close(self):
            self.closed = True

    full = Full()
    with monkeypatch.context() as patch:
        patch.setattr(spool.tempfile, "TemporaryFile", lambda **options: full)
        with pytest.raises(SourceError, match="No space left on device.*TMPDIR"):
            DSWL(3).fit(folder / "parts")
    assert full.closed

    def reserve(number, start, size):
        assert (start, size) == (0, N * D * 8)
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(spool.os, "posix_fallocate", reserve, raising=False)
    files = ParquetRows._batches
    monkeypatch.setattr(ParquetRows, "_batches", None)  # nothing must be decoded
    with pytest.raises(SourceError, match="1.4 MB .*No space left on device.*TMPDIR"):
        DSWL(3).fit(folder / "parts")
    monkeypatch.setattr(ParquetRows, "_batches", files)
    monkeypatch.delattr(spool.os, "posix_fallocate")  # other systems
    with open_rows(folder / "parts") as rows:
        np.testing.assert_array_equal(rows.take(np.arange(N)), rows.read())


SLOW = """
import sys, time
from trueaxis import DSWL
from trueaxis.data import spooled as spool
write = spool.SpooledRows._write

def slowly(self, file, folder):
    write(self, file, folder)
    print("spooled", flush=True)
    time.sleep(60)

spool.SpooledRows._write = slowly
spool.FREE_READS = 0
DSWL(3).fit(sys.argv[1])
"""


@pytest.mark.soak
@pytest.mark.parametrize("kill", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_stopped_process_leaves_no_file(kill, folder, tmp_path):
    environment = os.environ | {"TMPDIR": str(tmp_path)}
    process = subprocess.Popen(
        [sys.executable, "-c", SLOW, str(folder / "parts")],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert process.stdout.readline() == b"spooled\n"
    begin = time.monotonic()
    process.send_signal(kill)
    assert process.wait(30) != 0 and time.monotonic() - begin < 30
    process.stdout.close()
    assert list(tmp_path.iterdir()) == []


FORKED = """
import os, sys
import numpy as np
from trueaxis import open_rows
from trueaxis.data import spooled as spool
spool.FREE_READS = 0
X = np.load(sys.argv[1])
with open_rows(sys.argv[2], block_rows=10) as rows:
    rows.take(np.arange(3))
    children = []
    for _ in range(3):
        child = os.fork()
        if child == 0:
            for _ in range(20):
                read = np.vstack([block.copy() for _, block in rows.blocks()])
                if not np.array_equal(read, X):
                    os._exit(1)
            os._exit(0)
        children.append(child)
    sys.exit(max(os.waitpid(child, 0)[1] for child in children))
"""


@pytest.mark.soak
@pytest.mark.skipif(not hasattr(os, "fork"), reason="nothing is forked here")
def test_forked_processes_read_the_spool(folder):
    command = [sys.executable, "-c", FORKED, folder / "all.npy", folder / "parts"]
    assert subprocess.run(command, timeout=120).returncode == 0


@pytest.mark.slow
def test_threads_share_one_spool(X, folder, spools):
    rows = open_rows(folder / "parts")
    expected = METHODS["l2p-pca"](3).fit(X).components_
    found = []
    threads = [
        threading.Thread(
            target=lambda: found.append(METHODS["l2p-pca"](3).fit(rows).components_)
        )
        for _ in range(3)
    ]
    with rows:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert [file.closed for file in spools] == [False]
    assert spools[0].closed
    for components in found:
        np.testing.assert_allclose(components, expected, atol=1e-10)


def test_pickled_rows_leave_their_spool_behind(X, folder, at_once):
    with open_rows(folder / "parts") as rows:
        rows.take(np.arange(3))
        other = pickle.loads(pickle.dumps(rows))
    np.testing.assert_array_equal(other.take(np.arange(N)), X)
    other.close()


def test_missing_temporary_folder_is_reported(folder, at_once, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(folder / "gone"))
    with pytest.raises(SourceError, match="gone failed .*No such file.*TMPDIR"):
        DSWL(3).fit(folder / "parts")
