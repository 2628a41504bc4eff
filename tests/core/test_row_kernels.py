"""Kernels applied to parts of the rows and merged give the result for all rows."""

import pickle
from itertools import pairwise

import cloudpickle
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trueaxis.core.kernels import DistanceKernel, MomentKernel, RowWeights
from trueaxis.core.law import Cuts, Law, Sides, Tail
from trueaxis.core.moments import Moments, Scratch
from trueaxis.core.starts import equal_weights
from trueaxis.core.subspace import ScatterKernel
from trueaxis.core.verdicts import (
    LogSum,
    LogWeightKernel,
    PValueKernel,
    ReweightKernel,
    SupportKernel,
)
from trueaxis.data.rows import ArrayRows
from trueaxis.data.transformed import RangeKernel, ValueCheck
from trueaxis.dswl.plan import EntropyRule
from trueaxis.methods.signs import PowerPull, Pull


def kernels_of_every_kind():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((230, 6)) * [4, 3, 1, 1, 1, 1]
    counts = rng.integers(0, 3, 230).astype(float)
    sub = equal_weights(ArrayRows(X), 2)
    rule, cuts = EntropyRule(3.0, 2.0, 4.0), Cuts(4.0, 5.0)
    apart = Sides(np.array([[1.0, 0, 0.5, 0, 0, 0]]), np.zeros(1), np.full(1, 2.0))
    law = Law(Tail(0.7, 1.0, 0.9), Tail(1.1, 0.7, -0.3), apart)
    roll = counts
    sweep = DistanceKernel(sub, lambda v, e, s: RowWeights(-v, e < 4.0), roll)
    kernels = {
        "sweep": sweep,
        "gather": MomentKernel(sub.mean, -rng.random(230), counts),
        "log-weights": LogWeightKernel(sub, rule, roll),
        "within": SupportKernel(sub, cuts, apart),
        "p-values": PValueKernel(sub, law),
        "reweight": ReweightKernel(sub, rule, sub, cuts, roll, apart),
        "scatter": ScatterKernel(sub.mean, counts, np.eye(6, 3)),
        "pull": PowerPull(sub, 1.5, 0.0, counts),
        "range": RangeKernel(ValueCheck(ArrayRows(X).place, None)),
    }
    return X, kernels


def numbers_in(state):
    """Return all numbers of a nested state."""
    if isinstance(state, Moments):
        if state.is_empty():
            return []
        scale = np.exp(state.log_scale)
        found = [scale * state.weight, scale**2 * state.squares]
        found += [*(scale * state.first), *(scale * np.triu(state.second)).ravel()]
        return found
    if isinstance(state, LogSum):
        return [state.log_total(), state.perplexity()] if state.total else []
    if isinstance(state, Pull):
        state = (state.value, state.slope, state.level)
    if isinstance(state, (tuple, list)):
        return [number for part in state for number in numbers_in(part)]
    if state is None or isinstance(state, Scratch):
        return []
    return np.asarray(state, dtype=float).ravel().tolist()


@pytest.mark.parametrize("kind", sorted(kernels_of_every_kind()[1]))
@given(cuts=st.lists(st.integers(0, 230), max_size=6))
@settings(max_examples=15, deadline=None)
def test_merged_parts_equal_the_whole(kind, cuts):
    X, kernels = kernels_of_every_kind()
    kernel = kernels[kind]
    record, state = ArrayRows(X).scan(kernel)
    edges = [0, *sorted(cuts), len(X)]
    records, total = [], kernel.part(0, 0).start()
    for first, last in pairwise(edges):
        part = pickle.loads(cloudpickle.dumps(kernel.part(first, last - first)))
        one, other = ArrayRows(X[first:last]).scan(part)
        before = numbers_in(other)
        total = kernel.part(0, 0).merge(total, other)
        assert numbers_in(other) == before  # the argument is not modified
        records.append(one)
    np.testing.assert_allclose(np.hstack(records), record, rtol=1e-12)
    np.testing.assert_allclose(numbers_in(total), numbers_in(state), rtol=1e-9)


def test_log_sums_of_parts_equal_those_of_the_whole():
    rng = np.random.default_rng(0)
    x = rng.normal(-2_000.0, 300.0, 500)  # whose weights are below the smallest float
    x[::7] = -np.inf
    counts = rng.integers(0, 3, 500).astype(float)
    found = LogSum()
    for part in np.array_split(np.arange(500), 9):
        one = LogSum()
        one.add(x[part], counts[part])
        found += one
    top = x[counts > 0].max()
    w = counts * np.exp(x - top)
    p = w[w > 0] / w.sum()
    per_copy = (np.exp(x - top) / w.sum())[w > 0]
    assert found.log_total() == pytest.approx(top + np.log(w.sum()), rel=1e-12)
    entropy = -(p * np.log(per_copy)).sum()
    assert found.perplexity() == pytest.approx(np.exp(entropy), rel=1e-9)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_one_pass_weights_and_sums_as_two_do(dtype, weighted):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((230, 6)) * [4, 3, 1, 1, 1, 1]
    X[:5, 2:] *= 1e-9  # next to the subspace
    X = X.astype(dtype)
    X[7] = np.resize([1e300, -1.7e308] if dtype == np.float64 else [3e38, -3e38], 6)
    counts = rng.integers(0, 3, 230).astype(float) if weighted else None
    rows, roll = ArrayRows(X, 50), counts
    one, two = (equal_weights(ArrayRows(X[i:120]), 2) for i in (10, 60))
    rule, cuts = EntropyRule(3.0, 2.0, 4.0), Cuts(6.0, 5.0)
    apart = Sides(np.array([[1.0, 0, 0.5, 0, 0, 0]]), np.zeros(1), np.full(1, 4.0))
    (x,), (sums, total) = rows.scan(ReweightKernel(one, rule, two, cuts, roll, apart))
    far = apart(X)
    assert far.any() and (x[far] == -np.inf).all()
    (expected,), _ = rows.scan(LogWeightKernel(one, rule, roll))
    rtol = 1e-10 if dtype == np.float64 else 1e-3
    np.testing.assert_allclose(x[~far], expected[~far], rtol=rtol, atol=rtol)
    kept = rows.scan(SupportKernel(two, cuts))[0][0] & ~far
    weights = kept * (1.0 if counts is None else counts)
    some = weights > 0
    mean = np.average(X[some].astype(float), axis=0, weights=weights[some])
    np.testing.assert_allclose(sums.moments.mean(), mean, rtol=rtol, atol=rtol)
    assert np.exp(sums.moments.log_weight()) == pytest.approx(weights.sum())
    assert total.log_total() == pytest.approx(np.logaddexp.reduce(x), rel=rtol)
