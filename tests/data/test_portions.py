"""Passes in portions: the same bits for any number of threads, and for any source."""

import os
import signal
import threading
import time
import warnings

import dask.array as da
import numpy as np
import pytest
from pass_listener import Listener
from row_sources import Chunked, D, N, posix, write_parquet
from threadpoolctl import threadpool_info, threadpool_limits

from trueaxis import DSWL, open_rows
from trueaxis.data import parquet as parquet_rows
from trueaxis.data import portions, threads
from trueaxis.data import rows as base
from trueaxis.data.binary import BinaryRows
from trueaxis.data.checked import CheckedRows
from trueaxis.data.parquet import ParquetRows
from trueaxis.data.portions import (
    Portion,
    combine,
    has_portions,
    rows_per_portion,
    threads_for,
)
from trueaxis.data.progress import report_to
from trueaxis.data.rows import ArrayRows, Kernel, Rows
from trueaxis.data.stacked import StackedRows
from trueaxis.data.transformed import RowwiseRows, replace_uncounted
from trueaxis.methods import METHODS, PlainPCA

SOME_THREADS = (1, 2, 3, 5)


class SumKernel(Kernel):
    """Kernel whose sums depend on the order of the rows, with counts of rows."""

    n_fields, title = 2, "sums"

    def __init__(self, counts):
        self.counts, self.threads = counts, set()

    def start(self):
        return np.zeros((D, D)), [0]

    def absorb(self, state, block, first):
        counts = self.counts[first : first + len(block)]
        state[0][:] += (block.T * counts) @ block
        state[1][0] += len(block)
        self.threads.add(threading.current_thread())
        return np.stack([np.square(block).sum(axis=1), counts])

    def merge(self, state, other):
        return state[0] + other[0], [state[1][0] + other[1][0]]


@pytest.fixture
def portioned(monkeypatch):
    """Cut small tables into portions, too: a dozen of 768 rows."""
    monkeypatch.setattr(portions, "POOLED_BYTES", 1)
    monkeypatch.setattr(portions, "MIN_BLOCKS", 1)
    monkeypatch.setattr(portions, "ROWS_PER_COLUMN", 1)
    monkeypatch.setattr(base, "BLOCK_BYTES", 1)
    monkeypatch.setattr(parquet_rows, "BATCH_BYTES", 1 << 18)


@pytest.fixture
def pool(portioned, monkeypatch):
    """Choose the number of threads."""

    def choose(n):
        monkeypatch.setenv("TRUEAXIS_THREADS", str(n))

    choose(2)
    return choose


def running():
    return [t for t in threading.enumerate() if t.name.startswith("trueaxis")]


class Streamed(Rows):
    """Rows that overwrite each block by the next one."""

    def __init__(self, X):
        self.X, self.shape, self.dtype = X, X.shape, X.dtype

    def blocks(self):
        window = np.empty((700, self.shape[1]), self.dtype)
        for first in range(0, len(self.X), 700):
            block = window[: min(700, len(self.X) - first)]
            block[:] = self.X[first : first + 700]
            yield first, block
        window[:] = np.nan


class Halved:
    """Transform of each row on its own."""

    def __call__(self, block, where):
        return block / 2

    def part(self, first, n):
        return self


SOURCES = {
    "memory": lambda X, folder: ArrayRows(X),
    "Fortran order": lambda X, folder: ArrayRows(np.asfortranarray(X)),
    "float32": lambda X, folder: ArrayRows(X.astype(np.float32)),
    "memory map": lambda X, folder: open_rows(
        np.load(folder / "all.npy", mmap_mode="r")
    ),
    ".npy by column": lambda X, folder: open_rows(folder / "columns.npy"),
    ".npy, big-endian": lambda X, folder: open_rows(folder / "swapped.npy"),
    ".npy, float32": lambda X, folder: open_rows(folder / "single.npy"),
    ".npy, odd blocks": lambda X, folder: open_rows(folder / "all.npy", block_rows=777),
    "several .npy": lambda X, folder: open_rows(
        [folder / f"part-{number}.npy" for number in range(3)]
    ),
    "Parquet": lambda X, folder: open_rows(
        folder / "parts" / "part-1.parquet", spool=False
    ),
    "several Parquet": lambda X, folder: open_rows(folder / "parts", spool=False),
    "spool": lambda X, folder: open_rows(folder / "parts"),
    "stacked": lambda X, folder: StackedRows([ArrayRows(X), Streamed(X[:2000])]),
    "sliced": lambda X, folder: open_rows(Chunked(X)),
    "streamed": lambda X, folder: Streamed(X),
    "checked": lambda X, folder: CheckedRows(ArrayRows(X)),
    "transformed": lambda X, folder: RowwiseRows(CheckedRows(ArrayRows(X)), Halved()),
    "uncounted": lambda X, folder: replace_uncounted(ArrayRows(X), np.arange(N) % 2.0),
}


