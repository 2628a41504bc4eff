"""Code that repeats the analysis."""

import numpy as np
import pytest
from report_pages import page_text

from trueaxis.io import Choice
from trueaxis.report.snippet import Origin


@pytest.mark.slow
def test_the_code_to_repeat_the_fit_runs(pump, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    header = ",".join(pump.names)
    np.savetxt("pump.csv", pump.raw, delimiter=",", header=header, comments="")
    names = {}
    origin = Origin.table("pump.csv", Choice())
    exec(page_text(pump, origin=origin)["repeat"]["code"], names)
    assert "X = ...  # your 200 x 6 table" in page_text(pump)["repeat"]["code"]
    np.testing.assert_allclose(
        names["model"].components_, pump.model.components_, atol=1e-9
    )
