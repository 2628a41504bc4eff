"""DSWL reads any source of rows, each pass once."""

import numpy as np
import pytest
from streamed import Streamed

from trueaxis.core.problem import Problem
from trueaxis.core.recipes import fit_with
from trueaxis.data.rows import ArrayRows
from trueaxis.datasets import planted
from trueaxis.dswl.full_fit import DSWLRecipe


def fitted(rows, counts=None, **options):
    chosen = {"trust": 0.5, "tau": None, "init": "auto", "reweight": True} | options
    problem = Problem(rows, counts, np.random.default_rng(0))
    return fit_with(DSWLRecipe(**chosen, max_iter=200, tol=1e-6), problem, 3)


@pytest.mark.slow
@pytest.mark.parametrize("n", [800, 4500])
@pytest.mark.parametrize(
    "options",
    [{}, {"reweight": False}, {"init": "uniform", "tau": (0.3, 0.05, 0.2)}],
)
def test_a_streamed_source_gives_the_same_answer(n, options):
    X = planted("ocs", n=n, share=0.2).X
    counts = 1.0 + (np.arange(n) % 3 == 0)
    one = fitted(ArrayRows(X), counts, **options)
    two = fitted(Streamed(X), counts, **options)
    np.testing.assert_allclose(
        one.verdicts.subspace.basis, two.verdicts.subspace.basis, atol=1e-10
    )
    np.testing.assert_allclose(one.found.weights, two.found.weights, atol=1e-8)
    for which in ("score", "orthogonal"):
        tails = [getattr(fit.verdicts.law, which) for fit in (one, two)]
        np.testing.assert_allclose(*tails, rtol=1e-6, atol=1e-9)


@pytest.mark.slow
def test_a_large_fit_reads_all_rows_a_few_times():
    rows = Streamed(planted("ocs", n=9000, share=0.2).X)
    fitted(rows)
    # the sample, the weights, the subspace, the verdicts, and a group apart
    assert rows.reads <= 5
