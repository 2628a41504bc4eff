"""All displays: what they show, for every method and table; given axes; refusals."""

import sys

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.figure import Figure
from rendering import rendered, texts
from scipy.stats import chi2
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from small_tables import exact_plane, far_row, frame, many_columns, small

from trueaxis import DSWL, ColumnScaler
from trueaxis.datasets import planted
from trueaxis.diagnostics import diagnose
from trueaxis.methods import PlainPCA
from trueaxis.plots import (
    CellMapDisplay,
    OutlierMapDisplay,
    ScoresDisplay,
)

OF_ROWS = (OutlierMapDisplay, ScoresDisplay)


def draw_all(model, X, ax=lambda: None):
    """Every display that is for this model, as it is drawn with defaults."""
    for display in OF_ROWS:
        yield display.from_estimator(model, X, ax=ax())
    if isinstance(getattr(model, "steps", [("", model)])[-1][1], DSWL):
        yield CellMapDisplay.from_estimator(model, X, ax=ax())


# ---------------------------------------------------------------- what is shown


def test_the_map_shows_the_diagnosis_and_labels_the_worst():
    X = frame()
    model = DSWL(2).fit(X)
    shown = OutlierMapDisplay.from_estimator(model, X, n_labels=3)
    found = diagnose(model, X)
    assert texts(shown) == list(model.outliers(X).row[:3])
    legend = [text.get_text() for text in shown.ax_.get_legend().get_texts()]
    assert legend == [f"{kind} ({n})" for kind, n in found.counts().items()]
    drawn = np.vstack([points.get_offsets() for points in shown.ax_.collections])
    np.testing.assert_allclose(np.sort(drawn[:, 0]), np.sort(found.score))
    lines = [line.get_xydata() for line in shown.ax_.lines]
    assert lines[0][0, 0] == found.cutoffs.score
    assert lines[1][0, 1] == found.cutoffs.orthogonal
    many = shown.plot(n_labels=200)
    assert len(texts(many)) == found.flagged.sum()  # and no regular row


def test_a_row_a_million_times_away_leaves_the_others_a_cloud():
    X = far_row()
    model = DSWL(2).fit(X)
    shown = OutlierMapDisplay.from_estimator(model, X)
    found, ax = shown.diagnosis, shown.ax_
    assert ax.get_xscale() == ax.get_yscale() == "symlog"
    shown.figure_.draw_without_rendering()
    points = ax.transData.transform(np.c_[found.score, found.orthogonal])
    place = ax.transAxes.inverted().transform(points)
    assert ((place >= 0) & (place <= 1)).all()
    assert (np.ptp(place[~found.flagged], axis=0) > 0.15).all()
    scores = ScoresDisplay.from_estimator(model, X)
    assert "1 of them beyond the edge" in scores.ax_.get_title()
    low, high = scores.ax_.get_xlim()
    assert high - low < 1000


def test_scores_are_those_of_the_model():
    X = frame()
    model = DSWL(3).fit(X)
    shown = ScoresDisplay.from_estimator(model, X, components=(2, 0))
    drawn = np.vstack([points.get_offsets() for points in shown.ax_.collections])
    expected = model.transform(X)[:, [2, 0]]
    np.testing.assert_allclose(np.sort(drawn, axis=0), np.sort(expected, axis=0))
    assert "component 3" in shown.ax_.get_xlabel()
    assert "component 1" in shown.ax_.get_ylabel()
    for wrong in [(0, 3), (1, 1), (0, 1, 2), ()]:
        with pytest.raises(ValueError, match="the model has 3"):
            ScoresDisplay.from_estimator(model, X, components=wrong)


def test_ellipses_are_those_of_normal_rows_and_of_all_rows():
    X = planted("none", n=2000, n_features=5, n_components=2).X
    model = PlainPCA(2).fit(X)
    shown = ScoresDisplay.from_estimator(model, X)
    plain, robust = (line.get_xydata() for line in shown.ax_.lines[::3])
    np.testing.assert_allclose(np.ptp(plain, axis=0), np.ptp(robust, axis=0), rtol=0.01)
    z2 = (robust**2 / model.explained_variance_).sum(axis=1)
    np.testing.assert_allclose(z2, chi2.ppf(0.975, 2))
    one = ScoresDisplay.from_estimator(model, X, components=[1])
    ends = sorted(line.get_xdata()[0] for line in one.ax_.lines[-2:])
    half = np.sqrt(chi2.ppf(0.975, 1) * model.explained_variance_[1])
    np.testing.assert_allclose(ends, [-half, half])


# ---------------------------------------------------------------- any model and table


@pytest.mark.soak
@pytest.mark.parametrize(
    "X",
    [
        many_columns(),
        far_row(),
        exact_plane(),
        np.ones((20, 4)),
        np.vstack([np.ones((20, 4)), np.full((1, 4), 5.0)]),
        1e-12 * small(),
        small().astype(np.float32),
        small().tolist(),
    ],
    ids=["many", "far", "exact", "constant", "nearly", "tiny", "float32", "list"],
)
def test_odd_tables_are_drawn(X):
    for k in (1, 2):
        for display in draw_all(DSWL(k).fit(X), X):
            rendered(display)


@pytest.mark.slow
@pytest.mark.parametrize("scaler", [ColumnScaler(), StandardScaler()], ids=str)
def test_pipelines_and_frames_are_drawn_as_their_method_is(scaler):
    X = frame() * [1, 1, 1000, 1, 1, 1]
    pipeline = make_pipeline(scaler, DSWL(2, cells=True))
    pipeline.set_output(transform="pandas").fit(X)
    rows = pipeline[0].transform(X)
    alone = draw_all(pipeline[1], rows)
    for display, other in zip(draw_all(pipeline, X), alone, strict=True):
        assert display.ax_.get_xlabel() == other.ax_.get_xlabel()
        rendered(display)
        rendered(other)


def test_axes_that_are_given_are_drawn_on_and_no_figure_is_made():
    X = small()
    figures = []

    def somewhere():
        figures.append(Figure(layout="constrained"))
        return figures[-1].subplots()

    for display in draw_all(DSWL(2).fit(X), X, somewhere):
        before = display.figure_
        assert before is figures[-1]
        assert display.plot() is display and display.figure_ is not before
        plt.close(display.figure_)
    assert len(figures) == 3 and not plt.get_fignums()


def test_without_matplotlib_the_error_says_what_to_install(monkeypatch):
    X = small()
    model = DSWL(2).fit(X)
    for module in [name for name in sys.modules if name.startswith("matplotlib")]:
        monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    for one in (*OF_ROWS, CellMapDisplay):
        with pytest.raises(ImportError, match=r"pip install 'trueaxis\[plot\]'"):
            one.from_estimator(model, X)
