"""Fits along decreasing trust, and iterations of a fit."""

import numpy as np
import pytest
from rendering import rendered
from small_tables import small

from trueaxis import DSWL
from trueaxis.datasets import planted
from trueaxis.diagnostics import trust_path
from trueaxis.methods import PCAL1
from trueaxis.plots import ConvergenceDisplay, TrustPathDisplay


@pytest.mark.slow
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


@pytest.mark.slow
def test_the_history_of_greedy_methods_has_a_line_per_component():
    X = small()
    model = PCAL1(3).fit(X)
    shown = ConvergenceDisplay.from_estimator(model)
    assert len(shown.ax_.lines) == 3
    drawn = np.concatenate([line.get_ydata() for line in shown.ax_.lines])
    np.testing.assert_array_equal(drawn, model.history_["objective"])
    assert len(ConvergenceDisplay.from_estimator(DSWL(2).fit(X)).ax_.lines) == 1
