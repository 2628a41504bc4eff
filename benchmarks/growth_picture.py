"""The sizes of `growth.py`, the slopes between them, and their picture."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from matplotlib.figure import Figure

from trueaxis.plots.canvas import BLUE, GRAY, RED, TEXT

Times = dict[str, list[float]]

ROWS = (100, 200, 500, 1000, 2000, 4000, 10_000, 30_000, 100_000, 300_000, 1_000_000)
COLUMNS = (10, 20, 50, 100, 200, 500, 1000, 2000, 5000)
COMPONENTS = (1, 2, 5, 10, 20, 50, 100, 200)
# Up to 4000 rows, all rows are in the sample on which the stages run.
ROW_SEGMENTS = ((100, 1000), (1000, 4000), (4000, 100_000), (100_000, 1_000_000))


class Sweep(NamedTuple):
    """Sizes of which one number grows.

    Attributes
    ----------
    name, symbol, fixed : str
        What grows, its symbol, and what does not.
    sizes : tuple of (n, D, k)
    axis : int
        Which of n, D and k grows.
    segments : tuple of (low, high)
        Where slopes are fitted.
    robpca_until : int
        The last number for which ROBPCA is run.
    mark : tuple of (number, text), optional
        Where the cost begins to grow in another way.
    """

    name: str
    symbol: str
    fixed: str
    sizes: tuple[tuple[int, int, int], ...]
    axis: int
    segments: tuple[tuple[int, int], ...]
    robpca_until: int
    mark: tuple[int, str] | None = None

    def grows(self) -> np.ndarray:
        """Return the numbers that grow."""
        return np.array([size[self.axis] for size in self.sizes], dtype=float)

    def robpca_order(self) -> list[float]:
        """Return the order of ROBPCA's steps at every size, without a constant."""
        return [robpca_order(*size) for size in self.sizes]


SWEEPS = (
    Sweep("rows", "n", "D = 20, k = 3", tuple((n, 20, 3) for n in ROWS), 0,
          ROW_SEGMENTS, 100_000, (4000, "more rows than\nthe sample has")),
    Sweep("rows, 50 columns", "n", "D = 50, k = 3", tuple((n, 50, 3) for n in ROWS), 0,
          ROW_SEGMENTS, 100_000),
    Sweep("columns", "D", "n = 1000, k = 5", tuple((1000, D, 5) for D in COLUMNS), 1,
          ((10, 100), (100, 1000), (1000, 5000)), 5000,
          (1000, "more columns\nthan rows")),
    Sweep("components", "k", "n = 2000, D = 400",
          tuple((2000, 400, k) for k in COMPONENTS), 2, ((1, 20), (20, 200)), 200),
)  # fmt: skip
SHOWN = ("rows", "columns", "components")
LIMITS = (2e-6, 200.0)  # seconds
LINE = 0.27  # height of a label, in powers of ten
DARK = "#6e6e6e"
NOTE = (
    "Red numbers are log-log slopes of DSWL. Dashed: the order of ROBPCA's published "
    "steps, through the last measured time."
)


def robpca_order(n: int, D: int, k: int) -> float:
    """Return the order of ROBPCA's steps as Hubert et al. (2005) describe them.

    An SVD reduces the rows to their rank r. Along 250 directions through pairs of rows,
    outlyingness takes a projection and, for the univariate MCD, a sort. The least
    outlying rows, and then those within a cut-off, give a covariance matrix and its
    eigenvectors. The last step is the MCD of k scores by FAST-MCD (Rousseeuw and Van
    Driessen 1999): two C-steps from 500 starts on groups of 300 rows, from 50 on 1500,
    and from 10 on all.
    """
    r = min(n - 1, D)
    reduction = n * D * min(n, D)
    outlyingness = 250 * n * (r + np.log2(n))
    covariances = 2 * (n * r**2 + r**3)
    visited = 2 * (500 * min(n, 300) + 50 * min(n, 1500) + 10 * n)
    mcd = visited * k**2 + 2 * 560 * k**3
    return float(reduction + outlyingness + covariances + mcd)


def slope(grows: np.ndarray, times: list[float], low: float, high: float) -> float:
    """Return the log-log slope of the times from low to high; nan if unknown."""
    some = (grows >= low) & (grows <= high)
    y = np.array(times)[some]
    if np.isnan(y).any():
        return float("nan")
    return float(np.polyfit(np.log(grows[some]), np.log(y), 1)[0])


