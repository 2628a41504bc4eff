"""Shared parts of the displays: axes, colors and markers of the kinds, labels.

Colors are those of Okabe and Ito, which color-blind readers can tell apart. Markers
also differ in shape, for printing in gray.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trueaxis.data.threads import ignore_float_errors
from trueaxis.diagnostics import KINDS
from trueaxis.wording import shorten

GRAY, BLUE, ORANGE, RED = "#9a9a9a", "#0072b2", "#e69f00", "#d55e00"
PINK = "#cc79a7"
TEXT = "#222222"
# Color, marker and size of every kind.
MARKER_STYLES = {
    "regular": (GRAY, "o", 16),
    "inside": (BLUE, "s", 38),
    "off": (ORANGE, "^", 46),
    "both": (RED, "D", 38),
    "group": (PINK, "v", 46),
}
LOG_AXIS_FROM = 15  # an axis is logarithmic if a distance exceeds this many cut-offs
RASTERIZED_FROM = 5000  # more points than this are drawn as pixels in vector graphics
NARROW_INCHES = 4.6  # narrower axes have no room for four legend entries in a line
SMALL = 9  # font size of legends and labels in points


class Display:
    """Base class of the displays.

    Attributes
    ----------
    ax_ : matplotlib axes
        Axes of the plot.
    figure_ : matplotlib figure
    """

    ax_: Any
    figure_: Any

    @classmethod
    @ignore_float_errors
    def from_estimator(
        cls, model: Any, X: ArrayLike, *, ax: Any = None, **options: Any
    ) -> Self:
        """Compute the data of the display, and draw it.

        Parameters
        ----------
        model : estimator or Pipeline
            Any fitted method, alone or at the end of a pipeline.
        X : array-like of shape (n, D)
            Rows, those of the fit or new ones.
        ax : matplotlib axes, optional
            Axes to draw on; a new figure if not given.
        **options
            See `plot`.

        Returns
        -------
        Display
        """
        return cls._of(model, X).plot(ax, **options)

    @classmethod
    def _of(cls, model: Any, X: ArrayLike) -> Self:
        raise NotImplementedError

    def plot(self, ax: Any = None) -> Self:
        """Draw on these axes, or on those of a new figure; return the display."""
        raise NotImplementedError

    def _canvas(self, ax: Any, size: tuple[float, float]) -> Any:
        """Return the given axes, or those of a new figure."""
        if ax is None:
            ax = pyplot().subplots(figsize=size, layout="constrained")[1]
        self.ax_, self.figure_ = ax, ax.figure
        return ax


def pyplot() -> Any:
    """Return matplotlib.pyplot, or raise if it is not installed."""
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError(
            "Plots need matplotlib, which is not installed: "
            "pip install 'trueaxis[plot]'"
        ) from None
    return plt


def draw_kinds(ax: Any, x: NDArray[Any], y: NDArray[Any], kind: NDArray[Any]) -> None:
    """Draw rows in the colors and markers of their kinds, with counts as labels."""
    for name in KINDS:
        some = kind == name
        if not some.any():
            continue
        color, marker, size = MARKER_STYLES[name]
        plain = name == "regular"
        ax.scatter(
            x[some],
            y[some],
            s=size,
            c=color,
            marker=marker,
            edgecolors="none" if plain else "black",
            linewidths=0.6,
            zorder=2 if plain else 3,
            rasterized=some.sum() > RASTERIZED_FROM,
            label=f"{name} ({some.sum()})",
            clip_on=False,
        )


def name_axes(ax: Any, title: str, x: str = "", y: str = "") -> None:
    """Set title and labels, in dark text."""
    ax.set_title(title, fontsize=11, color=TEXT)
    ax.set_xlabel(x, color=TEXT)
    ax.set_ylabel(y, color=TEXT)
    ax.spines[["top", "right"]].set_visible(False)


def legend_below(ax: Any, entries: list[Any] | None = None) -> None:
    """Put the legend below the label of the x axis, where it hides no points."""
    from matplotlib.transforms import ScaledTranslation

    lines = ax.get_xlabel().count("\n")
    down = ScaledTranslation(0, -(38 + 12 * lines) / 72, ax.figure.dpi_scale_trans)
    inches = ax.get_position().width * ax.figure.get_size_inches()[0]
    ax.legend(
        handles=ax.get_legend_handles_labels()[0] if entries is None else entries,
        loc="upper center",
        bbox_to_anchor=(0.5, 0.0),
        bbox_transform=ax.transAxes + down,
        ncols=4 if inches > NARROW_INCHES else 2,
        fontsize=SMALL,
        frameon=False,
        borderaxespad=0.0,
        handletextpad=0.5,
        columnspacing=1.4,
    )


def distance_axis(axis: Any, distance: NDArray[Any], cutoff: float) -> str:
    """Scale an axis for distances: linear, or linear up to the cut-off and log beyond.

    On a linear axis, one very distant row would squeeze all others into a point. On a
    logarithmic one, the irrelevant center of the cloud would take most of the room.
    Returns a note on the scale for the label of the axis.
    """
    finite = distance[np.isfinite(distance)]
    top = float(finite.max(initial=cutoff))
    knee = cutoff if cutoff > 0 else float(finite[finite > 0].min(initial=top))
    limit = getattr(axis.axes, f"set_{axis.axis_name}lim")
    if top <= LOG_AXIS_FROM * knee:
        limit(0, 1.08 * top if top > 0 else 1.0)
        return ""
    decades = np.log10(top / knee)
    rescale = getattr(axis.axes, f"set_{axis.axis_name}scale")
    rescale("symlog", linthresh=knee, linscale=max(0.5, 0.5 * decades))
    limit(0, top * 10 ** (0.1 * max(decades, 1)))
    powers = 10.0 ** np.arange(np.ceil(np.log10(knee)), np.log10(top))
    axis.set_ticks([0, *powers[:: len(powers) // 6 + 1]])
    axis.set_major_formatter("{x:g}")
    return "\nlog beyond the cut-off"


def label_points(
    ax: Any,
    x: NDArray[Any],
    y: NDArray[Any],
    labels: NDArray[Any],
    others: NDArray[Any],
) -> None:
    """Write labels next to points, where they cover no other label or marker.

    Earlier points get the better places. `others`, of shape (n, 2), are markers to
    keep clear of, including the points themselves.
    """
    ax.figure.draw_without_rendering()  # determines limits and layout
    scale = 72 / ax.figure.dpi
    spots = ax.transData.transform(np.column_stack([x, y])) * scale
    marks = ax.transData.transform(others) * scale
    title = ax.title.get_window_extent()
    taken = [
        tuple(scale * size for size in title.bounds),
        *((a - 4, b - 4, 8.0, 8.0) for a, b in marks),
    ]
    for spot, label, px, py in zip(spots, labels, x, y, strict=True):
        text = shorten(str(label), 14)
        width, height = 0.62 * SMALL * len(text), 1.15 * SMALL
        dx, dy = _free_offset(spot, width, height, taken)
        taken.append((spot[0] + dx, spot[1] + dy, width, height))
        far = dx > 10 or dx + width < -10 or dy > 10 or dy + height < -10
        ax.annotate(
            text,
            (px, py),
            xytext=(dx, dy),
            textcoords="offset points",
            fontsize=SMALL,
            color=TEXT,
            arrowprops={"arrowstyle": "-", "lw": 0.5, "color": GRAY} if far else None,
            annotation_clip=False,
            zorder=4,
        )


def _free_offset(
    spot: NDArray[Any], width: float, height: float, taken: list[Any]
) -> tuple[float, float]:
    """Return the nearest free offset of a label's lower left corner."""

    def place(reach: float, angle: float) -> tuple[float, float]:
        # The side of the label that faces the point is `reach` away from it.
        right, up = np.cos(angle), np.sin(angle)
        dx, dy = reach * right, reach * up
        return dx - 0.5 * width * (1 - right), dy - 0.5 * height * (1 - up)

    def is_free(dx: float, dy: float) -> bool:
        left, low = spot[0] + dx, spot[1] + dy
        return not any(
            left < a + w and a < left + width and low < b + h and b < low + height
            for a, b, w, h in taken
        )

    angles = np.arange(12) * np.pi / 6
    places = [place(reach, angle) for reach in (7, 15, 25, 37, 50) for angle in angles]
    return next((each for each in places if is_free(*each)), places[0])
