"""Summary of the UCI study, and verdicts on it."""

import numpy as np
import pytest
from scipy import stats

from studies.data import UCI
from studies.methods import AUTOMATIC, OTHERS
from studies.significance import FAILS, HOLDS
from studies.uci import summary as uci_summary
from studies.uci.printed import METHODS, TABLE
from tests.soak.studies.study_results import uci_results


def test_printed_table_gives_the_printed_gains():
    assert tuple(TABLE) == UCI and len(METHODS) == 5
    gain = uci_summary.printed_gain(UCI)
    np.testing.assert_allclose(gain, [3.3, 1.2, 1.6], atol=0.05)


def test_summary_is_the_mean_over_folds():
    results = uci_results(1, sets=("wine", "zoo"))
    summary = uci_summary.UciSummary.of(results)
    rows = results.where(set="zoo", k=3, method="RPCA-DI")
    values = [row["accuracy"] for row in rows]
    assert summary.mean("accuracy", "RPCA-DI")[1, 1] == pytest.approx(np.mean(values))
    error = stats.sem(values)
    assert summary.error("accuracy", "RPCA-DI")[1, 1] == pytest.approx(error)
    assert len(OTHERS) == 6


@pytest.mark.slow
def test_verdicts_on_uci_follow_the_results(fewer_draws):
    found = {}
    for lead in (5, -5, 0):
        summary = uci_summary.UciSummary.of(uci_results(lead))
        verdicts = uci_summary.verdicts(summary)
        found[lead] = {v.claim: v.verdict for v in verdicts if AUTOMATIC in v.claim}
    assert len(found[5]) == 9
    assert set(found[5].values()) == {HOLDS}
    assert set(found[-5].values()) == {FAILS}
    assert set(found[0].values()) != {HOLDS}
