"""Scores with axes and ellipses, and variances."""

import numpy as np
import pytest
from small_tables import far_row, frame, small

from trueaxis import DSWL
from trueaxis.methods import PlainPCA
from trueaxis.plots import ScoresDisplay, ScreeDisplay


@pytest.mark.slow
def test_scores_are_those_of_the_model():
    X = frame()
    model = DSWL(3).fit(X)
    shown = ScoresDisplay.from_estimator(model, X, components=(2, 0))
    np.testing.assert_allclose(shown.plane.scores, model.transform(X)[:, [2, 0]])
    assert "component 3" in shown.ax_.get_xlabel()
    assert "component 1" in shown.ax_.get_ylabel()
    for wrong in [(0, 3), (1, 1), (0, 1, 2), ()]:
        with pytest.raises(ValueError, match="the model has 3"):
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
