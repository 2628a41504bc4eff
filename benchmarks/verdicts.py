"""Measure who is flagged: DSWL beside plain PCA, IsolationForest and ROBPCA.

There are seven parts: textbook tables and single wrong cells, real tables, planted
outliers, tables without outliers, steadiness, p-values, and whether all answers agree.
The last table lists all targets. ROBPCA takes part where R with rrcov is installed.
Labelled tables come from DIR/outliers (see verdict_data.py); without them, what needs
them is skipped. More textbook tables can be passed as --textbook DIR.

    python benchmarks/verdicts.py [--part planted] [--seeds 20] [--data-home DIR]
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

import numpy as np
from sklearn.metrics import roc_curve

from detectors import NAMES, found_by
from robpca import Job
from sheet import CONSOLE, Sheet
from verdict_data import Labelled, real, steady_tables, textbook, wrong_cells
from verdict_figures import PEER_SEEDS, TARGETS, found_by_all, judged, percent, target
from verdicts_drawn import found_part, heavy_part, nothing_part, planted_part
from verdicts_steady import answers_part, p_part, steady_part


def textbook_part(folder: Path, title: str, point: str) -> None:
    tables = textbook(folder)
    by = judged(found_by_all(tables), tables)
    labelled_sheet(title, tables, by)
    auc, f1 = np.nanmean(by["DSWL"], axis=0)[:2]
    false = by["DSWL"][:, 2].max()
    target(point, f"{title}: mean AUC", ">= .97", f"{auc:.3f}", auc >= 0.97)
    target(point, f"{title}: mean F1", ">= .85", f"{f1:.3f}", f1 >= 0.85)
    target(
        point, f"{title}: worst false alarms", "<= 5 %", percent(false), false <= 0.05
    )


def labelled_sheet(title: str, tables: list[Labelled], by: dict) -> None:
    sheet = Sheet(
        f"{title}: AUC, F1, false alarms %", "table", "shape", "k", "bad %", *by
    )
    for i, table in enumerate(tables):
        cells = [shown(figure[i]) for figure in by.values()]
        share = f"{100 * table.bad.mean():.1f}"
        sheet.add(table.name, table.X.shape, table.k, share, *cells)
    sheet.add("mean", "", "", "", *(shown(np.nanmean(f, axis=0)) for f in by.values()))
    worst = (f"{100 * np.nanmax(f[:, 2]):.1f}" for f in by.values())
    sheet.add("worst false alarms", "", "", "", *worst)
    sheet.show()


def shown(figure) -> str:
    return f"{figure[0]:.3f}, {figure[1]:.3f}, {100 * figure[2]:.1f}"


def cells_part(seeds: int, books: list[Labelled]) -> None:
    """Multiply one cell by 3 or 10, and count how often its row is flagged."""
    few = min(seeds, PEER_SEEDS)
    sheet = Sheet(
        f"One wrong cell, {seeds} seeds ({few} of IsolationForest and ROBPCA), "
        "k = 1, 2, 3: its row is flagged, %",
        "table", "factor", "moved by, sd", *NAMES,
    )  # fmt: skip
    for factor, wanted in ((3, 0.9), (10, 0.98)):
        cells = list(wrong_cells(factor, seeds, books))
        jobs = [Job(cell.X, cell.k) for cell in cells]
        hit = np.full((len(NAMES), len(cells)), np.nan)
        for name, row in zip(NAMES, hit, strict=True):
            mine = len(cells) if name in ("DSWL", "PCA") else few * len(cells) // seeds
            for i, found in enumerate(found_by(name, jobs[:mine])):
                if found is not None:
                    row[i] = found.flagged[cells[i].row]
        kinds = np.array([cell.kind for cell in cells])
        moved = np.array([cell.moved for cell in cells])
        groups = [(kind, kinds == kind) for kind in dict.fromkeys(kinds)]
        groups.append(("all", kinds != ""))
        groups.append(("all that moved by 5 sd or more", moved >= 5))
        for kind, mine in groups:
            share = np.nanmean(hit[:, mine], axis=1)
            size = f"{np.median(moved[mine]):.1f}"
            sheet.add(kind, factor, size, *(f"{100 * s:.1f}" for s in share))
        share = hit[0].mean()
        what = f"row with a cell times {factor} flagged"
        target("1", what, f">= {wanted:.0%}", percent(share), share >= wanted)
    sheet.show()


def real_part(folder: Path) -> None:
    tables = real(folder)
    found = found_by_all(tables)
    by = judged(found, tables)
    labelled_sheet("Real tables", tables, by)
    auc, f1, false, _ = np.nanmean(by["DSWL"], axis=0)
    target("2", "real tables: mean AUC", ">= .81", f"{auc:.3f}", auc >= 0.81)
    target("2", "real tables: mean F1", ">= .26", f"{f1:.3f}", f1 >= 0.26)
    target("2", "real tables: false alarms", "<= 6 %", percent(false), false <= 0.06)
    if "ROBPCA" in by:
        matched_recall(tables, found, by["ROBPCA"])


def matched_recall(tables: list[Labelled], found: dict, robpca: np.ndarray) -> None:
    """Compare recalls at ROBPCA's false alarm rate, on the line between two scores."""
    title = "Real tables: outliers found % at ROBPCA's false alarm rate"
    names = [name for name in NAMES if name != "ROBPCA"]
    sheet = Sheet(title, "table", "false alarms %", "ROBPCA", *names)
    recall = [robpca[:, 3]]
    for name in names:
        curves = (
            roc_curve(t.bad, f.score, drop_intermediate=False)[:2]
            for t, f in zip(tables, found[name], strict=True)
        )
        rates = zip(robpca[:, 2], curves, strict=True)
        recall.append([np.interp(rate, *curve) for rate, curve in rates])
    for i, table in enumerate(tables):
        cells = (f"{100 * r[i]:.1f}" for r in recall)
        sheet.add(table.name, f"{100 * robpca[i, 2]:.1f}", *cells)
    means = np.nanmean(recall, axis=1)
    sheet.add("mean", percent(robpca[:, 2].mean()), *map(percent, means))
    sheet.show()
    what = "outliers found at ROBPCA's false alarm rate"
    target(
        "2", what, f">= {percent(means[0])}", percent(means[1]), means[1] >= means[0]
    )


