"""The main job on embedded data: fit, say who was flagged and why, draw a picture."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table
from scipy.linalg import subspace_angles
from sklearn.decomposition import PCA

from trueaxis.datasets import Sensors, sensors
from trueaxis.estimators.dswl import DSWL

GREY, BLUE, ORANGE, RED = "#9a9a9a", "#0072b2", "#e69f00", "#d55e00"
COLOURS = {
    "regular": GREY,
    "in the subspace": BLUE,
    "off the subspace": ORANGE,
    "both": RED,
}


def run(output: Path, console: Console) -> None:
    """Fit the sensor table, print the findings and save the picture."""
    table = sensors()
    robust = DSWL(n_components=2).fit(table.X)
    plain = PCA(n_components=2).fit(table.X)
    kinds = kinds_of(robust, table.X)
    console.print(_flagged(table, robust, kinds), markup=False)
    _compare(table, robust, plain, console)
    draw(table, robust, plain, kinds, output)
    console.print(f"Picture saved to {output}")


def kinds_of(model: DSWL, X: NDArray) -> NDArray[np.str_]:
    """Which of the paper's categories each row belongs to."""
    distances = model.distances(X)
    inside = distances.score > model.cutoffs_.score
    off = distances.orthogonal > model.cutoffs_.orthogonal
    return np.select(
        [inside & off, inside, off],
        ["both", "in the subspace", "off the subspace"],
        "regular",
    )


def _flagged(table: Sensors, model: DSWL, kinds: NDArray) -> Table:
    out = Table(
        title=f"{(kinds != 'regular').sum()} of {len(kinds)} rows are flagged",
        caption="Distances in units of their cut-offs; what happened in brackets.",
        box=SIMPLE,
    )
    for heading in ("row", "kind", "score", "orthogonal", "because of"):
        right = heading in ("row", "score", "orthogonal")
        out.add_column(heading, justify="right" if right else "left")
    distances = model.distances(table.X)
    for row in np.argsort(model.score_samples(table.X)):
        if kinds[row] == "regular":
            break
        out.add_row(
            str(row),
            kinds[row],
            f"{distances.score[row] / model.cutoffs_.score:.1f}",
            f"{distances.orthogonal[row] / model.cutoffs_.orthogonal:.1f}",
            _reason(table, model, row, kinds[row]) + f" [{table.fault[row] or 'none'}]",
        )
    return out


def _reason(table: Sensors, model: DSWL, row: int, kind: str) -> str:
    if kind == "in the subspace":
        return "all columns"
    x = table.X[row : row + 1]
    residual = x - model.inverse_transform(model.transform(x))
    share = residual[0] ** 2 / (residual**2).sum()
    return f"{share.max():.0%} {table.columns[share.argmax()]}"


def _compare(table: Sensors, robust: DSWL, plain: PCA, console: Console) -> None:
    clean = table.fault == ""
    truth = PCA(n_components=2).fit(table.X[clean])

    def angle(model: DSWL | PCA) -> float:
        both = (model.components_.T, truth.components_.T)
        return float(np.degrees(subspace_angles(*both)[0]))

    def shift(model: DSWL | PCA) -> float:
        return float(np.linalg.norm(model.mean_ - truth.mean_))

    console.print(
        f"Plain PCA: {angle(plain):.1f} degrees off the axes of the healthy rows, mean "
        f"{shift(plain):.2f} away.\n"
        f"DSWL:      {angle(robust):.1f} degrees off, mean {shift(robust):.2f} away, "
        "not told which rows are healthy."
    )


def draw(
    table: Sensors, robust: DSWL, plain: PCA, kinds: NDArray, output: Path
) -> None:
    """Save two panels: the axes in two columns, and the outlier map."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ImportError(
            "The picture needs matplotlib, which is not installed: "
            "pip install 'trueaxis[plot]'"
        ) from None
    figure = Figure(figsize=(11, 4.6), layout="constrained")
    left, right = figure.subplots(1, 2)
    _draw_axes(left, table, robust, plain, kinds)
    _draw_map(right, table, robust, kinds)
    figure.savefig(output, dpi=110)


def _points(axes, x, y, kinds):
    marks = {
        "regular": "o",
        "in the subspace": "s",
        "off the subspace": "^",
        "both": "D",
    }
    for kind, colour in COLOURS.items():
        some = kinds == kind
        if some.any():
            axes.scatter(
                x[some],
                y[some],
                s=14 if kind == "regular" else 34,
                c=colour,
                marker=marks[kind],
                edgecolors="none" if kind == "regular" else "black",
                linewidths=0.5,
                label=kind,
            )


def _draw_axes(axes, table, robust, plain, kinds):
    i, j = table.columns.index("power"), table.columns.index("flow")
    _points(axes, table.X[:, i], table.X[:, j], kinds)
    for model, colour, style, name in [
        (plain, "black", "--", "plain PCA"),
        (robust, BLUE, "-", "DSWL"),
    ]:
        reach = np.array([-3, 3])[:, None] * np.sqrt(model.explained_variance_[0])
        line = model.mean_ + reach * model.components_[0]
        axes.plot(line[:, i], line[:, j], style, color=colour, lw=2, label=name)
    axes.set(xlabel="power", ylabel="flow", title="First axis")
    axes.legend(fontsize=8, frameon=False)


def _draw_map(axes, table, robust, kinds):
    distances = robust.distances(table.X)
    _points(axes, distances.score, distances.orthogonal, kinds)
    axes.axvline(robust.cutoffs_.score, color="black", lw=1, ls=":")
    axes.axhline(robust.cutoffs_.orthogonal, color="black", lw=1, ls=":")
    axes.set(
        xlabel="score distance (inside the subspace)",
        ylabel="orthogonal distance (off it)",
        title="Outlier map, dotted: cut-offs",
    )
