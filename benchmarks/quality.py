"""Measure the quality of answers beside other detectors, and write the docs' tables.

100 real tables (z-scored, components for 80 % of the variance), textbook tables,
planted outliers with fresh seeds, and the figures of tests/quality with several seeds.
The tables replace what is between markers in docs/benchmarks.md; docs/quality.json has
the same figures. With --quick, there are few tables, and nothing is written.

    make quality, or from the root of the repository
    PYTHONPATH=. python benchmarks/quality.py --data-home DIR [--seed 1000] [--quick]
"""

from __future__ import annotations

import argparse
import functools
import json
import os
import re
from pathlib import Path

import numpy as np
from sklearn.decomposition import PCA

import detectors
from accuracy import angle, planted_cases
from detectors import ALONE as DETECTORS
from detectors import on_all_cores
from hubert import hubert
from robpca import Job
from tests.quality.figures import ALONE, WITH_DATA, data_home
from tests.quality.floors import FLOORS
from trueaxis.datasets import planted
from verdict_data import Labelled, real, textbook
from verdict_figures import judged

DOCS = Path(__file__).parent.parent / "docs"
PAGE, FIGURES = DOCS / "benchmarks.md", DOCS / "quality.json"
PORT = "ROBPCA (port)"
# As in `verdict_figures.figures`; True where more is better.
MEANS = {"AUC": True, "F1": True, "false alarms": False, "found": True}
SHOWN = ("AUC", "F1", "found", "false alarms")


def table(*rows) -> str:
    """Return rows as a Markdown table, the first one as its head."""
    lines = [rows[0], ["---"] * len(rows[0]), *rows[1:]]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)


def found_by_all(tables: list[Labelled]) -> dict:
    """Return what every detector finds in every table."""
    jobs = [Job(table.X, table.k) for table in tables]
    return {
        name: on_all_cores(detect, jobs)
        for name, detect in (DETECTORS | {PORT: hubert}).items()
    }


def labelled(tables: list[Labelled]) -> tuple[str, dict]:
    """Compare detectors on labelled tables, and say where DSWL is behind."""
    found = found_by_all(tables)
    by = judged(found, tables)
    out = {}
    for name, figures in by.items():
        out[name] = dict(zip(MEANS, np.nanmean(figures, axis=0), strict=True))
        worst = int(np.nanargmax(figures[:, 2]))
        out[name]["worst false alarms"] = figures[worst, 2]
        out[name]["worst table"] = tables[worst].name
        out[name]["failed"] = sum(f is None for f in found[name])
    head = ("mean", *SHOWN, "worst false alarms", "fits that fail")
    rows = [
        (name, *(f"{mine[what]:.3f}" for what in SHOWN),
         f"{mine['worst false alarms']:.2f} ({mine['worst table']})", mine["failed"])
        for name, mine in out.items()
    ]  # fmt: skip
    return f"{table(head, *rows)}\n\n{behind(out)}", out


def behind(figures: dict) -> str:
    """Say in a sentence what others do better than DSWL."""
    ours, worse = figures["DSWL"], []
    for what in SHOWN:
        sign = 1 if MEANS[what] else -1
        best = max(figures, key=lambda name: sign * figures[name][what])
        theirs = figures[best][what]
        if sign * (theirs - ours[what]) > 0.0005:
            worse.append(f"{what} ({best} {theirs:.3f}, DSWL {ours[what]:.3f})")
    if not worse:
        return "DSWL is behind in none of these means."
    return f"DSWL is behind in {', '.join(worse)}."


