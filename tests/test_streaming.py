"""Nothing but `Rows` knows where the data live, and each pass reads them once."""

import numpy as np
import pytest
from streamed import Streamed

from trueaxis._engine.dswl.fit import Fitting
from trueaxis._engine.dswl.stages import Plan
from trueaxis._engine.dswl.temperatures import Temperatures
from trueaxis._engine.iterate import iterate
from trueaxis._engine.problem import Problem
from trueaxis._engine.reweighted import ReweightedStep
from trueaxis._engine.rules.base import EntropyRule, TrustRule
from trueaxis._engine.starts import equal_weights
from trueaxis._rows.base import ArrayRows
from trueaxis.datasets import planted


def fitted(rows, counts=None, **options):
    plan = Plan(3, 0.5, options.pop("temperatures", None), 200, 1e-6)
    options = {"uniform": False, "reweight": True} | options
    problem = Problem(rows, counts, np.random.default_rng(0))
    return Fitting(problem, plan, **options).at(3)


@pytest.mark.parametrize("n", [800, 4500])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"reweight": False},
        {"uniform": True, "temperatures": Temperatures(400.0, 60.0, 300.0)},
    ],
)
def test_a_streamed_source_gives_the_same_answer(n, options):
    X = planted("ocs", n=n, share=0.2).X
    counts = 1.0 + (np.arange(n) % 3 == 0)
    one = fitted(ArrayRows(X), counts, **dict(options))
    two = fitted(Streamed(X), counts, **dict(options))
    np.testing.assert_allclose(one.subspace.basis, two.subspace.basis, atol=1e-10)
    np.testing.assert_allclose(one.weighed.weights, two.weighed.weights, atol=1e-8)
    np.testing.assert_array_equal(one.judged.support, two.judged.support)


def test_a_row_local_rule_reads_the_data_once_per_iteration():
    X = planted("ocs", n=900, share=0.2).X
    rows = Streamed(X)
    start = equal_weights(ArrayRows(X), 3)
    step = ReweightedStep(rows, EntropyRule(400.0, 60.0, 300.0))
    result = iterate(step, start, max_iter=50, tol=1e-6)
    assert rows.reads == result.n_iter > 2
    rows.reads = 0
    ReweightedStep(rows, TrustRule(0.5))(start)
    assert rows.reads == 2  # the temperatures need all rows first


def test_a_large_fit_reads_all_rows_a_few_times():
    rows = Streamed(planted("ocs", n=9000, share=0.2).X)
    fitted(rows)
    # the sample, the weights, the subspace, the verdicts, and a group apart
    assert rows.reads <= 5
