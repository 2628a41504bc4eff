"""An author who needs figures of a fit."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

from trueaxis import DSWL
from trueaxis.plots import CellMapDisplay, OutlierMapDisplay, ScoresDisplay


@pytest.fixture
def drawn(tmp_path):
    """Save a display as PNG; the picture as an array of colors."""

    def save(display):
        path = tmp_path / "figure.png"
        display.ax_.figure.savefig(path, dpi=80)
        assert path.read_bytes().startswith(b"\x89PNG")
        return plt.imread(path)

    yield save
    plt.close("all")


def texts(display):
    figure = display.ax_.figure
    return " ".join(text.get_text() for text in figure.findobj(plt.Text))


def test_figures_are_drawn_and_saved(pumps, drawn):
    """Map and scores, each in one line."""
    model = DSWL(2).fit(pumps.table)
    for display in (OutlierMapDisplay, ScoresDisplay):
        picture = drawn(display.from_estimator(model, pumps.table))
        assert len(np.unique(picture.reshape(-1, picture.shape[-1]), axis=0)) > 20
    worst = OutlierMapDisplay.from_estimator(model, pumps.table, n_labels=3)
    drawn(worst)
    assert "P-074" in texts(worst)


def test_the_map_of_cells_is_drawn(pumps, drawn):
    """Rows and columns with the wrong cells marked."""
    model = DSWL(2, cells=True).fit(pumps.table)
    display = CellMapDisplay.from_estimator(model, pumps.table)
    drawn(display)
    assert "P-074" in texts(display) and "power" in texts(display)
