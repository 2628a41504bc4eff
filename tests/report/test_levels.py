"""What the slider shows is what the model says with its line drawn there."""

import copy

import numpy as np
import pytest
from small_tables import cloud, with_sides

from trueaxis import DSWL
from trueaxis.datasets import sensors
from trueaxis.diagnostics import diagnose
from trueaxis.diagnostics.outliers import kinds
from trueaxis.methods import PlainPCA
from trueaxis.report import analyze
from trueaxis.report.data import LEVELS, shown_rows
from trueaxis.report.sentences import describe_level


def alike():
    X = np.full((20, 4), 3.7)
    return analyze(DSWL(2).fit(X), np.vstack([X, X[:2] + 1]))


def grouped():
    X = cloud(share=0.1).X
    return analyze(with_sides(PlainPCA(2).fit(X), X), X)


def sensed(**line):
    X = sensors().X
    return analyze(DSWL(2, **line).fit(X), X)


CASES = {
    "level": sensed,
    "own level": lambda: sensed(level=0.03),
    "contamination": lambda: sensed(contamination=0.1),
    "groups": grouped,
    "alike": alike,
}


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_every_stop_is_the_model_with_its_threshold_there(case):
    found = CASES[case]()
    levels, own = shown_rows(found), found.diagnosis
    assert levels.stops[levels.own].level == own.level
    assert (np.diff([stop.level for stop in levels.stops]) > 0).all()
    assert {*LEVELS} <= {round(stop.level, 9) for stop in levels.stops}
    for i, stop in enumerate(levels.stops):
        moved = copy.copy(found.model)
        if i != levels.own:
            moved._set_threshold(np.log10(stop.level))
        d = diagnose(moved, found.X)
        np.testing.assert_array_equal(kinds(*(levels.beyond <= i)), d.kind)
        flagged = d.flagged[levels.listed]
        np.testing.assert_array_equal(levels.first_flagged() <= i, flagged)
        assert stop.counts == d.counts()
        score, off, group = stop.lines
        for line, unit, cut in zip((score, off), own.cutoffs, d.cutoffs, strict=True):
            assert unit < 1e-100 or line * unit == pytest.approx(cut)
        np.testing.assert_allclose(d.ratios[2] * group, own.ratios[2], rtol=1e-9)


def test_small_levels_are_one_in_many():
    assert describe_level(0.001).startswith("At level 0.001, 0.1 % of regular rows are")
    assert describe_level(1e-5) == (
        "At level 1e-05, one in 100,000 regular rows is flagged, too."
    )
