"""Drawings of the report: names in any script, and names that are none."""

import numpy as np
import pandas as pd
import pytest
from saved_models import rows

from trueaxis import DSWL
from trueaxis.plots import CellMapDisplay, ContributionsDisplay
from trueaxis.report.figures import _drawing

NAMES = {
    "another script": "\u957f\u5ea6",
    "a control character": "a\0b\x1b[31m",
    "half a character": "\ud800",
    "a formula": r"$\frac{",
    "markup": "</svg><script>alert(1)</script>",
    "very long": "x" * 100_000,
}


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_names_of_any_kind_are_drawn_without_a_warning(name):
    text = NAMES[name]
    frame = pd.DataFrame(rows()[:, :3])
    frame.columns = pd.Index([text, text + "2", "c"], dtype=object)
    frame.index = pd.Index([f"{text}{i}" for i in range(len(frame))], dtype=object)
    model = DSWL(2, cells=True).fit(frame)
    worst = int(np.argmin(model.score_samples(frame)))
    for display in (
        CellMapDisplay.from_estimator(model, frame),
        ContributionsDisplay.from_estimator(model, frame, worst),
    ):
        drawing = _drawing(display.plot, "one", False)
        assert "<script" not in drawing.svg and "\0" not in drawing.svg
        assert len(drawing.svg) < 500_000 and len(drawing.title) < 500
        drawing.svg.encode("utf-8")
    assert len(model.summary(frame)) < 5000 and "\x1b" not in model.summary(frame)
