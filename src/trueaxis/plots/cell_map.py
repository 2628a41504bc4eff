"""Display of cells: deviations from fitted values, and wrong and missing cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trueaxis.data.threads import ignore_float_errors
from trueaxis.diagnostics import CellMap, cell_map, row_labels
from trueaxis.diagnostics.tables import check_positions
from trueaxis.plots.canvas import (
    BLUE,
    GRAY,
    RED,
    SMALL,
    TEXT,
    Display,
    legend_below,
    name_axes,
)
from trueaxis.wording import shorten

MOST_ROWS = 40  # rows that are shown, worst first, unless others are asked for
FULL_COLOR = 6.0  # standard deviations at which colors are full
COLOR_POWER = 1.5  # power of a deviation in its color: ordinary cells stay nearly blank


@dataclass(eq=False, repr=False)
class CellMapDisplay(Display):
    """Every cell in the color of its deviation, with wrong and missing cells marked.

    A cell is blue if it is below the prediction by the other cells of its row, red if
    above, and blank if it is near; colors are full from 6 standard deviations. Wrong
    cells have a black frame, missing ones are gray, and a diamond beside a row marks an
    outlier, a row that is bad even without its wrong cells.

    Parameters
    ----------
    cells : CellMap
        See `trueaxis.diagnostics.cell_map`.
    labels : ndarray of shape (n,)
        Labels of the rows.

    Examples
    --------
    >>> from trueaxis import DSWL
    >>> from trueaxis.datasets import sensors
    >>> from trueaxis.plots import CellMapDisplay
    >>> X = sensors().X
    >>> display = CellMapDisplay.from_estimator(DSWL(2, cells=True).fit(X), X)
    >>> display.ax_.get_title()
    'Cell map: 23 of 1,200 cells are wrong'
    """

    cells: CellMap
    labels: NDArray[Any]

    @classmethod
    def _of(cls, model: Any, X: ArrayLike) -> Self:
        cells = cell_map(model, X)
        return cls(cells, row_labels(X, len(cells.outlier)))

    @ignore_float_errors
    def plot(self, ax: Any = None, *, rows: Sequence[int] | None = None) -> Self:
        """Draw the map.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Axes to draw on; a new figure if not given.
        rows : sequence of int, optional
            Positions of the rows to show, from 0. By default all, up to 40. Of more
            rows, the 40 worst that have something to see: outliers first, then good
            rows with wrong cells, then rows that only have missing cells.

        Returns
        -------
        self
        """
        shown, note = self._choose(rows)
        cells = self.cells.take(shown)
        m, D = cells.wrong.shape
        size = np.clip(3.4 + 0.36 * D, 6.4, 13), np.clip(2.1 + 0.19 * m, 3.2, 9)
        ax = self._canvas(ax, size)
        cell = _inches(ax) * 72 / (D, m)
        ax.set(xlim=(-0.5, D - 0.5), ylim=(m - 0.5, -0.5))
        _draw_cells(ax, cells, cell)
        ax.xaxis.tick_top()
        names = [shorten(str(name), 18) for name in cells.names]
        _write_names(ax.xaxis, names, cell[0])
        _write_names(ax.yaxis, _texts(self.labels[shown]), cell[1])
        name_axes(ax, self._title(), note, "")
        ax.spines[["top", "right"]].set_visible(True)
        for spine in ax.spines.values():
            spine.set(linewidth=0.6, color=GRAY)
        _color_bar(ax)
        return self

    def _choose(self, rows: Sequence[int] | None) -> tuple[NDArray[np.intp], str]:
        """Return the positions of the rows to show, and a note on them."""
        n, worst = len(self.cells.outlier), worst_rows(self.cells)
        if rows is not None:
            return check_positions(rows, n), f"{len(rows):,} of {n:,} rows"
        if n <= MOST_ROWS:
            return np.arange(n), f"all {n:,} rows, in their order"
        if not len(worst):
            note = f"the first {MOST_ROWS} of {n:,} rows, none with anything to see"
            return np.arange(MOST_ROWS), note
        shown = worst[:MOST_ROWS]
        of = f"{len(shown)} of {len(worst):,} rows with something to see"
        return shown, f"worst first: {of}"

    def _title(self) -> str:
        wrong, missing = int(self.cells.wrong.sum()), int(self.cells.missing.sum())
        are, size = "is wrong" if wrong == 1 else "are wrong", self.cells.wrong.size
        also = f", {missing:,} missing" if missing else ""
        return f"Cell map: {wrong:,} of {size:,} cells {are}{also}"


def worst_rows(cells: CellMap) -> NDArray[np.intp]:
    """Return the positions of the rows that have something to see.

    Outliers first, then good rows with wrong cells, then rows that only have missing
    cells; among them, rows with many wrong cells first, and then those with large
    deviations. However many outliers there are, half of the rows shown are such good
    rows.
    """
    n_wrong, n_missing = cells.wrong.sum(axis=1), cells.missing.sum(axis=1)
    size = np.where(cells.missing, 0.0, np.abs(cells.deviations)).max(axis=1)
    order = np.lexsort((-n_missing, -size, -n_wrong))
    bad, touched = cells.outlier[order], n_wrong[order] > 0
    outliers, good = order[bad], order[~bad & touched]
    incomplete = order[~bad & ~touched & (n_missing[order] > 0)]
    room = max(MOST_ROWS // 2, MOST_ROWS - len(good))
    return np.concatenate([outliers[:room], good, incomplete, outliers[room:]])


def _inches(ax: Any) -> NDArray[np.float64]:
    """Return roughly the width and height of axes, before the layout is known."""
    box = ax.get_position()
    inches = np.array(ax.figure.get_size_inches()) * (box.width, box.height)
    return np.asarray(0.85 * inches)  # labels and the color bar take the rest


def _colors(deviations: NDArray[Any]) -> NDArray[np.float64]:
    """Return colors that are transparent at 0, for light and dark backgrounds."""
    from matplotlib.colors import to_rgb

    x = np.clip(np.nan_to_num(deviations, nan=0.0), -FULL_COLOR, FULL_COLOR)
    low, high = np.array(to_rgb(BLUE)), np.array(to_rgb(RED))
    strength = (np.abs(x) / FULL_COLOR) ** COLOR_POWER
    return np.concatenate(
        [np.where(x[..., None] < 0, low, high), strength[..., None]], axis=-1
    )


def _draw_cells(ax: Any, cells: CellMap, cell: NDArray[np.float64]) -> None:
    """Draw the cells, with a frame around the wrong ones, and entries of a legend."""
    from matplotlib.collections import PolyCollection
    from matplotlib.colors import to_rgba
    from matplotlib.patches import Patch

    gray, colors = to_rgba(GRAY, 0.45), _colors(cells.deviations)
    colors[cells.missing] = gray
    ax.imshow(colors, aspect="auto", interpolation="nearest", zorder=1)
    corners = np.array([[-0.5, -0.5], [0.5, -0.5], [0.5, 0.5], [-0.5, 0.5]])
    places = np.argwhere(cells.wrong)[:, None, ::-1] + corners
    style: Any = {"edgecolor": TEXT, "facecolor": "none"}
    width = float(np.clip(0.13 * cell.min(), 0.5, 1.6))
    frames = PolyCollection(places, linewidth=width, zorder=3, **style)
    ax.add_collection(frames, autolim=False)
    keys = [Patch(label="wrong cell", lw=1.4, **style)] if cells.wrong.any() else []
    if cells.missing.any():
        keys.append(Patch(label="missing cell", facecolor=gray))
    outlier = _mark_outliers(ax, cells.outlier)
    if keys or outlier:
        legend_below(ax, [*keys, *outlier])


def _mark_outliers(ax: Any, outlier: NDArray[np.bool_]) -> list[Any]:
    """Put a diamond beside the rows that are outliers; return it for the legend."""
    from matplotlib.transforms import ScaledTranslation

    (some,) = np.nonzero(outlier)
    if not len(some):
        return []
    right = ScaledTranslation(7 / 72, 0, ax.figure.dpi_scale_trans)
    diamonds = ax.scatter(
        np.full(len(some), 1.0),
        some,
        s=24,
        c=RED,
        marker="D",
        edgecolors=TEXT,
        linewidths=0.5,
        transform=ax.get_yaxis_transform() + right,
        clip_on=False,
        label="outlying row",
        zorder=4,
    )
    return [diamonds]


def _write_names(axis: Any, texts: list[str], room: float) -> None:
    """Write as many names along an axis as there is room for, evenly spaced."""
    longest = 0.58 * SMALL * max(map(len, texts))
    upright = axis.axis_name == "x" and longest > room - 2
    flat = axis.axis_name == "x" and not upright
    font = SMALL if flat else float(np.clip(0.8 * room, 6.0, SMALL))
    step = 1 if flat else max(int(np.ceil(1.25 * font / max(room, 1e-3))), 1)
    axis.set_ticks(
        range(0, len(texts), step),
        texts[::step],
        fontsize=font,
        color=TEXT,
        rotation=90 if upright else 0,
    )
    axis.set_tick_params(length=2 if step > 1 else 0, pad=2)


def _color_bar(ax: Any) -> None:
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import ListedColormap, Normalize

    ramp = _colors(np.linspace(-FULL_COLOR, FULL_COLOR, 121))
    scale = ScalarMappable(Normalize(-FULL_COLOR, FULL_COLOR), ListedColormap(ramp))
    bar = ax.figure.colorbar(scale, ax=ax, aspect=28, fraction=0.05, pad=0.06)
    bar.solids.set_rasterized(True)
    bar.outline.set(linewidth=0.6, edgecolor=GRAY)
    ends = f"≤ −{FULL_COLOR:g}", "−3", "0", "3", f"≥ {FULL_COLOR:g}"
    text = {"fontsize": SMALL, "color": TEXT}
    bar.set_ticks((-FULL_COLOR, -3, 0, 3, FULL_COLOR), labels=ends, **text)
    bar.ax.tick_params(length=2, color=GRAY)
    bar.set_label("standard deviations", labelpad=0, **text)
    bar.ax.set_title("too high", loc="left", pad=9, **text)
    bar.ax.set_xlabel("too low", loc="left", labelpad=8, **text)


def _texts(labels: NDArray[Any]) -> list[str]:
    if labels.dtype.kind == "M":  # days, or times without digits below a second
        days = (labels == labels.astype("M8[D]")).all()
        labels = np.datetime_as_string(labels, unit="D" if days else "s")
        labels = np.char.replace(labels, "T", " ")
    return [shorten(str(label), 19) for label in labels]
