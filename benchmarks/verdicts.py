"""Measure who is flagged: DSWL beside plain PCA, IsolationForest and ROBPCA.

There are six parts: single wrong cells, outliers among moderate and heavy tails, tables
without outliers, steadiness, p-values, and whether all answers agree. The last table
lists all targets. ROBPCA takes part where R with rrcov is installed. Labelled tables
come from DIR/outliers (see verdict_data.py); without them, what needs them is skipped.
Real tables and planted outliers are in quality.py.

    python benchmarks/verdicts.py [--part planted] [--seeds 20] [--data-home DIR]
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

import numpy as np

from detectors import NAMES, found_by
from robpca import Job
from sheet import CONSOLE, Sheet
from verdict_data import Labelled, steady_tables, textbook, wrong_cells
from verdict_figures import PEER_SEEDS, TARGETS, percent, target
from verdicts_drawn import found_part, heavy_part, nothing_part
from verdicts_steady import answers_part, p_part, steady_part


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


PARTS = ("cells", "planted", "nothing", "steady", "p", "answers")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--part", choices=PARTS, action="append")
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
        if part == "cells":
            cells_part(args.seeds, books)
        if part == "planted":
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
