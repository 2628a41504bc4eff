"""Print the tables of docs/for-r-users.md and docs/for-pyod-users.md.

    MARKDOWN=1 python benchmarks/other_tools.py r
    MARKDOWN=1 python benchmarks/other_tools.py pyod [--data-home DIR]

`r` needs Rscript with rrcov and robustbase. `pyod` needs PyOD in the environment, and
labelled tables in DIR/outliers (by default, of the folder TRUEAXIS_DATA); without them
only made-up tables are measured. Times are CPU times of one fit, in milliseconds.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.metadata
import os
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import f1_score, roc_auc_score
from threadpoolctl import threadpool_limits

import other_tools_r
from sheet import Sheet
from trueaxis import DSWL
from trueaxis.datasets import planted, sensors
from trueaxis.diagnostics.influence import largest_angle
from trueaxis.methods import PlainPCA
from verdict_data import real

COMPONENTS = {"sensors": 2, "hbk": 2, "wood": 2, "stackloss": 2, "milk": 2, "bus": 3}
CLOUDS = (("none", 0.0), ("ocs", 0.1), ("ocs", 0.3), ("both", 0.2), ("scatter", 0.3))
SEEDS = range(5)
DETECTORS = {
    "PCA": "pca",
    "ECOD": "ecod",
    "COPOD": "copod",
    "HBOS": "hbos",
    "IForest": "iforest",
    "KNN": "knn",
    "LOF": "lof",
    "MCD": "mcd",
    "OCSVM": "ocsvm",
}


def timed(fit: Callable[[], Any]) -> tuple[Any, float]:
    """Return what a fit returns, and the milliseconds of CPU that it took."""
    start = time.process_time()
    model = fit()
    return model, 1000 * (time.process_time() - start)


# ---- R


def tables_of_r() -> dict[str, np.ndarray]:
    """Return the textbook tables, and readings with known faults."""
    found = other_tools_r.textbook() | {"sensors": sensors().X}
    return {name: found[name] for name in COMPONENTS}


def same_formulas() -> None:
    """Compare plain PCA, where both sides must agree."""
    sheet = Sheet(
        "PcaClassic and PlainPCA",
        "table",
        "angle",
        "variances",
        "score distances",
        "orthogonal distances",
        "flagged by R",
        "by PlainPCA",
    )
    tables = tables_of_r()
    jobs = [
        other_tools_r.Job(X, "PcaClassic", COMPONENTS[t]) for t, X in tables.items()
    ]
    for name, job, theirs in zip(tables, jobs, other_tools_r.fit(jobs), strict=True):
        ours = PlainPCA(job.k).fit(job.X)
        distances = ours.distances(job.X)
        sheet.add(
            name,
            f"{largest_angle(ours.components_, theirs.components):.0e}",
            *(
                f"{np.abs(a / b - 1).max():.0e}"
                for a, b in (
                    (ours.explained_variance_, theirs.variances),
                    (distances.score, theirs.score),
                    (distances.orthogonal, theirs.orthogonal),
                )
            ),
            theirs.flagged.sum(),
            (~ours.support_).sum(),
        )
    sheet.show()


def textbook_tables() -> None:
    """Compare flags on tables that come with R."""
    sheet = Sheet(
        "Textbook tables: flagged rows",
        "table",
        "function",
        "by R",
        "by DSWL",
        "by both",
        "angle",
        "CPU, R",
        "CPU, DSWL",
    )
    tables = tables_of_r()
    jobs = [
        other_tools_r.Job(tables[name], function, k)
        for name, k in COMPONENTS.items()
        for function in other_tools_r.FUNCTIONS
    ]
    names = [name for name in COMPONENTS for _ in other_tools_r.FUNCTIONS]
    for name, job, theirs in zip(names, jobs, other_tools_r.fit(jobs), strict=True):
        ours, took = timed(lambda job=job: DSWL(job.k).fit(job.X))
        bad = ~ours.support_
        n, D = job.X.shape
        sheet.add(
            f"{name}, {n} x {D}, k = {job.k}",
            job.function,
            theirs.flagged.sum(),
            bad.sum(),
            (bad & theirs.flagged).sum(),
            f"{largest_angle(ours.components_, theirs.components):.1f}",
            f"{1000 * theirs.seconds:.0f}",
            f"{took:.0f}",
        )
    sheet.show()


def known_axes() -> None:
    """Compare angles to true axes, and false alarms."""
    sheet = Sheet(
        "500 x 20, k = 3, known axes: angle, share of good rows flagged, CPU "
        f"(median of {len(SEEDS)} seeds)",
        "bad rows",
        *other_tools_r.FUNCTIONS,
        "DSWL",
    )
    for kind, share in CLOUDS:
        clouds = [planted(kind, share=share, random_state=seed) for seed in SEEDS]
        cells = []
        for function in other_tools_r.FUNCTIONS:
            fits = other_tools_r.fit(
                [other_tools_r.Job(c.X, function, 3) for c in clouds]
            )
            cells.append(
                [
                    (
                        largest_angle(c.components, fit.components),
                        fit.flagged[~c.is_outlier].mean(),
                        1000 * fit.seconds,
                    )
                    for c, fit in zip(clouds, fits, strict=True)
                ]
            )
        cells.append([of_dswl(cloud) for cloud in clouds])
        texts = ("{:.1f}, {:.0%}, {:.0f}".format(*np.median(c, axis=0)) for c in cells)
        sheet.add(f"{share:.0%} {kind}" if share else "none", *texts)
    sheet.show()


def of_dswl(cloud: Any) -> tuple[float, float, float]:
    ours, took = timed(lambda: DSWL(3).fit(cloud.X))
    angle = largest_angle(cloud.components, ours.components_)
    return angle, 1 - ours.support_[~cloud.is_outlier].mean(), took


# ---- PyOD


def detectors() -> dict[str, Callable[[np.ndarray, int], tuple[Any, Any, float]]]:
    """Return what gives flags, scores (high for outliers) and milliseconds."""

    def pyod(name: str, module: str) -> Callable:
        found = getattr(importlib.import_module(f"pyod.models.{module}"), name)
        seeded = {"random_state": 0} if name in ("IForest", "MCD", "PCA") else {}

        def detect(X: np.ndarray, k: int) -> tuple[Any, Any, float]:
            model, took = timed(lambda: found(**seeded).fit(X))
            return model.labels_ > 0, model.decision_scores_, took

        return detect

    def ours(**options: Any) -> Callable:
        def detect(X: np.ndarray, k: int) -> tuple[Any, Any, float]:
            model, took = timed(lambda: DSWL(k, **options).fit(X))
            return ~model.support_, np.nan_to_num(-model.score_samples(X)), took

        return detect

    named = {f"PyOD {name}": pyod(name, module) for name, module in DETECTORS.items()}
    named |= {"DSWL": ours(), "DSWL, contamination=0.1": ours(contamination=0.1)}
    X = planted("none", n=100).X
    for detect in named.values():
        detect(X, 3)  # the first call compiles
    return named


def labelled(folder: Path) -> None:
    """Compare on real tables with labels."""
    tables = real(folder)
    sheet = Sheet(
        f"{len(tables)} real tables (ADBench), means",
        "detector",
        "AUC",
        "F1 of the flags",
        "regular rows flagged",
        "tables where its AUC is best",
        "CPU",
    )
    found = {
        name: np.array([measured(detect, t.X, t.k, t.bad) for t in tables])
        for name, detect in detectors().items()
        if not name.endswith("0.1")
    }
    best = np.array([values[:, 0] for values in found.values()]).argmax(axis=0)
    for i, (name, values) in enumerate(found.items()):
        auc, f1, alarms, took = values.mean(axis=0)
        wins = (best == i).sum()
        sheet.add(name, f"{auc:.2f}", f"{f1:.2f}", f"{alarms:.0%}", wins, f"{took:.0f}")
    sheet.show()


def measured(detect: Callable, X: np.ndarray, k: int, bad: np.ndarray) -> list[float]:
    flagged, score, took = detect(X, k)
    f1 = f1_score(bad, flagged, zero_division=0)
    return [roc_auc_score(bad, score), f1, flagged[~bad].mean(), took]


def made_up() -> None:
    """Compare on made-up tables."""
    sheet = Sheet(
        "500 x 20, k = 3: AUC, share of good rows flagged (mean of "
        f"{len(SEEDS)} seeds), CPU",
        "detector",
        *(f"{share:.0%} {kind}" if share else "no bad rows" for kind, share in CLOUDS),
        "CPU",
    )
    for name, detect in detectors().items():
        cells, times = [], []
        for kind, share in CLOUDS:
            clouds = [planted(kind, share=share, random_state=seed) for seed in SEEDS]
            found = [(c.is_outlier, *detect(c.X, 3)) for c in clouds]
            alarms = np.mean([flags[~bad].mean() for bad, flags, _, _ in found])
            times += [took for *_, took in found]
            text = f"{alarms:.0%}"
            if share:
                aucs = [roc_auc_score(bad, score) for bad, _, score, _ in found]
                text = f"{np.mean(aucs):.2f}, {text}"
            cells.append(text)
        sheet.add(name, *cells, f"{np.median(times):.0f}")
    sheet.show()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tool", choices=("r", "pyod"))
    parser.add_argument(
        "--data-home", type=Path, default=os.environ.get("TRUEAXIS_DATA")
    )
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    threadpool_limits(1)
    if options.tool == "r":
        print(other_tools_r.versions())
        same_formulas()
        textbook_tables()
        known_axes()
        return
    packages = ("pyod", "scikit-learn", "numpy")
    print(
        *(f"{name} {importlib.metadata.version(name)}" for name in packages), sep=", "
    )
    made_up()
    if options.data_home:
        labelled(Path(options.data_home) / "outliers")
    else:
        print("Labelled tables: no data. Pass --data-home DIR.")


if __name__ == "__main__":
    main()
