"""The paper's four figures on faces: same order of panels, our own style.

Figures that show faces are written to the subfolder `private`, since the licenses of
the images do not permit publishing them.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from studies.faces.damage import WHITE
from studies.faces.measures import Fold
from studies.faces.methods import COMPARED, IDEALS, TITLES
from studies.faces.page import WEIGHTS_OF, K
from studies.faces.printed import TITLES as SETS
from studies.faces.verdicts import FaceMeasurements, weights_at
from studies.study import Results
from trueaxis.plots.canvas import (
    BLUE,
    GRAY,
    ORANGE,
    RED,
    SMALL,
    TEXT,
    name_axes,
    pyplot,
)

PRIVATE = "private"
DPI = 160
GREEN, SKY, PURPLE = "#009e73", "#56b4e9", "#cc79a7"
# Color, line and marker.
LOOKS = {
    "pca": (GRAY, "-", "o"),
    "pca-l1": (ORANGE, "--", "s"),
    "r1-pca": (SKY, "-.", "^"),
    "l2p-pca": (GREEN, "-", "v"),
    "rpca-om": (PURPLE, "--", "D"),
    "rpca-di": (BLUE, "-.", "P"),
    "dswl-published": (RED, "--", "X"),
    "dswl": (RED, "-", "*"),
    "oracle": ("black", ":", ""),
    "intact": (GRAY, ":", ""),
}
LINES = (*COMPARED, *IDEALS)
# In the order of panels and columns in the paper.
WEIGHED = ("l2p-pca", "rpca-om", "rpca-di", "dswl-published", "dswl")
PICTURED = ("pca", "pca-l1", "rpca-om", "l2p-pca", "rpca-di", "dswl-published", "dswl")
CLEAN, OCCLUDED = 5, 2  # number of sample images in a row


def draw(results: Results, folds: Mapping[str, Fold], folder: Path) -> list[Path]:
    """Draw all figures that there are results for.

    Parameters
    ----------
    results : Results
    folds : mapping
        First fold of every set, for the images to show.
    folder : Path

    Returns
    -------
    list of Path
        Files, those that may be published first.
    """
    private = folder / PRIVATE
    private.mkdir(parents=True, exist_ok=True)
    data = FaceMeasurements(results.rows)
    files = [_save(errors(data), folder / "faces-error.png")]
    weights = weights_at(results, WEIGHTS_OF)
    if "occluded" in weights:
        files.append(_save(weight_panels(weights), folder / "faces-weights.png"))
    files.append(_save(samples(folds), private / "faces-samples.png"))
    rebuilt = _rebuilt_images(results)
    if rebuilt:
        figure = reconstructions(rebuilt, folds)
        files.append(_save(figure, private / "faces-reconstructed.png"))
    return files


def _save(figure: Any, path: Path) -> Path:
    # Without metadata, the same results give the same bytes.
    figure.savefig(path, dpi=DPI, metadata={"Software": None})
    pyplot().close(figure)
    return path


def errors(data: FaceMeasurements) -> Any:
    """Draw the mean error against k; below, relative to the error of the oracle."""
    sets = data.sets
    figure, axes = pyplot().subplots(
        2, len(sets), figsize=(1 + 3.3 * len(sets), 6.6), layout="constrained"
    )
    axes = np.reshape(axes, (2, len(sets)))
    for (above, below), name in zip(axes.T, sets, strict=True):
        ks = data.ks(name)
        below.axhspan(-2, 2, color=GRAY, alpha=0.18, lw=0)
        for method in LINES:
            mean = np.array([data.of(name, method, k).mean() for k in ks])
            best = np.array([data.of(name, "oracle", k).mean() for k in ks])
            _draw_line(above, ks, mean, method)
            if method != "oracle":
                _draw_line(below, ks, 100 * (mean / best - 1), method)
        below.axhline(0, color="black", ls=":", lw=1.6)
        name_axes(above, SETS[name], "", "mean test error")
        name_axes(below, "", "number of components", "above the oracle, %")
    for ax in axes[:, 1:].flat:
        ax.set_ylabel("")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(
        handles,
        labels,
        loc="outside lower center",
        ncols=5 if len(sets) > 1 else 2,
        frameon=False,
        fontsize=10,
    )
    return figure


def _draw_line(ax: Any, ks: list[int], values: NDArray[Any], method: str) -> None:
    color, line, marker = LOOKS[method]
    own = method == "dswl"
    ax.plot(
        ks,
        values,
        color=color,
        ls=line,
        lw=2.2 if own else 1.4,
        marker=marker,
        ms=8 if own else 5,
        markeredgecolor="white",
        markeredgewidth=0.4,
        # Staggered, so that markers of overlapping lines do not coincide.
        markevery=(list(LOOKS).index(method) % 3, 3) if len(ks) > 6 else 1,
        label=TITLES[method],
        zorder=4 if own else 2,
    )


def weight_panels(weights: Mapping[str, NDArray[Any]]) -> Any:
    """Draw the weights of all training images, with a panel for each method."""
    bad = weights["occluded"]
    n = len(bad)
    figure, axes = pyplot().subplots(
        1, len(WEIGHED), figsize=(3.1 * len(WEIGHED), 3.4), layout="constrained"
    )
    looks = ((~bad, GRAY, "o", 12, "clean"), (bad, RED, "^", 22, "occluded"))
    for ax, method in zip(axes, WEIGHED, strict=True):
        relative = n * weights[method]
        for some, color, marker, size, label in looks:
            ax.scatter(
                np.flatnonzero(some),
                np.maximum(relative[some], 1e-300),
                s=size,
                c=color,
                marker=marker,
                linewidths=0,
                label=f"{label} ({some.sum()})",
            )
        ax.set_yscale("log")
        name_axes(ax, TITLES[method], "training image")
    axes[0].set_ylabel("weight x number of images", color=TEXT)
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(
        handles, labels, loc="outside lower center", ncols=2, frameon=False, fontsize=10
    )
    figure.suptitle(f"{SETS[WEIGHTS_OF]}, k = {K}", fontsize=11, color=TEXT)
    return figure


# ---------------------------------------------------------------- with faces


def samples(folds: Mapping[str, Fold]) -> Any:
    """Draw training images of every set, with boxes around occluded ones."""
    figure, axes = pyplot().subplots(
        len(folds),
        CLEAN + OCCLUDED,
        figsize=(1.2 * (CLEAN + OCCLUDED), 1.25 * len(folds)),
        layout="constrained",
        squeeze=False,
    )
    for line, (name, fold) in zip(axes, folds.items(), strict=True):
        clean = np.flatnonzero(~fold.occluded)
        # Neighboring images show the same person, so take some from the whole set.
        bad = np.flatnonzero(fold.occluded)
        chosen = [*_spread(clean, CLEAN), *_spread(bad, OCCLUDED)]
        for ax, i in zip(line, chosen, strict=True):
            _show(ax, fold.train[i])
            if fold.occluded[i]:
                _box(ax)
        _side(line[0], SETS[name])
    return figure


def _spread(numbers: NDArray[Any], n: int) -> NDArray[Any]:
    spread: NDArray[Any] = numbers[np.linspace(0, len(numbers) - 1, n).astype(int)]
    return spread


def _rebuilt_images(
    results: Results,
) -> dict[tuple[str, str], dict[str, NDArray[Any]]]:
    return {
        (task[0], task[2]): outcome.arrays
        for task, outcome in results.outcomes.items()
        if "image" in outcome.arrays and task[2] in PICTURED
    }


def reconstructions(
    rebuilt: Mapping[tuple[str, str], Mapping[str, NDArray[Any]]],
    folds: Mapping[str, Fold],
) -> Any:
    """Draw a test image of every set as each method reconstructs it, with its PSNR."""
    sets = [name for name in folds if (name, "pca") in rebuilt]
    figure, axes = pyplot().subplots(
        len(sets),
        len(PICTURED) + 1,
        figsize=(1.45 * (len(PICTURED) + 1), 1.75 * len(sets) + 0.2),
        layout="constrained",
        squeeze=False,
    )
    for line, name in zip(axes, sets, strict=True):
        _show(line[0], folds[name].test[0])
        _side(line[0], SETS[name])
        for ax, method in zip(line[1:], PICTURED, strict=True):
            arrays = rebuilt[name, method]
            _show(ax, arrays["image"])
            ax.set_xlabel(f"{arrays['psnr'][0]:.2f} dB", fontsize=SMALL, color=TEXT)
    for ax, title in zip(
        axes[0], ("Original", *(TITLES[m] for m in PICTURED)), strict=True
    ):
        ax.set_title(title.replace(", ", "\n"), fontsize=10, color=TEXT)
    return figure


def _show(ax: Any, pixels: NDArray[Any]) -> None:
    side = round(len(pixels) ** 0.5)
    ax.imshow(pixels.reshape(side, -1), cmap="gray", vmin=0, vmax=WHITE)
    ax.set_xticks([])
    ax.set_yticks([])
    ax.spines[:].set_visible(False)


def _side(ax: Any, title: str) -> None:
    ax.set_ylabel(title, fontsize=10, color=TEXT)


def _box(ax: Any) -> None:
    ax.spines[:].set_visible(True)
    ax.spines[:].set_color(RED)
    ax.spines[:].set_linewidth(3)