@pytest.mark.parametrize("name", SOURCES)
def test_any_number_of_threads_gives_the_same_bits(name, X, folder, pool, at_once):
    rows = SOURCES[name](X, folder)
    counts = np.random.default_rng(0).random(rows.shape[0])
    answers = set()
    for n in SOME_THREADS:
        pool(n)
        kernel = SumKernel(counts)
        record, (total, size) = rows.scan(kernel)
        halves = rows.map(lambda block: block[:, :3] / 2, 3)
        answers.add((record.tobytes(), total.tobytes(), halves.tobytes()))
        assert size == [rows.shape[0]]
        assert (threading.current_thread() in kernel.threads) == (n == 1)
        assert len(kernel.threads) <= n
    assert len(answers) == 1 and not running()
    # The same as with one state, up to rounding.
    whole = np.vstack([block.copy() for _, block in rows.blocks()])
    rtol = 1e-4 if rows.dtype == np.float32 else 1e-10
    np.testing.assert_allclose(total, (whole.T * counts) @ whole, rtol=rtol)
    np.testing.assert_array_equal(record[1], counts)
    np.testing.assert_allclose(record[0], np.square(whole).sum(axis=1), rtol=rtol)
    np.testing.assert_array_equal(halves, whole[:, :3] / 2)


def test_files_and_arrays_have_the_same_portions(X, folder, pool):
    kernel = SumKernel(np.ones(N))
    expected = ArrayRows(X).scan(kernel)[1][0].tobytes()
    for name in ("all.npy", "columns.npy", "swapped.npy"):
        assert open_rows(folder / name).scan(kernel)[1][0].tobytes() == expected


def fitted(model):
    values = vars(model)
    return {
        name: value.tobytes()
        for name, value in values.items()
        if isinstance(value, np.ndarray) and value.dtype != object
    }


@pytest.mark.soak
@pytest.mark.parametrize("weighted", [False, True])
def test_fits_are_bitwise_the_same(X, folder, pool, weighted):
    weights = np.random.default_rng(1).integers(0, 3, N) if weighted else None
    given = {
        "memory": X,
        "float32": X.astype(np.float32),
        "memory map": np.load(folder / "all.npy", mmap_mode="r"),
        "Parquet": folder / "parts",
        "several": [folder / f"part-{number}.npy" for number in range(3)],
    }
    for name, source in given.items():
        models = []
        for n in SOME_THREADS:
            pool(n)
            models.append(fitted(DSWL(3).fit(source, sample_weight=weights)))
        assert all(model == models[0] for model in models), name
        assert {"components_", "weights_", "support_", "mean_"} <= models[0].keys()


@pytest.mark.slow
@pytest.mark.parametrize("method", ["pca", "pca-l1", "l2p-pca", "r1-pca", "t-rpca"])
def test_other_methods_are_bitwise_the_same(X, pool, method):
    models = []
    for n in (1, 3):
        pool(n)
        model = METHODS[method](2).fit(X)
        models.append(fitted(model) | {"scores": model.score_samples(X).tobytes()})
    assert models[0] == models[1]


@pytest.mark.slow
def test_holes_and_wrong_cells_are_bitwise_the_same(X, pool):
    holes = X.copy()
    rng = np.random.default_rng(2)
    holes[rng.random(X.shape) < 0.01] = np.nan
    filled = []
    for n in (1, 3):
        pool(n)
        model = DSWL(3).fit(holes)
        filled.append((fitted(model), model.impute(holes).tobytes()))
    assert filled[0] == filled[1]


