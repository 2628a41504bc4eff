"""Verdicts on toy data."""

import pytest

from studies.methods import AUTOMATIC
from studies.significance import FAILS, HOLDS, UNCLEAR
from studies.toy import page as toy_page
from tests.soak.studies.study_results import toy_results


@pytest.mark.slow
def test_verdicts_on_toy_data_follow_the_results():
    good, bad = (
        {v.claim: v.verdict for v in toy_page.verdicts(toy_results(best))}
        for best in (AUTOMATIC, "RPCA-DI")
    )
    ours = [claim for claim in good if AUTOMATIC in claim]
    assert len(ours) == 7
    for claim in ours:
        assert good[claim] == HOLDS
        # RPCA-DI being better than all says nothing about RPCA-OM.
        assert bad[claim] == (UNCLEAR if "RPCA-OM" in claim else FAILS)
    second = [claim for claim in good if "second-best" in claim]
    assert {bad[claim] for claim in second} == {HOLDS}
    assert {good[claim] for claim in second} == {UNCLEAR}


@pytest.mark.slow
def test_overlap_and_deviation_on_toy_data_follow_the_results():
    results = toy_results(AUTOMATIC)
    before = [v.verdict for v in toy_page.verdicts(results)[:3]]
    for row in results.where(method="PCA-L1"):
        row["angle"] += 5
    after = [v.verdict for v in toy_page.verdicts(results)[:3]]
    assert before == [HOLDS, HOLDS, FAILS]
    assert after == [FAILS, HOLDS, HOLDS]
