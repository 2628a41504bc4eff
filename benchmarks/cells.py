"""Measure DSWL on tables with holes and wrong cells beside the bound and its peers.

The bound is least squares that is told which cells and rows are good. Peers are DSWL
on the table filled with column medians, and IterativeImputer with PCA; MacroPCA's
figures are quoted (degrees, rmse of holes, wrong cells found; other seeds). The last
table lists all targets. No seed from 9000 on was used to choose anything.

    python benchmarks/cells.py [--part wide] [--seeds 5] [--data-home DIR]
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence

import numpy as np
from threadpoolctl import threadpool_limits

from cells_data import CLUSTERS, FIRST_SEED, MISSING, OWN, TOGETHER, WIDE, WRONG, Case
from cells_figures import (
    TROUBLE,
    Figures,
    bound,
    cpu,
    dswl,
    dswl_complete,
    imputed,
    imputer,
    mean_figures,
    median_filled,
)
from cells_real import cells_part, holes_part
from sheet import CONSOLE, Sheet
from trueaxis import DSWL
from verdict_figures import TARGETS, percent, target

# On 200 columns with holes, the imputer takes 12 s a table and is no target.
WIDE_PEER_SEEDS = 1


def columns_of(case: Case, seeds: range) -> dict[str, list[Figures]]:
    """Return the figures of all methods for all seeds."""
    tables = [case.draw(seed) for seed in seeds]
    slow = case.wide and tables[0].missing.any()
    few = tables[:WIDE_PEER_SEEDS] if slow else tables
    return {
        "bound": [bound(table) for table in tables],
        "holes": [dswl(table, cells=False, what=case.name) for table in tables],
        "cells": [dswl(table, cells=True, what=case.name) for table in tables],
        "complete": [dswl_complete(table) for table in tables],
        "median": [median_filled(table) for table in tables],
        "imputer": [imputer(table) for table in few],
    }


def shown(x: float, digits: int = 1) -> str:
    return "" if np.isnan(x) else f"{x:.{digits}f}"


def share(x: float) -> str:
    return "" if np.isnan(x) else f"{100 * x:.2f}"


def seeds_noted(used: int, asked: int) -> str:
    return "" if used == asked else f" (seeds: {used})"


def worst(figures: list[Figures], bounds: list[Figures]) -> float:
    """Return the largest ratio of angles over the seeds."""
    pairs = zip(figures, bounds, strict=True)
    return max(mine.angle / least.angle for mine, least in pairs)


def generated(
    title: str, cases: Sequence[Case], seeds: range, use: str
) -> list[tuple[Case, Figures, Figures]]:
    """Show figures of generated tables; return those of the bound and of DSWL.

    `use` says which DSWL is compared with the bound: "cells" (cells=True) or "holes".
    """
    other = {"cells": "holes", "holes": "cells"}[use]
    with_cells = "DSWL(cells=True)"
    first, second = (with_cells, "DSWL") if use == "cells" else ("DSWL", with_cells)
    sheet = Sheet(
        f"{title}, {len(seeds)} seeds: angle (degrees), rmse of holes, cells %",
        "case", "bound", first, "ratio", "worst seed", "rmse: bound", "rmse: DSWL",
        "ratio", "found %", "good flagged %", "bad, good rows flagged %", second,
        "DSWL, unspoiled", "DSWL, median filled", "Imputer + PCA", "MacroPCA (quoted)",
    )  # fmt: skip
    found = []
    for case in cases:
        by = columns_of(case, seeds)
        mean = {name: mean_figures(figures) for name, figures in by.items()}
        least, mine, peer = mean["bound"], mean[use], mean["imputer"]
        sheet.add(
            case.name, shown(least.angle), shown(mine.angle),
            shown(mine.angle / least.angle, 2), shown(worst(by[use], by["bound"]), 2),
            shown(least.rmse, 3), shown(mine.rmse, 3),
            shown(mine.rmse / least.rmse, 3), share(mine.found), share(mine.flagged),
            f"{share(mine.rows_found)}, {share(mine.rows_flagged)}".removeprefix(", "),
            shown(mean[other].angle), shown(mean["complete"].angle),
            shown(mean["median"].angle),
            f"{shown(peer.angle)}, {shown(peer.rmse, 2)}".removesuffix(", ")
            + seeds_noted(len(by["imputer"]), len(seeds)),
            case.macro,
        )  # fmt: skip
        found.append((case, least, mine))
    sheet.show()
    return found


def judge_angle(point: str, title: str, found: list, limit: float) -> None:
    """List the case with the largest angle over the bound's as a target."""
    case, least, mine = max(found, key=lambda one: one[2].angle / one[1].angle)
    ratio = mine.angle / least.angle
    what = f"{title}: angle over the bound's, worst case ({case.name})"
    target(point, what, f"<= {limit}", f"{ratio:.2f}", ratio <= limit)