def test_small_and_wide_tables_have_one_state_and_no_threads(X, monkeypatch):
    monkeypatch.setattr(threads, "ThreadPoolExecutor", None)
    monkeypatch.setattr(threads, "_blas", None)  # nor is the BLAS asked
    monkeypatch.setenv("TRUEAXIS_THREADS", "2")
    DSWL(3).fit(X).predict(X)
    assert not has_portions((100_000, 10), np.dtype(float))
    assert not has_portions((100_000, 2_000), np.dtype(float))
    assert has_portions((100_000, 11), np.dtype(float))
    assert not has_portions((100_000, 11), np.dtype(np.float32))


def test_sizes_of_portions():
    float64, float32 = np.dtype(float), np.dtype(np.float32)
    for shape in ((1_000_000, 50), (20_000_000, 50), (400_000, 7), (30_000, 1000)):
        for dtype in (float64, float32):
            step = base.rows_per_block(shape, dtype)
            rows = rows_per_portion(shape, step)
            assert rows % step == 0 and rows >= 8 * shape[1]
            assert rows * shape[1] * dtype.itemsize <= 80e6
            assert -(-shape[0] // rows) >= 2


def test_threads_are_limited_by_portions_and_memory(monkeypatch):
    monkeypatch.setenv("TRUEAXIS_THREADS", "1000")
    assert threads_for((1_000_000, 50), 40_000, 1 << 20) == 25
    assert threads_for((10_000_000, 1000), 8000, 1 << 26) == 5
    assert threads_for((10_000_000, 1000), 8000, 1 << 30) == 1


def test_small_portions_are_combined():
    def portion(first, n):
        return Portion(n, lambda: iter([(first, np.full((n, 1), float(first)))]))

    given = [portion(first, 3) for first in range(0, 15, 3)] + [portion(15, 20)]
    found = list(combine(given, 8))
    assert [each.n for each in found] == [6, 6, 3, 20]
    assert [first for each in found for first, _ in each.read()] == [*range(0, 16, 3)]


def test_blas_has_one_thread_inside_and_its_own_limit_after(X, pool):
    def blas():
        return {
            each["num_threads"]
            for each in threadpool_info()
            if each["user_api"] == "blas"
        }

    seen = []
    for n in (1, 2):
        pool(n)
        with threadpool_limits(2, user_api="blas"):
            before = blas()
            ArrayRows(X).map(lambda block: seen.append(blas()) or block, D)
            assert blas() == before
    assert all(each == {1} for each in seen)


def test_threadpool_limits_are_respected(X, portioned, monkeypatch):
    monkeypatch.delenv("TRUEAXIS_THREADS", raising=False)
    kernel = SumKernel(np.ones(N))
    with threadpool_limits(1):
        ArrayRows(X).scan(kernel)
    assert kernel.threads == {threading.current_thread()}


def test_a_wrong_variable_is_refused(X, portioned, monkeypatch):
    monkeypatch.setenv("TRUEAXIS_THREADS", "many")
    with pytest.raises(ValueError, match="TRUEAXIS_THREADS is 'many'"):
        DSWL(3).fit(X)


@pytest.mark.parametrize("n", [1, 3])
def test_the_first_bad_cell_is_reported(X, folder, pool, tmp_path, n):
    pool(n)
    bad = X.copy()
    bad[[4321, 4330, 8000], 7] = np.inf
    np.save(tmp_path / "bad.npy", bad)
    write_parquet(tmp_path / "bad.parquet", bad)
    with pytest.raises(ValueError, match="infinity in row 4321, column 7 .*: 2"):
        DSWL(3).fit(bad)
    place = r"infinity in .*bad.npy, row 4,321, column 7"
    with pytest.raises(ValueError, match=place):
        PlainPCA(3).fit(tmp_path / "bad.npy")
    place = "infinity in .*bad.parquet, row group 6, row 121 .*, column 'x7'"
    with pytest.raises(ValueError, match=place):
        PlainPCA(3).fit(tmp_path / "bad.parquet")
    rows = CheckedRows(open_rows(tmp_path / "bad.npy"))
    for _ in range(2):  # it is not taken as checked after the error
        with pytest.raises(ValueError, match="row 4,321, column 7"):
            rows.scan(SumKernel(np.ones(N)))
    huge = X.copy()
    huge[6000, 2] = 1e200
    with pytest.raises(ValueError, match="overflow: row 6000 of X"):
        PlainPCA(3).fit(huge)
    assert not running()


def test_checked_rows_are_checked_once(X, pool, monkeypatch):
    rows, seen = CheckedRows(ArrayRows(X)), []
    check = CheckedRows._check

    def counting(self):
        seen.append(1)
        return check(self)

    monkeypatch.setattr(CheckedRows, "_check", counting)
    for _ in range(3):
        rows.scan(SumKernel(np.ones(N)))
    assert len(seen) == 1


@pytest.mark.parametrize("n", [1, 2])
def test_a_file_that_changes_during_a_pass_is_reported(X, pool, tmp_path, n):
    pool(n)
    path = tmp_path / "x.npy"
    np.save(path, X)
    rows = open_rows(path)

    def spoil(block):
        os.utime(path, ns=(1, 1))
        return block

    with pytest.raises(ValueError, match="has been modified since"):
        rows.map(spoil, D)


def test_warnings_are_not_turned_on_by_threads(X, pool):
    far = X.copy()
    far[5000] = 1e300  # its distance overflows
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        one = DSWL(3).fit(far)
        pool(1)
        assert fitted(one) == fitted(DSWL(3).fit(far))


@pytest.mark.slow
def test_progress_in_threads_is_complete(X, folder, pool, monkeypatch):
    monkeypatch.setattr(threads, "POLL", 0.001)
    for source in (folder / "all.npy", folder / "parts", Streamed(X)):
        listener = Listener()
        with report_to(listener):
            DSWL(3).fit(source)
        assert {"weights and subspace", "verdicts"} <= set(listener.titles)
        assert listener.complete()


class Interrupted(BinaryRows):
    """Rows that interrupt the process while they are read in a thread."""

    read, at = 0, 3

    def blocks_between(self, first, last):
        for block in super().blocks_between(first, last):
            Interrupted.read += 1
            if Interrupted.read == self.at:
                os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.01)
            yield block


