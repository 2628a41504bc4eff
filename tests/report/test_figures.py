"""Drawings of the report: names in any script, and names that are none."""

import numpy as np
import pandas as pd
import pytest
from saved_models import rows

from trueaxis import DSWL
from trueaxis.plots import CellMapDisplay, ContributionsDisplay
from trueaxis.report.figures import _drawing, _one_per_pixel

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


@pytest.mark.parametrize("scale", ["linear", "log"])
def test_points_are_dropped_only_beside_others(scale):
    from matplotlib.figure import Figure

    ax = Figure(dpi=50).subplots()
    ax.set_yscale(scale)
    y = np.sort(np.random.default_rng(0).lognormal(size=20_000))
    points = ax.scatter(np.arange(len(y)), y).get_offsets()
    kept = _one_per_pixel(ax, points)
    assert 300 < len(kept) < 5000
    places, drawn = (ax.transData.transform(each) for each in (points, kept))
    gap = np.abs(
        places[:, None]
        - drawn[
            np.searchsorted(drawn[:, 0], places[:, 0]).clip(1, len(drawn) - 1)[:, None]
            - [0, 1]
        ]
    )
    assert gap.max(axis=2).min(axis=1).max() <= 0.5
