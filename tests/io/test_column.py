"""What is noticed about columns before they are analyzed."""

import numpy as np
import pytest

from trueaxis._columns import (
    Column,
    examine,
)
from trueaxis.io.text import floats_of_arrow

N = 30
RNG = np.random.default_rng(0)


def number(name, values):
    return Column(name, "number", np.asarray(values, dtype=float))


def text(name, values):
    return Column(name, "text", np.array(list(values), dtype=object))


@pytest.mark.parametrize(
    ("column", "reason"),
    [
        (number("anything", range(1, 1 + N)), "counts the rows"),
        (number("row", range(3)), "counts the rows"),
        (number("pump_id", RNG.permutation(1000)[:N]), "distinct numbers that name"),
        (number("serial", 1e6 + 7 * np.arange(N)), "distinct numbers that name"),
        (number("flow", np.full(N, np.nan)), "empty"),
        (
            Column("when", "calendar", np.full(N, "2024-01-01", dtype=object)),
            "calendar",
        ),
        (text("site", "ab" * 15), "text"),
    ],
)
def test_what_is_left_out(column, reason):
    assert examine([column]).left_out[column.name].startswith(reason)
    if column.kind == "number":  # unless it was asked for
        assert not examine([column], [column.name]).left_out


@pytest.mark.parametrize(
    "column",
    [
        number("dose", [1, 2, 3, 4, 5]),  # levels of an experiment
        number("count", 2 * np.arange(N)),
        number("id", [1.5, 2, 3]),
        number("id", [7, 7, 8]),
        number("humidity", RNG.permutation(N)),
        number("flow", [np.nan, *range(N)]),
        number("wide", np.arange(N)[::-1]),
        number("height", np.arange(58, 58 + N)),
        number("smoking_no", [7, 3, 9, 12]),
        number("atomic_number", RNG.permutation(100)[:N]),
    ],
)
def test_what_is_kept(column):
    assert examine([column]) == ({}, [])


def test_remarks():
    a = RNG.standard_normal(N)
    a[3] = np.nan
    found = examine(
        [
            number("a", a),
            number("b", a.copy()),
            number("c", np.full(N, 3.0)),
            number("d", np.full(N, 0.0)),
            number("year", RNG.integers(1990, 2020, N)),
            number("like a at first", np.append(a[:-1], 7.0)),
        ]
    )
    assert not found.left_out
    assert found.remarks == [
        "Column 'b' is the same as 'a', so that it counts twice.",
        "Columns 'c', 'd' are constant and cannot say anything about the rows.",
        "Column 'year' seems to be a date or time, and is analyzed as a number: --drop "
        "it if that is not meant.",
    ]


@pytest.mark.parametrize(
    "cells",
    [
        [1.5, -2.0, 0.0],
        [1.5, None, 3.0, None],
        [None, 2**53 + 1, -(2**62) - 1],
        [True, False, None],
        [None, None],
        [],
    ],
)
@pytest.mark.parametrize("first", [0, 1])
def test_numbers_of_pyarrow_are_those_of_to_numpy(cells, first):
    pyarrow = pytest.importorskip("pyarrow")
    kind = None if any(x is not None for x in cells) else pyarrow.float64()
    array = pyarrow.array(cells, kind)[first:]
    expected = np.array(array.to_numpy(zero_copy_only=False), dtype=float)
    np.testing.assert_array_equal(floats_of_arrow(array), expected)


def test_columns_that_begin_alike_are_not_compared_pair_by_pair(monkeypatch):
    rng = np.random.default_rng(0)
    X = np.zeros((400, 3000))
    X[rng.integers(200, 400, 3000), np.arange(3000)] = rng.standard_normal(3000)
    X[:, 2999] = -0.0
    X[300, [1000, 2999]] = 7.0
    X[:300, 1000] = X[301:, 1000] = 0.0
    compared, equal = [], np.array_equal
    monkeypatch.setattr(
        np, "array_equal", lambda *a, **b: compared.append(a) or equal(*a, **b)
    )
    found = examine([Column(f"c{j}", "number", X[:, j]) for j in range(3000)])
    assert len(compared) == 1
    assert found.remarks == [
        "Column 'c2999' is the same as 'c1000', so that it counts twice."
    ]
