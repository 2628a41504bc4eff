"""DRAW the figures of the report as SVG that takes the colours of the page."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from trueaxis.diagnostics import TrustPath
from trueaxis.plots import (
    ConvergenceDisplay,
    ScoresDisplay,
    ScreeDisplay,
    TrustPathDisplay,
    WeightsDisplay,
)
from trueaxis.plots.canvas import TEXT
from trueaxis.report.analysis import Analysis

SIZE = (4.9, 4.1)  # inches; small, so that text stays legible on a phone
MANY = 600  # rows whose points are drawn as pixels: as marks they would take too much
SHARP = 150  # pixels of those per inch
STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",  # text stays text
    "svg.hashsalt": "trueaxis",  # the same figure gives the same file
    "font.family": ["DejaVu Sans"],
    **dict.fromkeys(
        ("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color",
         "ytick.color"), TEXT
    ),
}  # fmt: skip
NO_REMARKS = dict.fromkeys(("Creator", "Date", "Format", "Type"))


class Drawing(NamedTuple):
    """A figure as SVG, and its title, which the page sets as a heading."""

    title: str
    svg: str


def draw(found: Analysis, path: TrustPath | None) -> dict[str, Drawing]:
    """Draw the figures of an analysis.

    Parameters
    ----------
    found : Analysis
    path : TrustPath or None

    Returns
    -------
    dict
        Drawings by name, without weights and trust path where the method has none, or
        the rows are new.
    """
    model, plane = found.model, found.score_plane
    ratio = model.explained_variance_ratio_[list(plane.components)]
    many = len(found.ids) > MANY
    displays: dict[str, Any] = {
        "scores": ScoresDisplay(plane, found.diagnosis, ratio).plot,
        "convergence": ConvergenceDisplay(
            model.history_, model.converged_, type(model).__name__
        ).plot,
    }
    if len(found.ids) > 1:
        displays["scree"] = ScreeDisplay(
            model.explained_variance_, found.effect.plain_variance
        ).plot
    if found.of_the_fit and hasattr(model, "weights_"):
        displays["weights"] = WeightsDisplay(
            np.asarray(model.weights_), found.diagnosis.kind
        ).plot
    if path is not None:
        displays["trust"] = TrustPathDisplay(path).plot
    return {name: _drawn(plot, name, many) for name, plot in displays.items()}


def _drawn(plot: Callable[[Any], Any], name: str, many: bool) -> Drawing:
    import matplotlib
    from matplotlib.figure import Figure

    # Without pyplot: no window, and nothing that others have open is touched.
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=SIZE, layout="constrained")
        shown = plot(figure.subplots())
        title = shown.ax_.get_title()
        shown.ax_.set_title("")
        if many:
            _make_small(shown.ax_)
        file = io.StringIO()
        figure.savefig(
            file, format="svg", transparent=True, dpi=SHARP, metadata=NO_REMARKS
        )
    return Drawing(title, _fitted(file.getvalue(), name))


def _make_small(ax: Any) -> None:
    """Draw points as pixels, and smaller, so that a crowd of them remains one."""
    for points in ax.collections:
        points.set_rasterized(True)
        points.set_in_layout(False)  # to measure each would take seconds
        points.set_sizes(points.get_sizes() / 3)
        points.set_linewidths(0.25)


def _fitted(svg: str, name: str) -> str:
    """Make a part of a page from a file: own names, and the page's colours."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r' xmlns(:\w+)?="[^"]*"', "", svg)
    svg = re.sub(r'(\bid="|href="#|url\(#)', rf"\1{name}-", svg)
    svg = re.sub(rf"{TEXT}|#000000\b", "currentColor", svg)
    svg = re.sub(r"#ffffff\b", "var(--paper)", svg)
    # Widths are the page's business; the view box keeps the form.
    return re.sub(
        r'<svg height="[^"]*" |<svg width="[^"]*" height="[^"]*" |<svg ',
        f'<svg role="img" aria-labelledby="title-{name}" ',
        svg,
        count=1,
    )