def drawn(cases: list, seeds: range) -> tuple[str, dict]:
    """Compare angles with the oracle's, and flags, on planted outliers."""
    tables, truths = [], []
    for _, shape, kind, share in cases:
        for seed in seeds:
            cloud = planted(kind, share=share, random_state=seed, **shape)
            k = shape["n_components"]
            tables.append(Labelled(kind, cloud.X, k, cloud.is_outlier))
            oracle = PCA(k).fit(cloud.X[~cloud.is_outlier]).components_
            truths.append((cloud.components, angle(oracle, cloud.components)))
    found = found_by_all(tables)
    figures = judged(found, tables)
    out, broken = {}, {}
    for name, mine in found.items():
        means = dict(zip(MEANS, np.nanmean(figures[name], axis=0), strict=True))
        ratio = np.array(
            [
                angle(f.components, P) / oracle
                if f is not None and f.components is not None
                else np.nan
                for f, (P, oracle) in zip(mine, truths, strict=True)
            ]
        )
        if np.isfinite(ratio).any():
            means["median ratio"] = np.nanmedian(ratio)
            means["broken"] = np.nanmean(ratio > 2)
            lost = np.reshape(ratio > 2, (len(cases), -1)).sum(axis=1)
            broken[name] = lost
        out[name] = means
    head = ("mean", "median angle over oracle's", "more than twice the oracle's",
            *SHOWN)  # fmt: skip
    rows = []
    for name, mine in out.items():
        axes = ("", "")
        if "broken" in mine:
            axes = (f"{mine['median ratio']:.3f}", f"{mine['broken']:.1%}")
        rows.append((name, *axes, *(f"{mine[what]:.3f}" for what in SHOWN)))
    lost = [
        f"{data.strip()}, {share:.0%} {kind} ({count} of {len(seeds)})"
        for (data, _, kind, share), count in zip(cases, broken["DSWL"], strict=True)
        if count
    ]
    said = f"DSWL is lost in: {'; '.join(lost)}." if lost else "DSWL is never lost."
    return f"{table(head, *rows)}\n\n{behind(out)} {said}", out


def measured(job: tuple) -> dict:
    measure, seed, home = job
    return measure(seed, home) if measure in WITH_DATA else measure(seed)


def floors(seeds: range, home: Path) -> tuple[str, dict]:
    """Measure the figures of tests/quality with several seeds."""
    jobs = [(m, seed, home) for m in ALONE + WITH_DATA for seed in seeds]
    values: dict[str, list[float]] = {}
    for figures in on_all_cores(measured, jobs):
        for name, value in figures.items():
            values.setdefault(name, []).append(float(value))
    rows, out = [], {}
    for floor in FLOORS:
        mine = values[floor.name]
        middle, low, high = np.median(mine), min(mine), max(mine)
        out[floor.name] = {"median": middle, "low": low, "high": high}
        goal = "" if floor.goal is None else f"{floor.goal:g}, {floor.why}"
        span = f"{middle:.3g} ({low:.3g} to {high:.3g})"
        rows.append((floor.name, floor.better, span, f"{floor.limit:.3g}", goal))
    head = ("figure", "better", "median (range)", "floor, seed 0", "goal")
    missed = [f.name for f in FLOORS if f.goal is not None and not reached(f, out)]
    said = f"Goals missed: {'; '.join(missed)}." if missed else "All goals are reached."
    return f"{table(head, *rows)}\n\n{said}", out


def reached(floor, out: dict) -> bool:
    value = out[floor.name]["median"]
    return value <= floor.goal if floor.better == "low" else value >= floor.goal


def rounded(value):
    """Round all numbers in nested dictionaries to four digits."""
    if isinstance(value, dict):
        return {key: rounded(item) for key, item in value.items()}
    return value if isinstance(value, str) else float(f"{value:.4g}")


def write(texts: dict[str, str], figures: dict) -> None:
    """Replace what is between the markers of every table, and write the figures."""
    page = PAGE.read_text()
    for name, text in texts.items():
        pattern = rf"(<!-- quality: {name} -->\n).*?(<!-- end -->)"
        new = functools.partial(between, f"\n{text}\n\n")
        page, count = re.subn(pattern, new, page, flags=re.S)
        if count != 1:
            raise ValueError(f"{PAGE} has {count} places for the table {name!r}")
    PAGE.write_text(page)
    FIGURES.write_text(json.dumps(rounded(figures), indent=1) + "\n")


def between(text: str, match: re.Match) -> str:
    return match[1] + text + match[2]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1000, help="first of the seeds")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--data-home", default=os.environ.get("TRUEAXIS_DATA"))
    args = parser.parse_args()
    home = data_home(args.data_home)
    if home is None:
        parser.error("pass --data-home DIR with DIR/outliers and DIR/faces")
    detectors.JOBS = args.jobs
    folder, step = home / "outliers", 10 if args.quick else 1
    seeds = range(args.seed, args.seed + (1 if args.quick else args.seeds))
    parts = {
        "real tables": lambda: labelled(real(folder)[::step]),
        "macrOData": lambda: labelled(real(folder / "macro")[::step]),
        "textbook tables": lambda: labelled(textbook(folder / "textbook")),
        "planted": lambda: drawn(list(planted_cases())[::step], seeds),
        "floors": lambda: floors(seeds, home),
    }
    texts, figures = {}, {}
    for name, part in parts.items():
        texts[name], figures[name] = part()
        print(f"\n{name}\n\n{texts[name]}", flush=True)
    if not args.quick:
        write(texts, figures)


if __name__ == "__main__":
    main()
