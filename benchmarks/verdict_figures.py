"""Figures of detectors on labelled tables, and the list of targets of `verdicts.py`."""

from __future__ import annotations

import numpy as np
from sklearn.metrics import f1_score, roc_auc_score

from detectors import NAMES, Found, found_by
from robpca import Job
from sheet import Sheet
from verdict_data import Labelled

# Seeds for the other detectors where they are slow and their figures are no target.
PEER_SEEDS = 3
TARGETS = Sheet("Targets", "", "what", "target", "DSWL", "verdict")


def target(point: str, what: str, wanted: str, figure: str, good: bool) -> None:
    TARGETS.add(point, what, wanted, figure, "ok" if good else "misses")


def percent(x: float) -> str:
    return f"{100 * x:.1f} %"


def figures(found: Found | None, bad: np.ndarray) -> list[float]:
    """Return AUC, F1, false alarm rate and recall; NaN without a fit."""
    if found is None:
        return [np.nan] * 4
    both = len(set(bad)) > 1
    return [
        roc_auc_score(bad, found.score) if both else np.nan,
        f1_score(bad, found.flagged, zero_division=0) if bad.any() else np.nan,
        found.flagged[~bad].mean(),
        found.flagged[bad].mean() if bad.any() else np.nan,
    ]


def found_by_all(tables: list[Labelled]) -> dict[str, list[Found | None]]:
    """Return what every detector finds in every table."""
    jobs = [Job(table.X, table.k) for table in tables]
    return {name: found_by(name, jobs) for name in NAMES}


def judged(found: dict, tables: list[Labelled]) -> dict[str, np.ndarray]:
    """Return the figures of every detector, one row per table."""
    return {
        name: np.array([figures(f, t.bad) for f, t in zip(mine, tables, strict=True)])
        for name, mine in found.items()
    }
