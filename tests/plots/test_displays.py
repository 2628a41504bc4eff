"""Displays show what the diagnostics give, whatever the data, and close their doors."""

import sys

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from trueaxis import DSWL, METHODS, PCAL1, PCP, PlainPCA
from trueaxis.datasets import planted, sensors
from trueaxis.diagnostics import contributions, diagnose, score_plane, trust_path
from trueaxis.plots import (
    ContributionsDisplay,
    ConvergenceDisplay,
    ImageGridDisplay,
    OutlierMapDisplay,
    ScoresDisplay,
    ScreeDisplay,
    TrustPathDisplay,
    WeightsDisplay,
)
from trueaxis.plots.canvas import shorten
from trueaxis.plots.outlier_map import WITH_WEIGHTS

EVERY = pytest.mark.parametrize("name", METHODS)


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def small():
    return planted("scatter", n=60, n_features=6, n_components=2, share=0.1).X


def frame():
    table = sensors()
    index = [f"day {i}" for i in range(200)]
    return pd.DataFrame(table.X, columns=table.columns, index=index)


def draw_all(model, X, ax=lambda: None):
    """Every display that is for this model, as it is drawn with defaults."""
    D = X.shape[1]
    yield OutlierMapDisplay.from_estimator(model, X, ax=ax())
    if hasattr(model, "weights_"):
        yield WeightsDisplay.from_estimator(model, X, ax=ax())
    yield ScoresDisplay.from_estimator(model, X, ax=ax())
    yield ScreeDisplay.from_estimator(model, X, ax=ax())
    yield ContributionsDisplay.from_estimator(model, X, len(X) - 1, ax=ax())
    if isinstance(model, DSWL):
        path = trust_path(model, X, [0.8, 0.5])
        yield TrustPathDisplay(path).plot(ax())
    yield ConvergenceDisplay.from_estimator(model, X, ax=ax())
    yield ImageGridDisplay.from_estimator(model, X, [0, 1], shape=(1, D), ax=ax())


def rendered(display):
    display.figure_.draw_without_rendering()
    assert display.ax_.figure is display.figure_
    assert display.axes_.flat[0] is display.ax_
    plt.close(display.figure_)


def texts(display):
    return [text.get_text() for text in display.ax_.texts]


# ---------------------------------------------------------------- every method


@EVERY
def test_every_display_draws_every_method(name):
    X = small()
    for display in draw_all(METHODS[name](2).fit(X), X):
        rendered(display)


@pytest.mark.parametrize("k", [1, 2, 6])
def test_any_number_of_components_is_drawn(k):
    X = small()
    for display in draw_all(DSWL(k).fit(X), X):
        rendered(display)


def test_axes_that_are_given_are_drawn_on_and_no_figure_is_made():
    X = small()
    figures = []

    def somewhere():
        figures.append(Figure(layout="constrained"))
        return figures[-1].subplots()

    for display in draw_all(DSWL(2).fit(X), X, somewhere):
        assert display.figure_ is figures[-1]
        display.figure_.draw_without_rendering()
        before = display.figure_
        assert display.plot() is display and display.figure_ is not before
        plt.close(display.figure_)
    assert len(figures) == 8 and not plt.get_fignums()


def many_columns():
    X = planted("amp", n=80, n_features=60, share=0.1).X
    names = [f"temperature of the bearing number {i} in hall B" for i in range(60)]
    return pd.DataFrame(X, columns=names)


def far_row():
    X = small()
    X[3] *= 1e6
    return X


def exact_plane():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 2)) @ rng.standard_normal((2, 5))
    X[0, 0] += 3
    return X


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
    model = DSWL(2).fit(X)
    if isinstance(X, list):
        rendered(OutlierMapDisplay.from_estimator(model, X))
        rendered(ScoresDisplay.from_estimator(model, X))
        rendered(ContributionsDisplay.from_estimator(model, X, 59))
        rendered(ImageGridDisplay.from_estimator(model, X, shape=(2, 3)))
        return
    for display in draw_all(model, X):
        rendered(display)


def test_new_rows_are_drawn_even_if_there_is_one():
    model = DSWL(2).fit(small())
    for X in (small()[-1:], small()[:2]):
        rendered(OutlierMapDisplay.from_estimator(model, X))
        rendered(ScoresDisplay.from_estimator(model, X))
        rendered(ContributionsDisplay.from_estimator(model, X, 0))


# ---------------------------------------------------------------- each display


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


def test_regular_rows_are_never_labelled():
    X = planted("none", n=60).X
    model = DSWL(3).fit(X)
    shown = OutlierMapDisplay.from_estimator(model, X, n_labels=60)
    assert len(texts(shown)) == (model.predict(X) == -1).sum()
    assert not texts(shown.plot(n_labels=0))


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