@pytest.mark.soak
@posix
@pytest.mark.parametrize("n", [1, 2])
def test_an_interrupt_ends_all_threads(n, folder, pool):
    pool(n)
    rows = open_rows(folder / "all.npy")
    rows.__class__, Interrupted.read = Interrupted, 0
    with pytest.raises(KeyboardInterrupt):
        rows.scan(SumKernel(np.ones(N)))
    assert Interrupted.read <= 3 + 6 * n < 36
    assert not running()


def test_threads_of_a_user_may_fit_at_the_same_time(X, folder, pool):
    rows, found = open_rows(folder / "all.npy"), []
    expected = SumKernel(np.ones(N))
    total = rows.scan(expected)[1][0].tobytes()

    def scan():
        found.append(rows.scan(SumKernel(np.ones(N)))[1][0].tobytes())

    users = [threading.Thread(target=scan) for _ in range(4)]
    for user in users:
        user.start()
    for user in users:
        user.join()
    assert found == [total] * 4


@pytest.mark.dask
def test_blocks_of_dask_have_one_state_each(X, pool, monkeypatch):
    expected = open_rows(X).scan(SumKernel(np.ones(N)))[1][0]
    monkeypatch.setattr(threads, "ThreadPoolExecutor", None)
    lazy = open_rows(da.from_array(X, chunks=(3000, -1)))
    np.testing.assert_allclose(lazy.scan(SumKernel(np.ones(N)))[1][0], expected)


@pytest.mark.parametrize("n", [1, 2])
def test_parquet_is_decoded_once(X, folder, pool, monkeypatch, n):
    pool(n)
    passes, decode = [], ParquetRows._decode

    def decoding(self, file, groups):
        passes.append(parquet_rows.decodes_in_threads())
        return decode(self, file, groups)

    monkeypatch.setattr(ParquetRows, "_decode", decoding)
    rows = open_rows(folder / "parts", spool=False)
    rows.scan(SumKernel(np.ones(N)))
    assert passes == [n > 1] * 3
