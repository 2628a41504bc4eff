"""Contributions of columns, and residuals as images."""

import numpy as np
import pytest
from small_tables import frame, many_columns, small

from trueaxis import DSWL
from trueaxis.diagnostics import contributions, diagnose
from trueaxis.plots import ContributionsDisplay, ImageGridDisplay


@pytest.mark.slow
def test_contributions_are_those_of_the_row():
    X = frame()
    model = DSWL(2).fit(X)
    shown = ContributionsDisplay.from_estimator(model, X, 62)
    parts, found = contributions(model, X), diagnose(model, X)
    np.testing.assert_allclose(shown.parts.score[0], parts.score[62])
    np.testing.assert_allclose(shown.parts.orthogonal[0], parts.orthogonal[62])
    share = f"{100 * found.share[62]:.0f} %"
    assert shown.ax_.get_title() == (
        f"Row day 62 is off the subspace:\nvibration explains {share}"
    )
    wide = [bar.get_width() for bar in shown.ax_.patches]
    total = found.score[62] ** 2 / found.score_cutoff**2
    total += found.orthogonal[62] ** 2 / found.orthogonal_cutoff**2
    assert np.sum(wide) == pytest.approx(total)
    with pytest.raises(ValueError, match="Row 200 does not exist.*200 rows"):
        ContributionsDisplay.from_estimator(model, X, 200)


@pytest.mark.slow
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


@pytest.mark.slow
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
    with pytest.raises(ValueError, match="8 pixels, but the model has 6 columns"):
        ImageGridDisplay.from_estimator(model, X, [0], shape=(2, 4))
    with pytest.raises(ValueError, match="rows is empty"):
        ImageGridDisplay.from_estimator(model, X, [], shape=(2, 3))
