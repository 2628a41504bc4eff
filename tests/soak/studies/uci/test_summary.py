"""Summary of the UCI study, and verdicts on it."""

import itertools

import numpy as np
import pytest
from scipy import stats

from studies.data import UCI
from studies.methods import NAMES, OTHERS
from studies.study import Results, TaskOutcome
from studies.uci import summary as uci_summary
from studies.uci.printed import KS, METHODS, TABLE
from studies.uci.study import ORACLE


def test_printed_table_gives_the_printed_gains():
    assert tuple(TABLE) == UCI and len(METHODS) == 5
    gain = uci_summary.printed_gain(UCI)
    np.testing.assert_allclose(gain, [3.3, 1.2, 1.6], atol=0.05)


def test_summary_is_the_mean_over_folds():
    rng = np.random.default_rng(0)
    other = dict.fromkeys(("angle", "lost", "mean_error", "accuracy_training_only"), 1)
    places = itertools.product(("wine", "zoo"), range(6), KS, (*NAMES, ORACLE))
    rows = [
        {"set": name, "seed": seed, "fold": 0, "k": k, "method": method, **other}
        | {"accuracy": 60 + rng.normal(), "converged": True}
        for name, seed, k, method in places
    ]
    results = Results({("all",): TaskOutcome(rows)})
    summary = uci_summary.UciSummary.of(results)
    rows = results.where(set="zoo", k=3, method="RPCA-DI")
    values = [row["accuracy"] for row in rows]
    assert summary.mean("accuracy", "RPCA-DI")[1, 1] == pytest.approx(np.mean(values))
    error = stats.sem(values)
    assert summary.error("accuracy", "RPCA-DI")[1, 1] == pytest.approx(error)
    assert len(OTHERS) == 6