PARTS = ("textbook", "cells", "real", "planted", "nothing", "steady", "p", "answers")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--part", choices=PARTS, action="append")
    parser.add_argument("--textbook", type=Path, help="folder with more tables")
    parser.add_argument(
        "--data-home", type=Path, default=os.environ.get("TRUEAXIS_DATA")
    )
    args = parser.parse_args()
    home = Path(args.data_home) / "outliers" if args.data_home else None
    if home is None or not home.is_dir():
        CONSOLE.print(
            "Labelled tables: no data. Pass --data-home DIR with DIR/outliers."
        )
        home = None
    books = textbook(home / "textbook") if home else []
    for part in args.part or PARTS:
        if part == "textbook" and home:
            textbook_part(home / "textbook", "textbook tables", "1")
        if part == "textbook" and args.textbook:
            textbook_part(args.textbook, f"tables of {args.textbook.name}", "+")
        if part == "cells":
            cells_part(args.seeds, books)
        if part == "real" and home:
            real_part(home)
        if part == "planted":
            planted_part(args.seeds)
            found_part(args.seeds)
            heavy_part(args.seeds)
        if part == "nothing":
            nothing_part(args.seeds)
        if part == "steady":
            steady_part(steady_tables(home, books), args.seeds)
        if part == "p":
            p_part(args.seeds)
        if part == "answers":
            answers_part(steady_tables(home, books))
    TARGETS.show()


if __name__ == "__main__":
    main()
