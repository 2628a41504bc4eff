"""Control of false discoveries, on p-values made by hand."""

import numpy as np
import pytest
from small_tables import cloud

from trueaxis.diagnostics.discoveries import discovery_line
from trueaxis.methods import PlainPCA


@pytest.mark.parametrize(
    ("p", "discoveries"),
    [
        ([0.024, 0.9, 0.9, 0.9], 1),
        ([0.026, 0.9, 0.9, 0.9], 0),
        # The third is below its line, so those before it are discoveries as well.
        ([0.03, 0.06, 0.07, 0.9], 3),
        ([0.07, 0.9, 0.03, 0.06], 3),
        ([0.1, 0.1, 0.1, 0.1], 4),
        ([1.0, 1.0, 1.0, 1.0], 0),
        ([1e-300, 1e-300, 0.06, 0.9], 3),
        ([0.099], 1),
        ([], 0),
    ],
    ids=str,
)
def test_the_line_lies_between_the_last_discovery_and_the_next_row(p, discoveries):
    line = discovery_line(np.log(p), 0.1)
    assert (np.log(p) <= line).sum() == discoveries
    assert np.exp(line) == pytest.approx(
        0.1 * max(discoveries, 1) / max(len(p), 1), rel=1e-12
    )


def test_p_values_that_underflow_are_discoveries():
    assert (np.array([-1e4, -1e3, -0.1]) <= discovery_line([-1e4, -1e3, -0.1], 0.1))[
        :2
    ].all()


@pytest.mark.slow
def test_the_rate_is_kept():
    rng = np.random.default_rng(0)
    rates = []
    for _ in range(400):
        p = np.r_[rng.uniform(size=160), rng.uniform(size=40) ** 8]
        found = np.log(p) <= discovery_line(np.log(p), 0.2)
        rates.append(found[:160].sum() / max(found.sum(), 1))
    assert 0.13 < np.mean(rates) < 0.19  # 0.2 times the share of regular rows


@pytest.mark.parametrize("fdr", [0, 1, -0.1, 1.5, "0.1", True, np.nan])
def test_other_rates_are_refused(fdr):
    with pytest.raises(ValueError, match="is not a false discovery rate.*0 and 1"):
        discovery_line(np.zeros(3), fdr)
    X = cloud().X
    with pytest.raises(ValueError, match="is not a false discovery rate"):
        PlainPCA(2).fit(X).outliers(X, fdr=fdr)
