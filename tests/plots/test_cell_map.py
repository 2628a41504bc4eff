"""The map of cells: what it shows, in which order, and that it can be read."""

import itertools

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.collections import PathCollection, PolyCollection
from small_tables import holed, small

from trueaxis import DSWL
from trueaxis.diagnostics import CellMap, cell_map
from trueaxis.methods import PlainPCA
from trueaxis.plots import CellMapDisplay
from trueaxis.plots.cell_map import MOST_ROWS, _colors, worst_rows


@pytest.fixture(scope="module")
def model():
    return DSWL(2, cells=True).fit(holed())


def invented(n, D, seed=0):
    """Cells that deviate like a normal variable, with nothing wrong."""
    deviations = np.random.default_rng(seed).standard_normal((n, D))
    no = np.zeros((n, D), dtype=bool)
    names = np.array([f"column {j}" for j in range(D)])
    parts = deviations, deviations, deviations, no, no.copy(), no[:, 0].copy()
    return CellMap(*parts, names)


def framed(display):
    """Rows and columns of the cells with a frame."""
    (boxes,) = [c for c in display.ax_.collections if type(c) is PolyCollection]
    places = [path.vertices[:4].mean(axis=0) for path in boxes.get_paths()]
    return {(round(row), round(column)) for column, row in places}


def diamonds(display):
    """Lines with a diamond."""
    (points,) = [c for c in display.ax_.collections if type(c) is PathCollection]
    return points.get_offsets()[:, 1].astype(int).tolist()


def row_names(display):
    return [text.get_text() for text in display.ax_.get_yticklabels()]


def cells_of(mask):
    return set(zip(*(x.tolist() for x in np.nonzero(mask)), strict=True))


# ---------------------------------------------------------------- what is shown


def test_the_map_shows_the_cells_of_the_diagnostics(model):
    X = holed().iloc[5:40]
    cells = cell_map(model, X)
    display = CellMapDisplay.from_estimator(model, X)
    assert row_names(display) == list(X.index)
    assert framed(display) == cells_of(cells.wrong)
    assert {(12, 1), (12, 3), (12, 4), (25, 0), (25, 8)} <= framed(display)
    assert diamonds(display) == np.flatnonzero(cells.outlier).tolist()
    (image,) = display.ax_.images
    drawn = image.get_array()
    seen = ~cells.missing
    np.testing.assert_allclose(drawn[seen], _colors(cells.deviations)[seen])
    assert (drawn[~seen][:, 0] == drawn[~seen][:, 2]).all()  # gray
    names = [text.get_text() for text in display.ax_.get_xticklabels()]
    assert names == list(X.columns)
    legend = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert legend == ["wrong cell", "missing cell", "outlying row"]


# ---------------------------------------------------------------- which rows


def test_the_worst_rows_come_first_and_rows_without_anything_do_not_come(model):
    X = holed()
    cells = cell_map(model, X)
    worst = worst_rows(cells)
    n_wrong, n_missing = cells.wrong.sum(axis=1), cells.missing.sum(axis=1)
    something = cells.outlier | (n_wrong > 0) | (n_missing > 0)
    assert sorted(worst) == np.flatnonzero(something).tolist()
    rank = np.where(cells.outlier, 0, np.where(n_wrong > 0, 1, 2))[worst]
    assert (np.diff(rank) >= 0).all() and set(rank) == {0, 1, 2}
    for kind in range(3):
        assert (np.diff(n_wrong[worst[rank == kind]]) <= 0).all()
    display = CellMapDisplay.from_estimator(model, X)
    assert display.ax_.get_xlabel().startswith("worst first: 40 of 44 rows")
    assert row_names(display) == X.index[worst[:40]].tolist()


