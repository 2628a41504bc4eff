"""Draw the figures of the report, as SVG in the colors of the page."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from trueaxis.plots import CellMapDisplay, ScreeDisplay
from trueaxis.plots.canvas import TEXT
from trueaxis.plots.cell_map import MOST_ROWS
from trueaxis.report.analysis import Analysis
from trueaxis.report.cells import WIDE

SIZE = (4.9, 4.1)  # inches; small, so that the text is legible on a phone
MANY_ROWS = 600  # above this, points are pixels: as SVG they would take up too much
PIXELS_PER_INCH = 150
STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",  # text stays text
    "svg.hashsalt": "trueaxis",  # makes the output reproducible
    "font.family": ["DejaVu Sans"],
    **dict.fromkeys(
        ("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color",
         "ytick.color"), TEXT
    ),
}  # fmt: skip
NO_METADATA = dict.fromkeys(("Creator", "Date", "Format", "Type"))


class Drawing(NamedTuple):
    """A figure as SVG, and its title, which becomes a heading of the page."""

    title: str
    svg: str


def draw(analysis: Analysis) -> dict[str, Drawing]:
    """Draw the figures of an analysis.

    Parameters
    ----------
    analysis : Analysis

    Returns
    -------
    dict
        Drawings by name.
    """
    model, many = analysis.model, len(analysis.ids) > MANY_ROWS
    displays: dict[str, Any] = {}
    if len(analysis.ids) > 1:
        displays["scree"] = ScreeDisplay(
            model.explained_variance_, analysis.plain.plain_variance
        ).plot
    drawings = {name: _drawing(plot, name, many) for name, plot in displays.items()}
    if analysis.cells is not None:
        display = CellMapDisplay(analysis.cells, analysis.ids)
        lines = min(len(analysis.ids), MOST_ROWS)
        wide = len(analysis.names) > WIDE
        size = (2 if wide else 1) * SIZE[0], min(1.9 + 0.16 * max(lines, 4), 7.5)
        drawings["cells"] = _drawing(display.plot, "cells", False, size)
    return drawings


def _drawing(
    plot: Callable[[Any], Any],
    name: str,
    many: bool,
    size: tuple[float, float] = SIZE,
) -> Drawing:
    import matplotlib
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    # Without pyplot, which would open windows and touch the user's figures, and without
    # `savefig`, which would draw everything twice.
    with matplotlib.rc_context(STYLE), warnings.catch_warnings():
        # Text stays text: the browser has the signs that the font here lacks.
        warnings.filterwarnings("ignore", "Glyph .* missing from font")
        figure = Figure(
            figsize=size, dpi=PIXELS_PER_INCH, layout="constrained",
            facecolor="none", edgecolor="none",
        )  # fmt: skip
        canvas: Any = FigureCanvasSVG(figure)
        ax = plot(figure.subplots()).ax_
        title = ax.get_title()
        ax.set_title("")
        if many:
            _rasterize(ax)
        for each in figure.axes:
            _make_transparent(each)
        file = io.StringIO()
        canvas.print_svg(file, metadata=NO_METADATA)
    return Drawing(title, _embed(file.getvalue(), name))


def _make_transparent(ax: Any) -> None:
    ax.patch.set(facecolor="none", edgecolor="none")
    for inset in ax.child_axes:
        _make_transparent(inset)


def _rasterize(ax: Any) -> None:
    """Draw points as pixels, and smaller, so that many of them do not overlap."""
    for points in ax.collections:
        points.set_offsets(_one_per_pixel(ax, points.get_offsets()))
        points.set_rasterized(True)
        points.set_in_layout(False)  # measuring each would take seconds
        points.set_sizes(points.get_sizes() / 3)
        points.set_linewidths(0.25)


def _one_per_pixel(ax: Any, offsets: Any) -> Any:
    """Return points without those at the same half of a pixel: each takes time."""
    ax.autoscale_view()  # settles the limits, unless they are set
    place = np.round(2 * ax.transData.transform(offsets)).astype(int)
    _, first = np.unique(place @ [1 << 32, 1], return_index=True)
    return offsets[np.sort(first)]


def _embed(svg: str, name: str) -> str:
    """Return SVG to embed in the page, with unique ids and the page's colors."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r' xmlns(:\w+)?="[^"]*"', "", svg)
    svg = re.sub(r'(\bid="|href="#|url\(#)', rf"\1{name}-", svg)
    svg = re.sub(rf"{TEXT}|#000000\b", "currentColor", svg)
    svg = re.sub(r"#ffffff\b", "var(--paper)", svg)
    # The page sets the width; the view box keeps the aspect ratio.
    return re.sub(
        r'<svg height="[^"]*" |<svg width="[^"]*" height="[^"]*" |<svg ',
        f'<svg role="img" aria-labelledby="title-{name}" ',
        svg,
        count=1,
    )
