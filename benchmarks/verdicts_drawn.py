"""The parts of `verdicts.py` with drawn data: outliers planted, and nothing planted."""

from __future__ import annotations

from collections import defaultdict
from itertools import product

import numpy as np
from sklearn.decomposition import PCA

from accuracy import TALL, angle
from awkward import FRESH, TABLES
from detectors import NAMES, found_by
from robpca import Job
from sheet import Sheet
from trueaxis.datasets import planted
from verdict_data import Labelled, moderate
from verdict_figures import PEER_SEEDS, found_by_all, judged, percent, target


def found_part(seeds: int) -> None:
    """Count moderate rows, and clusters in heavy tails, that are found."""
    sheet = Sheet(
        f"Outliers found % (regular rows flagged %), 500 x 20, k=3, {seeds} seeds",
        "outliers", *NAMES,
    )  # fmt: skip
    cases = {"15 % moderate rows": [moderate(seed) for seed in range(seeds)]}
    shape = TALL | {"df": 3, "share": 0.2}
    for kind in ("both", "ocs"):
        cases[f"20 % {kind}, t with 3 df"] = [
            Labelled("", cloud.X, 3, cloud.is_outlier)
            for cloud in (planted(kind, random_state=s, **shape) for s in range(seeds))
        ]
    for case, tables in cases.items():
        by = {
            name: np.nanmean(f, axis=0)
            for name, f in judged(found_by_all(tables), tables).items()
        }
        sheet.add(case, *(f"{100 * f[3]:.2f} ({100 * f[2]:.1f})" for f in by.values()))
        mine = by["DSWL"][3]
        target("3", f"{case} found", ">= 99 %", percent(mine), mine >= 0.99)
    sheet.show()


def heavy_part(seeds: int) -> None:
    """Compare angles in heavy tails."""
    names = [name for name in NAMES if name != "IsolationForest"]
    sheet = Sheet(
        f"Heavy tails, angle to the truth, {seeds} seeds: median (worst)",
        "data", *names, "oracle",
    )  # fmt: skip
    for df, kind, share in ((2, "none", 0.0), (3, "ocs", 0.2)):
        shape = TALL | {"df": df, "share": share}
        clouds = [planted(kind, random_state=seed, **shape) for seed in range(seeds)]
        jobs = [Job(cloud.X, 3, alpha=0.5) for cloud in clouds]
        axes = [[f.components for f in found_by(name, jobs)] for name in names]
        axes += [[PCA(3).fit(c.X[~c.is_outlier]).components_ for c in clouds]]
        angles = np.array(
            [
                [angle(P, c.components) for P, c in zip(row, clouds, strict=True)]
                for row in axes
            ]
        )
        data = f"t with {df} df, {share:.0%} {kind}"
        sheet.add(data, *(f"{np.median(a):.2f} ({a.max():.2f})" for a in angles))
        if "ROBPCA" in names:
            theirs = angles[names.index("ROBPCA")]
            for what, of in (("median", np.median), ("worst", np.max)):
                wanted, mine = of(theirs), of(angles[0])
                target("3", f"{data}: {what} angle", f"<= {wanted:.2f} (ROBPCA)",
                       f"{mine:.2f}", round(mine, 2) <= round(wanted, 2))  # fmt: skip
    sheet.show()


# The numbers of components that slow detectors are asked for; a forest has none.
ASKED = {"IsolationForest": (1,), "ROBPCA": (2, 3)}


def nothing_part(seeds: int) -> None:
    """Count rows flagged in tables without outliers."""
    tables, keys = [], []
    kinds = TABLES | FRESH
    for name, k, seed in product(kinds, (1, 2, 3, "auto"), range(seeds)):
        X = kinds[name](np.random.default_rng(seed))
        tables.append(Job(X, k if k == "auto" else min(k, X.shape[1])))
        keys.append((name, k, seed))
    share = {}
    for name in NAMES:
        wanted = ASKED.get(name)
        mine = [
            i for i, (_, k, seed) in enumerate(keys)
            if wanted is None or (seed < PEER_SEEDS and k in wanted)
        ]  # fmt: skip
        share[name] = defaultdict(list)
        for i, f in zip(mine, found_by(name, [tables[i] for i in mine]), strict=True):
            if f is not None:
                share[name][keys[i][0]].append(f.flagged.mean())
    sheet = Sheet(
        f"Nothing planted, {seeds} seeds, k = 1, 2, 3, auto ({PEER_SEEDS} seeds of "
        "IsolationForest, and of ROBPCA with k = 2, 3): flagged %, mean (worst)",
        "table", "shape", *NAMES,
    )  # fmt: skip
    shapes = {key[0]: job.X.shape for key, job in zip(keys, tables, strict=True)}
    for kind in sorted(kinds, key=lambda kind: -max(share["DSWL"][kind])):
        cells = (mean_and_worst(share[name][kind]) for name in NAMES)
        sheet.add(kind, shapes[kind], *cells)
    pooled = {name: np.concatenate(list(share[name].values())) for name in NAMES}
    statistics = (
        ("mean", np.mean, 0.04),
        ("90th percentile", lambda s: np.quantile(s, 0.9), 0.1),
        ("worst", np.max, 0.15),
    )
    for what, of, limit in statistics:
        values = [of(pooled[name]) for name in NAMES]
        sheet.add(what, "", *(f"{100 * v:.1f}" for v in values))
        target("4", f"nothing planted: flagged, {what}", f"<= {limit:.0%}",
               percent(values[0]), values[0] <= limit)  # fmt: skip
    sheet.show()


def mean_and_worst(share: list[float]) -> str:
    return f"{100 * np.mean(share):.1f} ({100 * max(share):.1f})" if share else "fails"