def draw(measured: dict[str, Times], path: Path) -> None:
    """Draw one panel for rows, columns and components each."""
    figure = Figure(figsize=(14, 5.6), layout="constrained")
    sweeps = [sweep for sweep in SWEEPS if sweep.name in SHOWN]
    axes = figure.subplots(1, len(sweeps), sharey=True)
    for ax, sweep in zip(axes, sweeps, strict=True):
        panel(ax, sweep, measured[sweep.name])
    axes[0].set_ylabel("CPU seconds of a fit, one thread", color=TEXT)
    figure.supxlabel(NOTE, fontsize=10, color=TEXT)
    figure.savefig(path, dpi=110)


def panel(ax: Any, sweep: Sweep, times: Times) -> None:
    """Draw the times of one sweep, with the slopes of DSWL and a label at every end."""
    x = sweep.grows()
    peer = np.array(times["ROBPCA"])
    last = np.flatnonzero(~np.isnan(peer))[-1:]
    order = np.array(sweep.robpca_order())
    if last.size:
        order *= peer[last] / order[last]
        ax.plot(x, order, "--", color=BLUE, lw=1.1)
        ax.plot(x, peer, "s-", color=BLUE, ms=4, lw=1.5)
    ax.plot(x, times["limit"], ":", color="black", lw=1.5)
    ax.plot(x, times["PCA"], "o-", color=GRAY, ms=4.5, lw=1.5)
    ax.plot(x, times["DSWL"], "*-", color=RED, ms=9, lw=2.4, zorder=3)
    ax.set(xscale="log", yscale="log", ylim=LIMITS)
    ax.set_title(f"{sweep.name} ({sweep.fixed})", fontsize=11, color=TEXT)
    ax.set_xlabel(f"number of {sweep.name}, {sweep.symbol}", color=TEXT)
    ax.spines[["top", "right"]].set_visible(False)
    curves = {
        "ROBPCA": (list(order) if last.size else [np.nan], BLUE),
        "DSWL": (times["DSWL"], RED),
        "PCA": (times["PCA"], DARK),
        "read once": (times["limit"], "black"),
    }
    heights = apart([y[-1] for y, _ in curves.values()])
    for (name, (_, color)), height in zip(curves.items(), heights, strict=True):
        if np.isfinite(height):
            ax.annotate(name, (x[-1], height), (8, 0), textcoords="offset points",
                        va="center", color=color, annotation_clip=False,
                        weight="bold" if name == "DSWL" else None)  # fmt: skip
    write_slopes(ax, sweep, times)
    if sweep.mark is not None:
        place, text = sweep.mark
        ax.axvline(place, color=GRAY, lw=0.8, alpha=0.6, zorder=0)
        ax.annotate(text, (place, LIMITS[0]), (4, 6), textcoords="offset points",
                    fontsize=8.5, color=DARK)  # fmt: skip


def apart(heights: list[float]) -> list[float]:
    """Move heights, on a log scale, until labels there do not overlap."""
    y = np.log10(heights)
    for _ in range(100):
        for i, j in itertools.combinations(np.flatnonzero(np.isfinite(y)), 2):
            upper, lower = (i, j) if y[i] >= y[j] else (j, i)
            missing = LINE - (y[upper] - y[lower])
            if missing > 0:
                y[upper] += missing / 2
                y[lower] -= missing / 2
    return [float(height) for height in 10**y]


def write_slopes(ax: Any, sweep: Sweep, times: Times) -> None:
    """Write the slope of every segment of DSWL, on the side with more room."""
    x = np.log(sweep.grows())
    for low, high in sweep.segments:
        middle = np.log(low * high) / 2
        dswl, *others = (
            float(np.interp(middle, x, np.log(times[name])))
            for name in ("DSWL", "PCA", "ROBPCA", "limit")
        )
        above = min((y - dswl for y in others if y >= dswl), default=np.inf)
        below = min(dswl - y for y in others if y < dswl) > above
        value = slope(sweep.grows(), times["DSWL"], low, high)
        ax.annotate(f"{round(value, 1) + 0.0:.1f}", np.exp([middle, dswl]),
                    (0, -13 if below else 13), textcoords="offset points",
                    ha="center", va="center", fontsize=9.5, color=RED)  # fmt: skip
