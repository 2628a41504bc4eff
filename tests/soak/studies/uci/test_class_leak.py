"""BUPA with its class among the features."""

import pytest

from studies.uci import page as uci_page
from studies.uci.printed import KS, METHODS, TABLE
from studies.uci.study import UciStudy
from tests.soak.studies.study_results import uci_results


@pytest.mark.slow
def test_page_says_how_far_the_leak_explains_bupa(fewer_draws):
    results = uci_results(0, sets=("wine", "bupa", "bupa_leak"))
    for row in results.where(set="bupa_leak"):
        # As printed, but for one method with one component.
        if row["method"] in METHODS:
            place = METHODS.index(row["method"]), KS.index(row["k"])
            row["accuracy"] = TABLE["bupa"][place[0]][place[1]]
    for row in results.where(set="bupa_leak", method="RPCA-DI", k=1):
        row["accuracy"] += 20
    text = uci_page.section(UciStudy(), results)
    assert "from the printed number with the leak: RPCA-DI at k = 1 (+20)." in text
    assert "| with the class as a feature | 4.0 | 0.0 | 0.0 |" in text