def test_methods_without_weights_say_who_has_them():
    X = small()
    has = [name for name in METHODS if hasattr(METHODS[name](2).fit(X), "weights_")]
    assert has == list(WITH_WEIGHTS)
    with pytest.raises(TypeError, match="PCP has no weights_.*dswl"):
        WeightsDisplay.from_estimator(PCP(2).fit(X), X)
    with pytest.raises(ValueError, match="X has 5 rows.*weights of 60"):
        WeightsDisplay.from_estimator(DSWL(2).fit(X), X[:5])


def test_scores_are_those_of_the_model():
    X = frame()
    model = DSWL(3).fit(X)
    shown = ScoresDisplay.from_estimator(model, X, components=(2, 0))
    np.testing.assert_allclose(shown.plane.scores, model.transform(X)[:, [2, 0]])
    assert "component 3" in shown.ax_.get_xlabel()
    assert "component 1" in shown.ax_.get_ylabel()
    for wrong in [(0, 3), (1, 1), (0, 1, 2), ()]:
        with pytest.raises(ValueError, match="there are 3"):
            ScoresDisplay.from_estimator(model, X, components=wrong)


def test_far_scores_are_drawn_on_the_edge():
    X = far_row()
    shown = ScoresDisplay.from_estimator(DSWL(2).fit(X), X)
    assert "1 of them beyond the edge" in shown.ax_.get_title()
    low, high = shown.ax_.get_xlim()
    assert high - low < 1000


def test_the_scree_compares_with_plain_pca():
    X = small()
    model = DSWL(4).fit(X)
    shown = ScreeDisplay.from_estimator(model, X)
    np.testing.assert_array_equal(shown.robust, model.explained_variance_)
    np.testing.assert_allclose(shown.plain, PlainPCA(4).fit(X).explained_variance_)


def test_contributions_are_those_of_the_row():
    X = frame()
    model = DSWL(2).fit(X)
    shown = ContributionsDisplay.from_estimator(model, X, 62)
    parts, found = contributions(model, X), diagnose(model, X)
    np.testing.assert_allclose(shown.parts.score[0], parts.score[62])
    np.testing.assert_allclose(shown.parts.orthogonal[0], parts.orthogonal[62])
    share = f"{100 * found.share[62]:.0f} %"
    assert shown.ax_.get_title() == f"Row day 62 is off: vibration explains {share}"
    wide = [bar.get_width() for bar in shown.ax_.patches]
    total = found.score[62] ** 2 / found.score_cutoff**2
    total += found.orthogonal[62] ** 2 / found.orthogonal_cutoff**2
    assert np.sum(wide) == pytest.approx(total)
    with pytest.raises(ValueError, match="Row 200 is asked for.*200 rows"):
        ContributionsDisplay.from_estimator(model, X, 200)


def test_columns_without_room_are_added_up():
    X = many_columns()
    model = DSWL(3).fit(X)
    shown = ContributionsDisplay.from_estimator(model, X, 79, n_columns=5)
    names = [text.get_text() for text in shown.ax_.get_yticklabels()]
    assert len(names) == 6 and names[-1] == "55 other columns"
    assert all(len(name) <= 26 for name in names) and len(set(names)) == 6
    whole = sum(bar.get_width() for bar in shown.ax_.patches)
    everything = shown.plot(n_columns=60).ax_.patches
    assert whole == pytest.approx(sum(bar.get_width() for bar in everything))


def test_the_trust_path_counts_who_left():
    data = planted("ocs", n=200, share=0.2)
    model = DSWL(3).fit(data.X)
    shown = TrustPathDisplay.from_estimator(model, data.X)
    path = trust_path(model, data.X)
    np.testing.assert_array_equal(shown.path.step, path.step)
    assert shown.n_left.sum() == (path.left_at() > 0).sum()
    jump = path.step.argmax()
    assert shown.n_left[: jump + 1].sum() >= data.is_outlier.sum()
    assert f"most at {path.trust[jump]:g}" in shown.ax_.get_title()
    heights = [bar.get_height() for bar in shown.axes_[1, 0].patches]
    np.testing.assert_array_equal(heights, shown.n_left)
    rendered(TrustPathDisplay.from_estimator(model, data.X, trust=[0.6]))


def test_the_history_of_greedy_methods_has_a_line_per_component():
    X = small()
    model = PCAL1(3).fit(X)
    shown = ConvergenceDisplay.from_estimator(model)
    assert len(shown.ax_.lines) == 3
    drawn = np.concatenate([line.get_ydata() for line in shown.ax_.lines])
    np.testing.assert_array_equal(drawn, model.history_["objective"])
    assert len(ConvergenceDisplay.from_estimator(DSWL(2).fit(X)).ax_.lines) == 1


