"""All displays: every method, any table, given axes, and without matplotlib."""

import sys

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.figure import Figure
from rendering import rendered
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from small_tables import exact_plane, far_row, frame, many_columns, small

from trueaxis import DSWL, ColumnScaler
from trueaxis.diagnostics import trust_path
from trueaxis.diagnostics.pipelines import method_of
from trueaxis.methods import METHODS, PlainPCA
from trueaxis.plots import (
    CellMapDisplay,
    ContributionsDisplay,
    ConvergenceDisplay,
    ImageGridDisplay,
    OutlierMapDisplay,
    ScoresDisplay,
    ScreeDisplay,
    TrustPathDisplay,
    WeightsDisplay,
)


def draw_all(model, X, ax=lambda: None):
    """Every display that is for this model, as it is drawn with defaults."""
    D, method = X.shape[1], method_of(model)
    yield OutlierMapDisplay.from_estimator(model, X, ax=ax())
    if hasattr(method, "weights_"):
        yield WeightsDisplay.from_estimator(model, X, ax=ax())
    yield ScoresDisplay.from_estimator(model, X, ax=ax())
    yield ScreeDisplay.from_estimator(model, X, ax=ax())
    yield ContributionsDisplay.from_estimator(model, X, len(X) - 1, ax=ax())
    if isinstance(method, DSWL):
        path = trust_path(model, X, [0.8, 0.5])
        yield TrustPathDisplay(path).plot(ax())
        yield CellMapDisplay.from_estimator(model, X, ax=ax())
    yield ConvergenceDisplay.from_estimator(model, X, ax=ax())
    yield ImageGridDisplay.from_estimator(model, X, [0, 1], shape=(1, D), ax=ax())


@pytest.mark.soak
@pytest.mark.parametrize("name", METHODS)
def test_every_display_draws_every_method(name):
    X = small()
    for display in draw_all(METHODS[name](2).fit(X), X):
        rendered(display)


@pytest.mark.slow
@pytest.mark.parametrize("k", [1, 2, 6])
def test_any_number_of_components_is_drawn(k):
    X = small()
    for display in draw_all(DSWL(k).fit(X), X):
        rendered(display)


@pytest.mark.slow
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
    assert len(figures) == 9 and not plt.get_fignums()


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
    model = DSWL(2).fit(X)
    if isinstance(X, list):
        rendered(OutlierMapDisplay.from_estimator(model, X))
        rendered(ScoresDisplay.from_estimator(model, X))
        rendered(ContributionsDisplay.from_estimator(model, X, 59))
        rendered(ImageGridDisplay.from_estimator(model, X, shape=(2, 3)))
        return
    for display in draw_all(model, X):
        rendered(display)


@pytest.mark.slow
def test_new_rows_are_drawn_even_if_there_is_one():
    model = DSWL(2).fit(small())
    for X in (small()[-1:], small()[:2]):
        rendered(OutlierMapDisplay.from_estimator(model, X))
        rendered(ScoresDisplay.from_estimator(model, X))
        rendered(ContributionsDisplay.from_estimator(model, X, 0))


@pytest.mark.slow
def test_models_that_give_out_frames_are_drawn_too():
    X = frame()
    model = DSWL(2).set_output(transform="pandas").fit(X)
    for display in draw_all(model, X):
        rendered(display)


@pytest.mark.slow
def test_without_matplotlib_the_error_says_what_to_install(monkeypatch):
    X = small()
    model = DSWL(2).fit(X)
    for module in [name for name in sys.modules if name.startswith("matplotlib")]:
        monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    for one in (OutlierMapDisplay, WeightsDisplay, ScoresDisplay, ScreeDisplay,
                TrustPathDisplay, ConvergenceDisplay, CellMapDisplay):  # fmt: skip
        with pytest.raises(ImportError, match=r"pip install 'trueaxis\[plot\]'"):
            one.from_estimator(model, X)
    with pytest.raises(ImportError, match=r"trueaxis\[plot\]"):
        ContributionsDisplay.from_estimator(model, X, 0)
    with pytest.raises(ImportError, match=r"trueaxis\[plot\]"):
        ImageGridDisplay.from_estimator(model, X, shape=(2, 3))


