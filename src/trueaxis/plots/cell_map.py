"""Display of cells: how far each is from what would fit, which are wrong or missing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trueaxis.data.threads import own_floats
from trueaxis.diagnostics import CellMap, cell_map, row_labels
from trueaxis.diagnostics.inputs import check_positions
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
FULL = 6.0  # standard deviations at which colors are full
GENTLE = 1.5  # power of a deviation in its color: ordinary cells stay nearly blank
COARSE = 5.0  # points; smaller cells get neither a grid nor a hatch


@dataclass(eq=False, repr=False)
class CellMapDisplay(Display):
    """Every cell in the color of its deviation, with wrong and missing cells marked.

    A cell is blue if it is below what the other cells of its row say, red if it is
    above, and blank if it is near; colors are full from 6 standard deviations. Wrong
    cells have a black frame, missing ones are gray and hatched, and a diamond beside a
    row marks an outlier, a row that is bad even without its wrong cells.

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

    def _brief(self) -> str:
        wrong, missing = self.cells.wrong, self.cells.missing
        n, D = wrong.shape
        counts = f"{wrong.sum():,} wrong and {missing.sum():,} missing cells"
        return f"{n:,} rows, {D:,} columns, {counts}"

    @classmethod
    @own_floats
    def from_estimator(
        cls,
        model: Any,
        X: ArrayLike,
        *,
        rows: Sequence[int] | None = None,
        ax: Any = None,
    ) -> Self:
        """Compare the cells of rows with what would fit, and draw the map.

        Parameters
        ----------
        model : DSWL or Pipeline
            Fitted, alone or at the end of a pipeline. It knows wrong cells if it was
            fitted with ``cells=True``.
        X : array-like of shape (n, D)
            Rows, those of the fit or new ones.
        rows, ax
            See `plot`.

        Returns
        -------
        CellMapDisplay
        """
        cells = cell_map(model, X)
        display = cls(cells, row_labels(X, len(cells.outlier)))
        return display.plot(ax, rows=rows)

    @own_floats
    def plot(self, ax: Any = None, *, rows: Sequence[int] | None = None) -> Self:
        """Draw the map.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Axes to draw on; a new figure if not given.
        rows : sequence of int, optional
            Positions of the rows to show, from 0. By default all, up to 40. Of more
            rows, the 40 worst that have something to see: outliers first, then good
            rows with wrong cells, then rows that only have holes.

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
        _mark_outliers(ax, cells.outlier)
        _name_columns(ax, cells.names, cells.wrong.sum(axis=0), cell[0])
        _name_rows(ax, _texts(self.labels[shown]), cell[1])
        name_axes(ax, self._title(), note, "")
        ax.spines[["top", "right"]].set_visible(True)
        for spine in ax.spines.values():
            spine.set(linewidth=0.6, color=GRAY)
        if ax.get_legend_handles_labels()[0]:
            legend_below(ax)
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
        if len(worst) <= MOST_ROWS:
            of = f"the {len(worst):,} of {n:,} rows with something to see"
        else:
            of = f"{MOST_ROWS} of {len(worst):,} rows with something to see"
        return worst[:MOST_ROWS], f"worst first: {of}"

    def _title(self) -> str:
        wrong, missing = int(self.cells.wrong.sum()), int(self.cells.missing.sum())
        of = f"of {self.cells.wrong.size:,} cells"
        if wrong or not missing:
            are = "is wrong" if wrong == 1 else "are wrong"
            also = f", {missing:,} missing" if missing else ""
            return f"Cell map: {wrong:,} {of} {are}{also}"
        return f"Cell map: {missing:,} {of} {'is' if missing == 1 else 'are'} missing"


def worst_rows(cells: CellMap) -> NDArray[np.intp]:
    """Return the positions of the rows that have something to see.

    Outliers first, then good rows with wrong cells, then rows that only have holes;
    among them, rows with many wrong cells first, and then those with large deviations.
    However many outliers there are, half of the rows shown are such good rows.
    """
    n_wrong, n_missing = cells.wrong.sum(axis=1), cells.missing.sum(axis=1)
    size = np.where(cells.missing, 0.0, np.abs(cells.deviations)).max(axis=1)
    order = np.lexsort((-n_missing, -size, -n_wrong))
    bad, touched = cells.outlier[order], n_wrong[order] > 0
    outliers, good = order[bad], order[~bad & touched]
    holes = order[~bad & ~touched & (n_missing[order] > 0)]
    room = max(MOST_ROWS // 2, MOST_ROWS - len(good))
    return np.concatenate([outliers[:room], good, holes, outliers[room:]])


def _inches(ax: Any) -> NDArray[np.float64]:
    """Return roughly the width and height of axes, before the layout is known."""
    box = ax.get_position()
    inches = np.array(ax.figure.get_size_inches()) * (box.width, box.height)
    return np.asarray(0.85 * inches)  # labels and the color bar take the rest


def _font(room: float) -> float:
    """Return a font size for labels that are so many points apart."""
    return float(np.clip(0.8 * room, 6.0, SMALL))


def _colors(deviations: NDArray[Any]) -> NDArray[np.float64]:
    """Return colors that let the paper, light or dark, shine through at 0."""
    from matplotlib.colors import to_rgb

    x = np.clip(np.nan_to_num(deviations, nan=0.0), -FULL, FULL)
    low, high = np.array(to_rgb(BLUE)), np.array(to_rgb(RED))
    strength = (np.abs(x) / FULL) ** GENTLE
    return np.concatenate(
        [np.where(x[..., None] < 0, low, high), strength[..., None]], axis=-1
    )


def _draw_cells(ax: Any, cells: CellMap, cell: NDArray[np.float64]) -> None:
    from matplotlib.colors import to_rgba

    m, D = cells.wrong.shape
    gray = to_rgba(GRAY, 0.45)
    colors = _colors(cells.deviations)
    colors[cells.missing] = gray
    ax.imshow(colors, aspect="auto", interpolation="nearest", zorder=1)
    coarse = cell.min() > COARSE
    if coarse:
        style = {"color": GRAY, "lw": 0.4, "alpha": 0.5, "zorder": 1.5}
        ax.vlines(np.arange(D - 1) + 0.5, -0.5, m - 0.5, **style)
        ax.hlines(np.arange(m - 1) + 0.5, -0.5, D - 0.5, **style)
        hatched = {"edgecolor": GRAY, "hatch": "////", "linewidth": 0.0}
        _draw_boxes(ax, cells.missing, zorder=2, **hatched)
    width = float(np.clip(0.13 * cell.min(), 0.5, 1.6))
    _draw_boxes(ax, cells.wrong, zorder=3, edgecolor=TEXT, linewidth=width)
    if cells.wrong.any():
        _add_key(ax, "wrong cell", edgecolor=TEXT, facecolor="none", lw=1.4)
    if cells.missing.any():
        hatched = {"facecolor": "none", "edgecolor": GRAY, "hatch": "//////", "lw": 0.8}
        _add_key(ax, "missing cell", **(hatched if coarse else {"facecolor": gray}))


def _draw_boxes(ax: Any, some: NDArray[np.bool_], **style: Any) -> None:
    """Draw a box around each of some cells."""
    from matplotlib.collections import PolyCollection

    row, column = np.nonzero(some)
    corners = np.array([[-0.5, -0.5], [0.5, -0.5], [0.5, 0.5], [-0.5, 0.5]])
    boxes = np.stack([column, row], axis=1)[:, None, :] + corners
    ax.add_collection(PolyCollection(boxes, facecolor="none", **style), autolim=False)


def _add_key(ax: Any, name: str, **style: Any) -> None:
    """Add a patch that is only visible in the legend."""
    from matplotlib.patches import Rectangle

    key = Rectangle((np.nan, np.nan), 1, 1, label=name, **style)
    key.set_in_layout(False)
    ax.add_patch(key)


def _mark_outliers(ax: Any, outlier: NDArray[np.bool_]) -> None:
    """Put a diamond beside the rows that are outliers."""
    from matplotlib.transforms import ScaledTranslation

    (some,) = np.nonzero(outlier)
    if not len(some):
        return
    right = ScaledTranslation(7 / 72, 0, ax.figure.dpi_scale_trans)
    ax.scatter(
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


def _name_rows(ax: Any, texts: list[str], height: float) -> None:
    step = max(int(np.ceil(1.25 * _font(height) / max(height, 1e-3))), 1)
    shown = np.arange(0, len(texts), step)
    ax.set_yticks(shown, texts[::step], fontsize=_font(height), color=TEXT)
    ax.tick_params(axis="y", length=0 if step == 1 else 2)


def _name_columns(
    ax: Any, names: NDArray[Any], n_wrong: NDArray[np.intp], width: float
) -> None:
    """Write the names of columns above them, those with wrong cells first."""
    texts = [shorten(str(name), 18) for name in names]
    longest = max(map(len, texts))
    upright = 0.58 * SMALL * longest > width - 2
    font = _font(width) if upright else SMALL
    room = 1.15 * font if upright else 0.0
    shown: list[int] = []
    for j in [*np.argsort(-n_wrong, kind="stable"), *range(len(texts))]:
        if all(abs(j - other) * width >= room and j != other for other in shown):
            shown.append(int(j))
    shown.sort()
    ax.xaxis.tick_top()
    ax.set_xticks(
        shown, [texts[j] for j in shown], fontsize=font, color=TEXT,
        rotation=90 if upright else 0,
    )  # fmt: skip
    ax.tick_params(axis="x", length=2 if len(shown) < len(texts) else 0, pad=2)


def _color_bar(ax: Any) -> None:
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import ListedColormap, Normalize

    ramp = _colors(np.linspace(-FULL, FULL, 121))
    scale = ScalarMappable(Normalize(-FULL, FULL), ListedColormap(ramp))
    bar = ax.figure.colorbar(scale, ax=ax, aspect=28, fraction=0.05, pad=0.06)
    bar.solids.set_rasterized(True)
    bar.outline.set(linewidth=0.6, edgecolor=GRAY)
    ends = f"≤ −{FULL:g}", "−3", "0", "3", f"≥ {FULL:g}"
    text = {"fontsize": SMALL, "color": TEXT}
    bar.set_ticks((-FULL, -3, 0, 3, FULL), labels=ends, **text)
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