def test_images_and_what_is_left_of_them():
    X = small()
    model = DSWL(2).fit(X)
    shown = ImageGridDisplay.from_estimator(model, X, [4, 59], shape=(2, 3))
    np.testing.assert_array_equal(shown.images.reshape(2, 6), X[[4, 59]])
    off = diagnose(model, X).orthogonal[[4, 59]]
    np.testing.assert_allclose(np.linalg.norm(shown.residuals, axis=(1, 2)), off)
    low, high = shown.axes_[2, 0].images[0].get_clim()
    assert low == -high
    scales = {panel.images[0].get_clim() for panel in shown.axes_[:2].flat}
    assert scales == {(shown.images.min(), shown.images.max())}
    worst = ImageGridDisplay.from_estimator(model, X, shape=(2, 3))
    assert list(worst.labels) == list(model.outliers(X, everything=True).row[:5])
    with pytest.raises(ValueError, match="8 pixels, but the model 6 columns"):
        ImageGridDisplay.from_estimator(model, X, [0], shape=(2, 4))
    with pytest.raises(ValueError, match="No rows"):
        ImageGridDisplay.from_estimator(model, X, [], shape=(2, 3))


def test_models_that_give_out_frames_are_drawn_too():
    X = frame()
    model = DSWL(2).set_output(transform="pandas").fit(X)
    for display in draw_all(model, X):
        rendered(display)


# ---------------------------------------------------------------- around them


def test_without_matplotlib_the_error_says_what_to_install(monkeypatch):
    X = small()
    model = DSWL(2).fit(X)
    for module in [name for name in sys.modules if name.startswith("matplotlib")]:
        monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    for one in (OutlierMapDisplay, WeightsDisplay, ScoresDisplay, ScreeDisplay,
                TrustPathDisplay, ConvergenceDisplay):  # fmt: skip
        with pytest.raises(ImportError, match=r"pip install 'trueaxis\[plot\]'"):
            one.from_estimator(model, X)
    with pytest.raises(ImportError, match=r"trueaxis\[plot\]"):
        ContributionsDisplay.from_estimator(model, X, 0)
    with pytest.raises(ImportError, match=r"trueaxis\[plot\]"):
        ImageGridDisplay.from_estimator(model, X, shape=(2, 3))


def test_long_names_keep_both_ends():
    assert shorten("flow") == "flow"
    assert shorten("temperature of bearing 17", 11) == "tempe…ng 17"


# ---------------------------------------------------------------- the score plane


@EVERY
def test_the_score_plane_has_plain_pca_in_robust_scores(name):
    X = small()
    model = METHODS[name](2).fit(X)
    plane = score_plane(model, X)
    scores = model.transform(X)
    np.testing.assert_allclose(plane.scores, scores)
    np.testing.assert_allclose(plane.plain.centre, scores.mean(axis=0), atol=1e-9)
    np.testing.assert_allclose(plane.plain.covariance, np.cov(scores.T))
    variances = np.diag(plane.robust.covariance)
    np.testing.assert_allclose(variances, model.explained_variance_)


def test_plain_and_robust_are_the_same_for_plain_pca():
    X = small()
    model = PlainPCA(2).fit(X)
    plane = score_plane(model, X)
    np.testing.assert_allclose(plane.plain.centre, 0, atol=1e-12)
    both = plane.plain.covariance, plane.robust.covariance
    np.testing.assert_allclose(*both, atol=1e-9)
    np.testing.assert_allclose(np.abs(plane.plain.axes), plane.robust.axes, atol=1e-7)


def test_the_ellipse_holds_what_it_says():
    X = planted("none", n=4000, n_features=5, n_components=2).X
    plane = score_plane(PlainPCA(2).fit(X), X, level=0.9)
    inverse = np.linalg.inv(plane.robust.covariance)
    d2 = np.einsum("ij,jk,ik->i", plane.scores, inverse, plane.scores)
    assert (d2 <= plane.radius**2).mean() == pytest.approx(0.9, abs=0.015)
    with pytest.raises(ValueError, match="between 0 and 1"):
        score_plane(PlainPCA(2).fit(X), X, level=97.5)


def test_the_line_of_equal_weights_is_in_view():
    weights = np.r_[np.full(30, 1 / 30), np.zeros(30)]
    shown = WeightsDisplay(weights, np.full(60, "regular")).plot()
    low, high = shown.ax_.get_ylim()
    assert low < 1 / 60 < high
