"""Compare all `METHODS` on the same tables with bad rows or bad cells.

Every method has its default parameters and is given the number of components. The
oracle is plain PCA on the clean rows (for bad cells, on the table before the errors
were added). Angles are the largest principal angle to the true subspace in degrees.

    python benchmarks/methods.py [--seeds 10] [--quick]
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections import Counter, defaultdict
from dataclasses import replace

import numpy as np
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import roc_auc_score
from threadpoolctl import threadpool_limits

from accuracy import OUTLIERS, TALL, WIDE, angle
from sheet import Sheet
from trueaxis.datasets import Planted, planted
from trueaxis.methods import METHODS, PCP, R1PCA, RPCADI, RRPCP, SPCP, TRPCA, AnglePCA

SHARES = (0.1, 0.25, 0.4)
KINDS = ("none", *OUTLIERS, "cells")
AT_25 = {"none": ("none", 0.0)} | {kind: (kind, 0.25) for kind in KINDS[1:]}
ANGLE, MEAN, AUC, FLAGGED, SECONDS = range(5)


# Settings other than the defaults, and tables for which DSWL is not the best.
SETTINGS = {
    **{name: METHODS[name] for name in ("pca", "dswl", "rpca-di", "t-rpca", "spcp")},
    "rpca-di, center=median": lambda k: RPCADI(k, center="median"),
    "angle-pca, center=median": lambda k: AnglePCA(k, center="median"),
    "r1-pca, cauchy, median": lambda k: R1PCA(k, loss="cauchy", center="median"),
    "t-rpca, q=0.25": lambda k: TRPCA(k, q=0.25),
    "pcp, center=median": lambda k: PCP(k, center="median"),
    "spcp, center=median": lambda k: SPCP(k, center="median"),
    "spcp, median, 2 lam": lambda k: SPCP(k, center="median", lam=2 / np.sqrt(500)),
    "rrpcp, center=median": lambda k: RRPCP(k, center="median"),
}
BEYOND = {
    "none": ("none", 0.0, TALL),
    "t, 2 df": ("none", 0.0, TALL | {"df": 2}),
    "25% scatter": ("scatter", 0.25, TALL),
    "70% scatter": ("scatter", 0.7, TALL),
    "25% amp": ("amp", 0.25, TALL),
    "55% amp": ("amp", 0.55, TALL),
    "25% ocs": ("ocs", 0.25, TALL),
    "5% of the cells": ("cells", 0.25, TALL),
}


def table(kind: str, share: float, shape: dict, seed: int):
    """Return a table with its true subspace, and the rows that the oracle is fitted to.

    For "cells", a fifth of the share of all cells (2, 5 and 8 %, so that with 20
    columns 33, 64 and 81 % of the rows have one) is off by 10 to 20 standard deviations
    of its column.
    """
    if kind != "cells":
        cloud = planted(kind, share=share, random_state=seed, **shape)
        return cloud, cloud.X[~cloud.is_outlier]
    cloud = planted("none", random_state=seed, **shape)
    rng = np.random.default_rng([seed, 1])
    hit = rng.random(cloud.X.shape) < share / 5
    size = rng.uniform(10, 20, hit.shape) * rng.choice([-1, 1], hit.shape)
    X = cloud.X + hit * size * cloud.X.std(axis=0)
    return replace(cloud, X=X, is_outlier=hit.any(axis=1)), cloud.X


def fit_all(methods: dict, cases: dict, seeds: int):
    """Return the figures by method and case, and counts of unconverged fits."""
    figures, unfinished = defaultdict(list), Counter()
    for seed in range(seeds):
        for case, (kind, share, shape) in cases.items():
            cloud, clean = table(kind, share, shape, seed)
            k = shape["n_components"]
            _, seconds = timed(PCA(k), cloud.X)
            figures["scikit-learn", case].append([np.nan] * 4 + [seconds])
            for name, method in {"oracle": METHODS["pca"], **methods}.items():
                with warnings.catch_warnings(record=True) as caught:
                    warnings.simplefilter("error")
                    warnings.simplefilter("always", ConvergenceWarning)
                    X = clean if name == "oracle" else cloud.X
                    model, seconds = timed(method(k), X)
                unfinished[name] += bool(caught)
                figures[name, case].append([*judge(model, cloud), seconds])
    return {key: np.array(rows) for key, rows in figures.items()}, unfinished


def timed(model, X):
    start = time.process_time()
    return model.fit(X), time.process_time() - start


def judge(model, cloud: Planted) -> list[float]:
    bad = cloud.is_outlier
    both = bad.any() and not bad.all()
    return [
        angle(model.components_, cloud.components),
        np.linalg.norm(model.mean_ - cloud.mean),
        roc_auc_score(bad, -model.score_samples(cloud.X)) if both else np.nan,
        100 * (~model.support_).mean(),
    ]


def grid(shape: dict, shares: tuple) -> dict:
    cases = [("none", 0.0), *((kind, share) for kind in KINDS[1:] for share in shares)]
    return {case: (*case, shape) for case in cases}


def full_sheet(names: list, figures: dict, seeds: int) -> None:
    title = f"500 x 20, k=3: median of {seeds} seeds at 10 / 25 / 40 %"
    sheet = Sheet(title, "method", "bad rows", "angle", "error of the mean",
                  "AUC of outliers", "CPU time / plain PCA")  # fmt: skip
    for name in names:
        for kind in KINDS:
            at = [case for who, case in figures if (who, case[0]) == (name, kind)]
            mid = np.array([np.median(figures[name, case], axis=0) for case in at])
            auc = slashed(mid[:, AUC], 2)
            if kind == "none":
                auc = f"- ({mid[0, FLAGGED]:.1f} % flagged)"
            angles, means = slashed(mid[:, ANGLE], 1), slashed(mid[:, MEAN], 2)
            sheet.add(name, kind, angles, means, auc, ratio(figures, name, at))
    sheet.show()


def short_sheet(title: str, names: list, figures: dict, columns: dict) -> None:
    sheet = Sheet(title, "method", *columns, "CPU time / plain PCA")
    for name in names:
        angles = [np.median(figures[name, case][:, ANGLE]) for case in columns.values()]
        cells = (f"{angle:.1f}" for angle in angles)
        sheet.add(name, *cells, ratio(figures, name, columns.values()))
    sheet.show()


def slashed(numbers, digits: int) -> str:
    return " / ".join(f"{number:.{digits}f}" for number in numbers)


def ratio(figures: dict, name: str, cases, base: str = "pca") -> str:
    """Return the ratio of median CPU times; "-" for the oracle, with fewer rows."""
    own, other = (
        np.median([figures[who, case][:, SECONDS] for case in cases])
        for who in (name, base)
    )
    return "-" if name == "oracle" else f"{own / other:.1f}"


def footnotes(figures: dict, unfinished: Counter) -> None:
    cases = [case for who, case in figures if who == "pca"]
    times = ratio(figures, "pca", cases, "scikit-learn")
    print(f"\nPlain PCA takes {times} times scikit-learn's PCA.")
    for name, count in unfinished.items():
        if count:
            fits = sum(len(rows) for key, rows in figures.items() if key[0] == name)
            print(f"{name}: {count} of {fits} fits did not converge.")


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--quick", action="store_true", help="one seed, two methods")
    args = parser.parse_args(argv)
    seeds = 1 if args.quick else args.seeds
    few = {name: METHODS[name] for name in ("pca", "dswl")}
    methods, settings = (few, few) if args.quick else (METHODS, SETTINGS)
    names = ["oracle", *methods]

    figures, unfinished = fit_all(methods, grid(TALL, SHARES), seeds)
    title = f"500 x 20, k=3: angle at 25 %, median of {seeds} seeds"
    short_sheet(title, names, figures, AT_25)
    full_sheet(names, figures, seeds)
    footnotes(figures, unfinished)

    figures, unfinished = fit_all(methods, grid(WIDE, (0.25,)), min(seeds, 5))
    title = f"100 x 200, k=5: angle at 25 %, median of {min(seeds, 5)} seeds"
    short_sheet(title, names, figures, AT_25)
    footnotes(figures, unfinished)

    figures, unfinished = fit_all(settings, BEYOND, seeds)
    title = f"Other settings, other tables, 500 x 20: angle, median of {seeds} seeds"
    columns = {label: label for label in BEYOND}
    short_sheet(title, ["oracle", *settings], figures, columns)
    footnotes(figures, unfinished)


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
