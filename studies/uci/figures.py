"""Figures of the UCI study: ranks with their critical difference, gains, angles."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from studies.methods import AUTOMATIC, NAMES, PUBLISHED
from studies.study import Results
from studies.uci.printed import KS
from studies.uci.study import ORACLE, UciStudy
from studies.uci.summary import UciSummary
from trueaxis.plots.canvas import GRAY, ORANGE, RED, SMALL, TEXT, name_axes, pyplot

LOOKS = {
    "PCA": ("#777777", "o"),
    "PCA-L1": ("#f0c75e", "s"),
    "R1-PCA": ("#56b4e9", "^"),
    "L2,p-PCA": ("#009e73", "v"),
    "RPCA-OM": ("#000000", "P"),
    "RPCA-DI": ("#cc79a7", "X"),
    PUBLISHED: (ORANGE, "D"),
    AUTOMATIC: (RED, "*"),
    ORACLE: ("#bbbbbb", "_"),
}
PANELS = (
    ("accuracy", "accuracy, all rows contaminated"),
    ("accuracy_training_only", "accuracy, training folds only"),
    ("angle", "angle to PCA on clean rows"),
)


def draw(study: UciStudy, results: Results, folder: Path) -> list[Path]:
    """Draw all figures."""
    summary = UciSummary.of(results)
    paths = []
    for name, figure in (
        ("uci-ranks", ranks(summary)),
        ("uci-sets", by_set(summary)),
    ):
        paths.append(folder / f"{name}.png")
        figure.savefig(paths[-1], dpi=130)
        pyplot().close(figure)
    return paths


def ranks(summary: UciSummary) -> Any:
    """Draw average ranks, with bars as long as the critical difference."""
    figure, axes = pyplot().subplots(
        1, len(PANELS), figsize=(13, 3.8), layout="constrained", sharex=True
    )
    for ax, (measure, words) in zip(axes, PANELS, strict=True):
        ranking = summary.ranking(measure)
        order = sorted(NAMES, key=lambda name: -ranking.ranks[name])
        half = ranking.critical / 2
        best = ranking.ranks[order[-1]]
        ax.axvspan(best - half, best + half, color="#f2f2f2", zorder=0)
        for y, name in enumerate(order):
            color, marker = LOOKS[name]
            x = ranking.ranks[name]
            ax.plot([x - half, x + half], [y, y], color=color, lw=2, alpha=0.55)
            ax.scatter(x, y, s=160 if marker == "*" else 60, c=color, marker=marker,
                       ec="black", lw=0.5, zorder=3)  # fmt: skip
        ax.set_yticks(range(len(order)), order, fontsize=SMALL)
        for label in ax.get_yticklabels():
            label.set_fontweight("bold" if label.get_text() == AUTOMATIC else "normal")
        ax.set_xticks(range(1, len(NAMES) + 1))
        ax.set_xlim(-0.5, len(NAMES) + 1.5)
        name_axes(ax, f"{words}\n(Friedman p = {ranking.p:.2g})", "average rank")
    figure.supxlabel(
        f"{len(summary.sets)} data sets, mean over k = 1, 3, 5. Bars are as long as "
        "the critical difference (Nemenyi, 5 %): methods whose bars do not overlap "
        "differ; grey is the bar of the best.",
        fontsize=SMALL, color=TEXT,
    )  # fmt: skip
    return figure


def by_set(summary: UciSummary) -> Any:
    """Draw the gain in accuracy over plain PCA, and the angle, for every data set."""
    figure, axes = pyplot().subplots(
        2, len(KS), figsize=(16, 7.6), layout="constrained", sharex=True, sharey="row"
    )
    place = np.arange(len(summary.sets))
    names = [name.replace("_", " ") for name in summary.sets]
    for j, k in enumerate(KS):
        for i, measure in enumerate(("accuracy", "angle")):
            ax = axes[i, j]
            _draw_case(ax, summary, measure, j)
            ax.set_xticks(place, names, rotation=40, ha="right", fontsize=SMALL)
            name_axes(ax, f"k = {k}" if i == 0 else "")
            for x in place[::2]:
                ax.axvspan(x - 0.5, x + 0.5, color="#f6f6f6", zorder=0)
            ax.set_xlim(-0.5, len(place) - 0.5)
    axes[0, 0].axhline(0, color=GRAY, lw=0.8)
    axes[0, 0].set_ylabel("accuracy over that of plain PCA, points", color=TEXT)
    axes[1, 0].set_ylabel("angle to PCA on clean rows, degrees", color=TEXT)
    shown: dict[str, Any] = {}
    for ax in axes[::-1, 0]:
        shown |= dict(zip(*ax.get_legend_handles_labels()[::-1], strict=True))
    figure.legend(
        shown.values(), shown.keys(), loc="outside lower center",
        ncols=9, fontsize=SMALL, frameon=False,
    )  # fmt: skip
    return figure


def _draw_case(ax: Any, summary: UciSummary, measure: str, j: int) -> None:
    gain = measure == "accuracy"
    shown = [*NAMES[1:], ORACLE] if gain else list(NAMES)
    place = np.arange(len(summary.sets))
    for step, name in enumerate(shown):
        values = summary.of_method(measure, name)[:, j]
        if gain:
            values = values - summary.of_method(measure, "PCA")[:, j]
        color, marker = LOOKS[name]
        # Side by side, so that no marker hides another.
        x = place + 0.8 * ((step + 0.5) / len(shown) - 0.5)
        n = values.shape[-1]
        error = values.std(axis=-1, ddof=1) / np.sqrt(n) if n > 1 else np.zeros(len(x))
        ax.errorbar(x, values.mean(axis=-1), error, fmt="none", ecolor=color, lw=1)
        ax.scatter(
            x, values.mean(axis=-1), s=110 if marker == "*" else 36, c=color,
            marker=marker, ec=None if marker == "_" else "black",
            lw=2 if marker == "_" else 0.4, zorder=3, label=name,
        )  # fmt: skip
    if gain:
        ax.axhline(0, color=GRAY, lw=0.8)