def judge_cells(point: str, title: str, found: list) -> None:
    """List the shares of cells found and flagged in the worst cases as targets."""
    for gamma, least in ((6, 0.99), (3, 0.85)):
        mine = [one for one in found if one[0].gamma == gamma and one[2].found >= 0]
        if mine:
            case, _, figures = min(mine, key=lambda one: one[2].found)
            what = f"{title}: cells at gamma {gamma} found, worst case ({case.name})"
            good = figures.found >= least
            target(point, what, f">= {least:.0%}", percent(figures.found), good)
    case, _, figures = max(found, key=lambda one: one[2].flagged)
    what = f"{title}: good cells flagged, worst case ({case.name})"
    target(point, what, "<= 1 %", percent(figures.flagged), figures.flagged <= 0.01)


def missing_part(seeds: range) -> None:
    found = generated("Missing cells only", MISSING, seeds, "holes")
    holes = [one for one in found if one[1].rmse >= 0]
    judge_angle("2", "missing only", holes, 1.05)
    case, least, mine = max(holes, key=lambda one: one[2].rmse / one[1].rmse)
    ratio = mine.rmse / least.rmse
    what = f"missing only: rmse over the bound's, worst case ({case.name})"
    target("2", what, "<= 1.03", f"{ratio:.3f}", ratio <= 1.03)


def wrong_part(seeds: range) -> None:
    for title, cases in (
        ("Wrong cells of one size, on one side", WRONG),
        ("Wrong cells of other kinds", OWN),
    ):
        found = generated(title, cases, seeds, "cells")
        judge_angle("3", title, found, 1.1)
        judge_cells("3", title, found)


def wide_part(seeds: range) -> None:
    title = "MacroPCA's own simulation, 100 x 200, cells wrong by chance"
    found = generated(title, WIDE, seeds, "cells")
    judge_angle("3", title, found, 1.3)
    judge_cells("3", title, found)


def together_part(seeds: range) -> None:
    title = "Cells, rows and holes together"
    found = generated(title, TOGETHER, seeds, "cells")
    judge_angle("4", title, found, 1.1)
    judge_cells("4", title, found)


def clusters_part(seeds: range) -> None:
    """Show what is open for everybody: a tight near cluster and wrong cells."""
    found = generated("Clusters and wrong cells", CLUSTERS, seeds, "cells")
    for case, least, mine in found:
        if case.macro:
            ratio = mine.angle / least.angle
            target("4", case.name, "open", f"{mine.angle:.1f} deg, {ratio:.1f} x", True)


def speed_part(repeat: int = 3) -> None:
    """Show CPU times of DSWL on a table with holes beside the imputer, one thread."""
    sheet = Sheet(
        "CPU seconds of a fit that fills 25 % holes", "n x D", "DSWL",
        "DSWL(cells=True)", "DSWL, complete table", "IterativeImputer", "ratio",
        "limit",
    )  # fmt: skip
    for n, D in ((500, 20), (500, 30), (2000, 30), (2000, 60), (1000, 100)):
        rng = np.random.default_rng(FIRST_SEED)
        X = rng.standard_normal((n, 5)) @ rng.standard_normal((5, D))
        X += 0.5 * rng.standard_normal((n, D))
        holes = np.where(rng.random((n, D)) < 0.25, np.nan, X)
        fits = (
            lambda X=holes: DSWL(5).fit(X),
            lambda X=holes: DSWL(5, cells=True).fit(X),
            lambda X=X: DSWL(5).fit(X),
        )
        times = [min(cpu(fit)[1] for _ in range(repeat)) for fit in fits]
        peer = cpu(lambda X=holes: imputed(X))[1]
        ratio = times[0] / peer
        limit = 0.1 if D >= 30 else np.nan
        sheet.add(
            f"{n:,} x {D}", *(f"{t:.3f}" for t in (*times, peer)), f"{ratio:.3f}",
            shown(limit),
        )  # fmt: skip
        if D >= 30:
            what = f"CPU over the imputer's, {n:,} x {D}"
            target("2", what, "<= 0.1", f"{ratio:.3f}", ratio <= limit)
    sheet.show()


def show_trouble() -> None:
    if TROUBLE:
        sheet = Sheet("Warnings and errors of DSWL", "what", "times")
        for what, times in TROUBLE.most_common():
            sheet.add(what.replace("|", "/").replace("\n", " "), times)
        sheet.show()
    else:
        CONSOLE.print("\nNo warnings and no errors of DSWL.")


PARTS = (
    "missing", "wrong", "wide", "together", "real-holes", "real-cells", "clusters",
    "speed",
)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--part", choices=PARTS, action="append")
    parser.add_argument("--data-home", default=os.environ.get("TRUEAXIS_DATA"))
    args = parser.parse_args()
    seeds = range(FIRST_SEED, FIRST_SEED + args.seeds)
    parts = {
        "missing": lambda: missing_part(seeds),
        "wrong": lambda: wrong_part(seeds),
        "wide": lambda: wide_part(seeds),
        "together": lambda: together_part(seeds),
        "real-holes": lambda: holes_part(seeds, args.data_home),
        "real-cells": lambda: cells_part(seeds, args.data_home),
        "clusters": lambda: clusters_part(seeds),
        "speed": speed_part,
    }
    with threadpool_limits(1):
        for part in args.part or PARTS:
            parts[part]()
    TARGETS.show()
    show_trouble()


if __name__ == "__main__":
    main()
