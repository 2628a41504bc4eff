"""The section of the page on UCI data sets."""

import pytest

from studies.uci import page as uci_page
from studies.uci.study import UciStudy
from tests.soak.studies.study_results import uci_results


@pytest.mark.slow
def test_page_names_what_beats_automatic_dswl(fewer_draws):
    ahead, behind = (
        uci_page.section(UciStudy(missing=("zoo",)), uci_results(lead))
        for lead in (5, -5)
    )
    assert "left out: zoo" in ahead
    assert "no method is better on average than automatic DSWL" in ahead
    assert "better on average than automatic DSWL: PCA by 5.0 points" in behind
    assert "k = 1: +5.0, reached" in ahead
    assert "k = 1: -5.0, not reached" in behind
