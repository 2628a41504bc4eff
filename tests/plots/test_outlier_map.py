"""The map of distances, and the weights of rows."""

import numpy as np
import pytest
from rendering import texts
from small_tables import far_row, frame, small

from trueaxis import DSWL
from trueaxis.datasets import planted, sensors
from trueaxis.diagnostics import diagnose
from trueaxis.methods import METHODS, PCP
from trueaxis.plots import OutlierMapDisplay, WeightsDisplay
from trueaxis.plots.outlier_map import WITH_WEIGHTS


@pytest.mark.slow
def test_the_map_shows_the_diagnosis_and_labels_the_worst():
    X = frame()
    model = DSWL(2).fit(X)
    shown = OutlierMapDisplay.from_estimator(model, X, n_labels=3)
    found = diagnose(model, X)
    np.testing.assert_array_equal(shown.diagnosis.score, found.score)
    np.testing.assert_array_equal(shown.diagnosis.orthogonal, found.orthogonal)
    np.testing.assert_array_equal(shown.diagnosis.kind, found.kind)
    assert texts(shown) == list(model.outliers(X).row[:3])
    legend = [text.get_text() for text in shown.ax_.get_legend().get_texts()]
    counted = {kind: int((found.kind == kind).sum()) for kind in found.kind}
    assert sorted(legend) == sorted(f"{kind} ({n})" for kind, n in counted.items())
    drawn = np.vstack([points.get_offsets() for points in shown.ax_.collections])
    np.testing.assert_allclose(np.sort(drawn[:, 0]), np.sort(found.score))
    lines = [line.get_xydata() for line in shown.ax_.lines]
    assert lines[0][0, 0] == found.score_cutoff
    assert lines[1][0, 1] == found.orthogonal_cutoff


@pytest.mark.slow
def test_regular_rows_are_never_labelled():
    X = planted("none", n=60).X
    model = DSWL(3).fit(X)
    shown = OutlierMapDisplay.from_estimator(model, X, n_labels=60)
    assert len(texts(shown)) == (model.predict(X) == -1).sum()
    assert not texts(shown.plot(n_labels=0))


@pytest.mark.slow
def test_a_row_a_million_times_away_leaves_the_others_a_cloud():
    X = far_row()
    shown = OutlierMapDisplay.from_estimator(DSWL(2).fit(X), X)
    found, ax = shown.diagnosis, shown.ax_
    assert ax.get_xscale() == ax.get_yscale() == "symlog"
    shown.figure_.draw_without_rendering()
    points = ax.transData.transform(np.c_[found.score, found.orthogonal])
    place = ax.transAxes.inverted().transform(points)
    assert ((place >= 0) & (place <= 1)).all()
    regular = place[~found.flagged]
    assert (np.ptp(regular, axis=0) > 0.15).all()
    assert shown.plot(scale="linear").ax_.get_xscale() == "linear"


@pytest.mark.slow
def test_weights_are_those_of_the_model():
    X = sensors().X
    model = DSWL(2).fit(X)
    shown = WeightsDisplay.from_estimator(model, X)
    np.testing.assert_array_equal(shown.weights, model.weights_)
    drawn = np.vstack([points.get_offsets() for points in shown.ax_.collections])
    visible = model.weights_ > 1e-12 * model.weights_.max()
    bottom = shown.ax_.get_ylim()[0]
    expected = np.sort(np.where(visible, model.weights_, bottom))
    np.testing.assert_allclose(np.sort(drawn[:, 1]), expected)
    assert "9 of weight 0" in " ".join(texts(shown))


@pytest.mark.slow
def test_methods_without_weights_say_who_has_them():
    X = small()
    has = [name for name in METHODS if hasattr(METHODS[name](2).fit(X), "weights_")]
    assert has == list(WITH_WEIGHTS)
    with pytest.raises(TypeError, match="PCP has no weights_.*dswl"):
        WeightsDisplay.from_estimator(PCP(2).fit(X), X)
    with pytest.raises(ValueError, match="X has 5 rows.*weights of 60"):
        WeightsDisplay.from_estimator(DSWL(2).fit(X), X[:5])


@pytest.mark.slow
def test_the_line_of_equal_weights_is_in_view():
    weights = np.r_[np.full(30, 1 / 30), np.zeros(30)]
    shown = WeightsDisplay(weights, np.full(60, "regular")).plot()
    low, high = shown.ax_.get_ylim()
    assert low < 1 / 60 < high