def test_few_rows_are_all_shown_many_if_they_have_something_and_any_if_asked_for():
    few, many = invented(MOST_ROWS, 3), invented(MOST_ROWS + 1, 3)
    displays = [
        CellMapDisplay(cells, np.arange(len(cells.outlier))) for cells in (few, many)
    ]
    few.missing[7, 1] = True
    assert len(row_names(displays[0].plot())) == 40
    assert "none with anything" in displays[1].plot().ax_.get_xlabel()
    many.missing[7, 1] = True
    title = displays[1].plot().ax_.get_title()
    assert title == "Cell map: 0 of 123 cells are wrong, 1 missing"
    few.wrong[:2, 0] = True
    title = displays[0].plot().ax_.get_title()
    assert title == "Cell map: 2 of 120 cells are wrong, 1 missing"
    assert row_names(displays[1].plot()) == ["7"]
    assert row_names(displays[1].plot(rows=[3, -1])) == ["3", "40"]
    assert displays[1].ax_.get_xlabel() == "2 of 41 rows"


def test_labels_are_those_of_the_index():
    cells = invented(3, 2)
    days = np.array(["2024-01-01", "2024-01-02", "2024-01-03"], dtype="M8[ns]")
    assert row_names(CellMapDisplay(cells, days).plot())[1] == "2024-01-02"
    times = days + np.timedelta64(90, "m")
    assert row_names(CellMapDisplay(cells, times).plot())[0] == "2024-01-01 01:30:00"
    long = np.array(["a" * 50, "b", 3], dtype=object)
    names = row_names(CellMapDisplay(cells, long).plot())
    assert len(names[0]) == 19 and names[1:] == ["b", "3"]


# ---------------------------------------------------------------- can it be read


def overlaps(boxes):
    pairs = itertools.combinations([box for box in boxes if box.width > 0], 2)
    return sum(
        min(a.x1, b.x1) - max(a.x0, b.x0) > 0.5
        and min(a.y1, b.y1) - max(a.y0, b.y0) > 0.5
        for a, b in pairs
    )


@pytest.mark.slow
@pytest.mark.parametrize("D", [1, 6, 200])
@pytest.mark.parametrize("n", [3, 40])
@pytest.mark.parametrize("size", [None, (4.9, 4.1)], ids=["own", "given"])
def test_labels_do_not_overlap(n, D, size):
    cells = invented(n, D)
    cells.wrong[:, 0] = True
    cells.missing[1, -1] = True
    cells.outlier[2] = True
    names = np.array([f"temperature {j}" for j in range(D)])
    display = CellMapDisplay(cells._replace(names=names), np.arange(n) + 1000)
    ax = None
    if size is not None:
        ax = plt.figure(figsize=size, layout="constrained").subplots()
    display.plot(ax, rows=range(n))
    figure, ax = display.figure_, display.ax_
    figure.draw_without_rendering()
    renderer = figure.canvas.get_renderer()

    def boxes(artists):
        return [artist.get_window_extent(renderer) for artist in artists]

    bar = figure.axes[-1]
    labels = [*ax.get_xticklabels(), *ax.get_yticklabels()]
    named = [ax.title, ax.xaxis.label, ax.get_legend()]
    colors = [bar.yaxis.label, bar.title, bar.get_xaxis().label, *bar.get_yticklabels()]
    colors = [text for text in colors if text.get_text()]
    assert overlaps(boxes([*labels, *named])) == 0
    assert overlaps(boxes([*colors])) == 0
    assert overlaps([*boxes(labels), ax.get_window_extent(renderer)]) == 0
    shown = [text.get_text() for text in ax.get_xticklabels()]
    assert "temperature 0" in shown  # it has wrong cells
    assert len(shown) == D or D == 200


# ---------------------------------------------------------------- refusals


def test_what_cannot_be_drawn_is_refused(model):
    with pytest.raises(TypeError, match="PlainPCA judges no cells"):
        CellMapDisplay.from_estimator(PlainPCA(2).fit(small()), small())
    with pytest.raises(TypeError, match="not positions of rows"):
        CellMapDisplay.from_estimator(model, holed(), rows="all")
