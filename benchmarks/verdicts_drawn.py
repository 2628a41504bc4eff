"""The parts of `verdicts.py` with drawn data: outliers planted, and nothing planted."""

from __future__ import annotations

from collections import defaultdict
from itertools import product

import numpy as np
from sklearn.decomposition import PCA

from accuracy import TALL, angle, planted_cases
from detectors import NAMES, found_by
from robpca import Job
from sheet import Sheet
from trueaxis.datasets import planted
from trueaxis.datasets.awkward import FRESH, TABLES
from verdict_data import Labelled, moderate
from verdict_figures import PEER_SEEDS, figures, found_by_all, judged, percent, target


def planted_part(seeds: int) -> None:
    """Repeat the cases of accuracy.py: angles over the oracle's, and F1."""
    sheet = Sheet(
        f"Planted outliers, {seeds} seeds ({PEER_SEEDS} of IsolationForest and ROBPCA)",
        "data", "outliers", "angle over oracle's: DSWL (worst)", "PCA", "ROBPCA",
        *(f"F1 {name}" for name in NAMES),
    )  # fmt: skip
    cases = list(planted_cases())
    clouds = [
        planted(kind, share=share, random_state=seed, **shape)
        for (_, shape, kind, share), seed in product(cases, range(seeds))
    ]
    sizes = [case[1]["n_components"] for case in cases for _ in range(seeds)]
    few = [i for i in range(len(clouds)) if i % seeds < PEER_SEEDS]
    ratio, f1 = {}, {}
    for name in NAMES:
        mine = range(len(clouds)) if name in ("DSWL", "PCA") else few
        found = found_by(name, [Job(clouds[i].X, sizes[i]) for i in mine])
        ratio[name], f1[name] = np.full((2, len(clouds)), np.nan)
        for i, f in zip(mine, found, strict=True):
            f1[name][i] = figures(f, clouds[i].is_outlier)[1]
            if f is not None and f.components is not None:
                ratio[name][i] = over_oracle(f.components, clouds[i])
    for i, (data, _, kind, share) in enumerate(cases):
        part = slice(i * seeds, (i + 1) * seeds)
        r = {name: values[part] for name, values in ratio.items()}
        angles = [f"{np.nanmedian(r['DSWL']):.3f} ({r['DSWL'].max():.2f})"]
        angles += [
            f"{np.nanmedian(r[n]):.2f}" if n in r else "" for n in ("PCA", "ROBPCA")
        ]
        cells = [f"{np.nanmean(f[part]):.3f}" if share else "" for f in f1.values()]
        sheet.add(data, f"{share:.0%} {kind}", *angles, *cells)
    means = [f"{np.nanmean(f):.3f}" for f in f1.values()]
    sheet.add("mean", "", "", "", "", *means)
    sheet.show()
    worst = np.median(ratio["DSWL"].reshape(-1, seeds), axis=1).max()
    target("3", "angle over oracle's, worst case (median of seeds)", "<= 1.15",
           f"{worst:.3f}", worst <= 1.15)  # fmt: skip
    mean = np.nanmean(f1["DSWL"])
    target("3", "planted outliers: mean F1", ">= .95", means[0], mean >= 0.95)


def over_oracle(components: np.ndarray, cloud) -> float:
    oracle = PCA(len(cloud.components)).fit(cloud.X[~cloud.is_outlier]).components_
    return angle(components, cloud.components) / angle(oracle, cloud.components)


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
