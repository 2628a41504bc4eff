"""The paper's three figures on toy data: same panels and axes, our own style."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from studies.methods import AUTOMATIC, NAMES, PUBLISHED
from studies.toy.study import IN_WORDS, KINDS, WEIGHTED
from trueaxis.plots.canvas import GRAY, ORANGE, RED, SMALL, TEXT, name_axes, pyplot

# Color and line of each method. Wide lines are drawn first, so that overlapping ones
# stay visible.
LINES = {
    "PCA": ("#9a9a9a", "-", 5.0),
    "PCA-L1": ("#f0c75e", "-", 4.0),
    "R1-PCA": ("#56b4e9", "-", 3.2),
    "L2,p-PCA": ("#009e73", "--", 2.4),
    "RPCA-OM": ("#000000", "-.", 1.8),
    "RPCA-DI": ("#cc79a7", "--", 2.4),
    PUBLISHED: (ORANGE, ":", 2.4),
    AUTOMATIC: (RED, "-", 1.4),
}
STARS = {"RPCA-OM": "#000000", PUBLISHED: ORANGE, AUTOMATIC: RED}
First = dict[str, dict[str, NDArray[Any]]]


def draw(first: First, folder: Path) -> list[Path]:
    """Draw all figures; `first` holds the data of the first seed, by kind."""
    drawn = {
        "toy-directions": directions(first),
        "toy-weights": distributions(first["both"]),
        "toy-heat": heat(first["both"]),
    }
    paths = []
    for name, figure in drawn.items():
        paths.append(folder / f"{name}.png")
        figure.savefig(paths[-1], dpi=130)
        pyplot().close(figure)
    return paths


def directions(first: First) -> Any:
    """Draw points, axes of all methods, and means of the methods that estimate one."""
    figure, axes = pyplot().subplots(
        1, len(KINDS), figsize=(15, 4.6), layout="constrained"
    )
    for ax, kind, letter in zip(axes, KINDS, "abcd", strict=True):
        data = first[kind]
        _draw_points(ax, data)
        reach = 1.25 * np.abs(data["X"]).max()
        for name, axis, mean in zip(NAMES, data["axes"], data["means"], strict=True):
            color, style, width = LINES[name]
            ends = mean + np.outer([-2 * reach, 2 * reach], axis)
            ax.plot(*ends.T, color=color, ls=style, lw=width, label=name, zorder=2)
        for name, color in STARS.items():
            mean = data["means"][NAMES.index(name)]
            ax.scatter(
                *mean, marker="*", s=300 if name == PUBLISHED else 150, c=color,
                ec="white", lw=0.8, zorder=4, label=f"mean of {name}",
            )  # fmt: skip
        ax.set_xlim(-reach, reach)
        ax.set_ylim(-reach, reach)
        ax.set_aspect("equal")
        name_axes(ax, f"({letter}) {IN_WORDS[kind]}", "first feature")
    axes[0].set_ylabel("second feature", color=TEXT)
    handles, labels = axes[-1].get_legend_handles_labels()
    figure.legend(
        handles, labels, loc="outside lower center", ncols=7, fontsize=SMALL,
        frameon=False,
    )  # fmt: skip
    return figure


def _draw_points(ax: Any, data: dict[str, NDArray[Any]]) -> None:
    X, bad = data["X"], data["is_outlier"]
    ax.scatter(
        *X[~bad].T, s=14, facecolors="none", edgecolors=GRAY, lw=0.7, zorder=1,
        label="regular point",
    )  # fmt: skip
    if bad.any():
        ax.scatter(*X[bad].T, s=26, marker="x", c="#555555", lw=1, label="outlier")


def distributions(data: dict[str, NDArray[Any]]) -> Any:
    """Draw the weight of every point, on a logarithmic scale."""
    bad = data["is_outlier"]
    figure, axes = pyplot().subplots(
        1, len(WEIGHTED), figsize=(16, 3.6), layout="constrained"
    )
    index = np.arange(len(bad))
    for ax, name, weights, letter in zip(
        axes, WEIGHTED, data["weights"], "abcde", strict=True
    ):
        shown, zero = _positive(weights)
        for some, color, marker, label in (
            (~bad & ~zero, GRAY, "o", "regular point"),
            (bad & ~zero, RED, "x", "outlier"),
            (~bad & zero, GRAY, "v", "regular point, weight 0"),
            (bad & zero, RED, "v", "outlier, weight 0"),
        ):
            if some.any():
                ax.scatter(index[some], shown[some], s=16, c=color, marker=marker,
                           lw=1, label=label)  # fmt: skip
        _log_scale(ax, shown)
        name_axes(ax, f"({letter}) {name}", "sample")
    axes[0].set_ylabel("weight", color=TEXT)
    _shared_legend(figure, axes)
    return figure


def _positive(weights: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return weights for a logarithmic axis, with zeros below all others."""
    zero = weights <= 0
    least = weights[~zero].min()
    span = max(weights.max() / least, 10.0)
    return np.where(zero, least / span**0.15, weights), zero


def _log_scale(ax: Any, shown: NDArray[Any]) -> None:
    """Use a logarithmic scale with about five ticks at powers of ten."""
    from matplotlib.ticker import FixedLocator, NullLocator

    low, high = np.log10(shown.min()), np.log10(shown.max())
    room = 0.06 * max(high - low, 0.5)
    step = max(1, int(np.ceil((high - low) / 5)))
    step = -(-step // 10) * 10 if step > 10 else step
    top = int(np.floor(high + room))
    powers = np.arange(top - top % step, low - room - step, -step)
    ax.set_yscale("log")
    ax.yaxis.set_major_locator(FixedLocator([10.0**p for p in powers if p > -307]))
    if step > 1:
        ax.yaxis.set_minor_locator(NullLocator())
    ax.set_ylim(10 ** max(low - room, -307), 10 ** (high + room))


def _shared_legend(figure: Any, axes: Any) -> None:
    shown: dict[str, Any] = {}
    for ax in axes:
        shown |= dict(zip(*ax.get_legend_handles_labels()[::-1], strict=True))
    figure.legend(
        shown.values(), shown.keys(), loc="outside lower center", ncols=4,
        fontsize=SMALL, frameon=False,
    )  # fmt: skip


def heat(data: dict[str, NDArray[Any]]) -> Any:
    """Draw points colored by their weight, relative to those of regular points."""
    X, bad = data["X"], data["is_outlier"]
    figure, axes = pyplot().subplots(
        1, len(WEIGHTED), figsize=(12, 4.1), layout="constrained", sharey=True
    )
    for ax, name, weights, letter in zip(
        axes, WEIGHTED, data["weights"], "abcde", strict=True
    ):
        # Some weights near the subspace are huge: on a color scale up to the largest,
        # all others would look like 0.
        color = np.clip(weights / np.quantile(weights[~bad], 0.95), 0, 1)
        order = np.argsort(color)
        drawn = ax.scatter(
            *X[order].T, c=color[order], s=22, cmap="viridis", vmin=0, vmax=1,
            ec="#444444", lw=0.3,
        )  # fmt: skip
        ax.set_aspect("equal")
        name_axes(ax, f"({letter}) {name}", "first feature")
    axes[0].set_ylabel("second feature", color=TEXT)
    bar = figure.colorbar(drawn, ax=axes, shrink=0.9, pad=0.01)
    bar.set_label("weight / 95 % quantile\nof regular points", color=TEXT)
    return figure
