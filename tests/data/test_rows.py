"""Blocks, passes and transforms of any rows, in one thread and in several."""

import numpy as np
import pytest
from engine_data import normal_cloud
from streamed import Streamed

from trueaxis import DSWL
from trueaxis.data import rows as rows_module
from trueaxis.data.open_rows import FileRows
from trueaxis.data.rows import ArrayRows, Kernel
from trueaxis.data.transformed import TransformedRows, replace_uncounted


class Sums(Kernel):
    """Sum of the rows, and the first cell of each as a record."""

    n_fields = 1

    def start(self):
        return []

    def absorb(self, state, block, first):
        state.append((first, len(block), block.sum(axis=0)))
        return block[:, 0]

    def merge(self, state, other):
        return state + other


def sources(X):
    half = len(X) // 2
    return {
        "array": ArrayRows(X),
        "small blocks": ArrayRows(X, block_rows=5),
        "streamed": Streamed(X),
        "stacked": FileRows([ArrayRows(X[:half]), ArrayRows(X[half:])]),
        "stacked, mixed": FileRows([Streamed(X[:half]), ArrayRows(X[half:])]),
        "wrapped": TransformedRows(ArrayRows(X), Doubled(0.5)),
    }


class Doubled:
    """Transform that multiplies by twice a factor."""

    def __init__(self, factor):
        self.factor = factor

    def __call__(self, block, where):
        return 2 * self.factor * block

    def part(self, first, n):
        return self


@pytest.mark.parametrize("name", sources(np.zeros((2, 2))))
def test_every_source_gives_all_rows_once_and_in_order(name):
    X = normal_cloud(n=1003)
    rows = sources(X)[name]
    blocks = list(rows.blocks())
    assert np.array_equal(np.vstack([block for _, block in blocks]), X)
    starts = np.cumsum([0, *(len(block) for _, block in blocks)])
    assert [first for first, _ in blocks] == starts[:-1].tolist()
    for index in ([1002, 3, 3, 0], [], [600]):
        index = np.array(index, dtype=int)
        assert np.array_equal(rows.take(index), X[index])
    assert np.array_equal(rows.read(), X)
    assert np.array_equal(rows.map(lambda block: block[:, :2] + 1, 2), X[:, :2] + 1)


@pytest.mark.parametrize("name", sources(np.zeros((2, 2))))
@pytest.mark.parametrize("threads", [1, 3])
def test_a_pass_in_threads_sees_what_a_pass_in_sequence_sees(
    name, threads, monkeypatch
):
    """Every row once, records in their places, states merged in order."""
    monkeypatch.setattr(rows_module, "n_threads", lambda: threads)
    monkeypatch.setattr(rows_module, "PORTION_BYTES", 1)
    monkeypatch.setattr(rows_module, "THREADED_BYTES", 1)
    monkeypatch.setattr(rows_module, "BLOCK_BYTES", 1)
    X = normal_cloud(n=20_003)
    (record,), state = sources(X)[name].scan(Sums())
    assert np.array_equal(record, X[:, 0])
    firsts, lengths, sums = zip(*state, strict=True)
    assert list(firsts) == np.cumsum([0, *lengths])[:-1].tolist()
    np.testing.assert_allclose(np.sum(sums, axis=0), X.sum(axis=0), atol=1e-10)


@pytest.mark.parametrize("threads", [2, 5])
def test_the_number_of_threads_does_not_change_the_model(threads, X, monkeypatch):
    many = np.tile(X, (6, 1))
    assert rows_module.is_threaded(many.shape, many.dtype)
    monkeypatch.setattr(rows_module, "n_threads", lambda: 1)
    expected = DSWL(3).fit(many)
    monkeypatch.setattr(rows_module, "n_threads", lambda: threads)
    for source in (many, Streamed(many)):
        model = DSWL(3).fit(source)
        np.testing.assert_allclose(
            model.components_, expected.components_, rtol=0, atol=1e-10
        )
        assert np.array_equal(model.support_, expected.support_)


def test_results_that_do_not_fit_into_memory_are_refused(monkeypatch):
    monkeypatch.setattr("trueaxis.data.memory.available_memory", lambda: 10_000)
    rows = Streamed(np.ones((2_000, 3)))
    with pytest.raises(MemoryError, match=r"Reading all 2,000 rows x 3 "):
        rows.read()
    with pytest.raises(MemoryError, match="Keeping 5 value.* takes 80.0 kB"):
        rows.map(lambda block: np.ones((len(block), 5)), 5)
    with pytest.raises(MemoryError, match=r"Keeping 1 value\(s\) per row for 2,000"):
        rows.scan(Sums())
    assert ArrayRows(rows.X).read().shape == (2_000, 3)  # is in memory already


def test_rows_without_weight_do_not_take_part():
    X = normal_cloud(n=50)
    X[7] = 1e300
    counts = np.ones(50)
    counts[7] = 0
    assert np.array_equal(replace_uncounted(ArrayRows(X), counts).read()[7], X[0])


def test_a_source_is_closed_when_the_last_with_ends():
    closed = []

    class Closing(Streamed):
        def close(self):
            closed.append(True)

    rows = TransformedRows(Closing(np.ones((3, 2))), Doubled(1.0))
    with rows, rows:
        pass
    assert closed == [True]