@pytest.mark.soak
@pytest.mark.parametrize("scaler", [ColumnScaler(), StandardScaler()], ids=str)
@pytest.mark.parametrize("method", [DSWL(2, cells=True), PlainPCA(2)], ids=str)
def test_pipelines_are_drawn_as_their_method_is(scaler, method):
    X = frame() * [1, 1, 1000, 1, 1, 1]
    pipeline = make_pipeline(scaler, method).fit(X)
    rows = pipeline[0].transform(X)
    alone = draw_all(pipeline[1], rows)
    for display, other in zip(draw_all(pipeline, X), alone, strict=True):
        rendered(display)
        assert display.ax_.get_xlabel() == other.ax_.get_xlabel()
        plt.close(display.figure_)
        plt.close(other.figure_)


@pytest.mark.slow
def test_images_of_a_pipeline_are_in_the_units_of_the_data():
    X = frame() * [1, 1, 1000, 1, 1, 1]
    pipeline = make_pipeline(ColumnScaler(), DSWL(2)).fit(X)
    display = ImageGridDisplay.from_estimator(pipeline, X, [3, 96], shape=(2, 3))
    np.testing.assert_array_equal(display.images.reshape(2, 6), X.iloc[[3, 96]])
    back = pipeline.inverse_transform(pipeline.transform(X.iloc[[3, 96]]))
    np.testing.assert_allclose(display.reconstructions.reshape(2, 6), back)


@pytest.mark.slow
def test_the_repr_is_short():
    X = frame()
    model = DSWL(2).fit(X)
    flagged = (model.predict(X) == -1).sum()
    said = [repr(display) for display in draw_all(model, X)]
    plt.close("all")
    assert said == [
        f"OutlierMapDisplay(200 rows, {flagged} outliers)",
        f"WeightsDisplay(200 rows, {flagged} outliers)",
        f"ScoresDisplay(200 rows, {flagged} outliers, components (0, 1))",
        "ScreeDisplay(2 components)",
        "ContributionsDisplay(row day 199, regular, 6 columns)",
        "TrustPathDisplay(2 fits, trust 0.8 to 0.5)",
        "CellMapDisplay(200 rows, 6 columns, 0 wrong and 0 missing cells)",
        f"ConvergenceDisplay(DSWL, converged after {model.n_iter_} iterations)",
        "ImageGridDisplay(2 images of 1 x 6 pixels)",
    ]


def test_labels_are_not_taken_for_positions():
    X = frame()
    model = DSWL(2).fit(X)
    with pytest.raises(TypeError, match="not positions of rows.*get_loc"):
        ContributionsDisplay.from_estimator(model, X, "day 62")
    with pytest.raises(TypeError, match="not positions of rows"):
        ImageGridDisplay.from_estimator(model, X, ["day 62"], shape=(2, 3))
    shifted = X.set_axis(range(100, 300), axis=0)
    display = ContributionsDisplay.from_estimator(model, shifted, 62)
    assert display.label == 162 and display.ax_.get_title().startswith("Row 162 is off")


@pytest.mark.parametrize("model", [DSWL(2), make_pipeline(ColumnScaler(), DSWL(2))])
def test_models_that_are_not_fitted_say_so(model):
    for one in (OutlierMapDisplay, WeightsDisplay, ScoresDisplay, ScreeDisplay,
                TrustPathDisplay, ConvergenceDisplay, CellMapDisplay):  # fmt: skip
        with pytest.raises(NotFittedError, match="fit"):
            one.from_estimator(model, frame())
    with pytest.raises(NotFittedError):
        ContributionsDisplay.from_estimator(model, frame(), 0)
    with pytest.raises(NotFittedError):
        ImageGridDisplay.from_estimator(model, frame(), shape=(2, 3))
