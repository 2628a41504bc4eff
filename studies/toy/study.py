"""Study of the paper's toy data, over many seeds instead of a single figure."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from studies.methods import (
    AUTOMATIC,
    NAMES,
    PUBLISHED,
    Tau,
    fitted,
    temperatures,
)
from studies.study import Key, Results, Row, TaskOutcome
from studies.toy.points import toy

KINDS = ("none", "pcs", "ocs", "both")
IN_WORDS = {
    "none": "no outliers",
    "pcs": "outliers in the PCS",
    "ocs": "outliers in the OCS",
    "both": "outliers in both",
}
WEIGHTED = ("L2,p-PCA", "RPCA-OM", "RPCA-DI", PUBLISHED, AUTOMATIC)
# Temperatures are chosen on data that are not used for results.
TUNING_SEED = 10_000
LEAST_WEIGHT = 1e-300


@dataclass(frozen=True)
class ToyStudy:
    """The paper's three figures on toy data, and the claims about them.

    Parameters
    ----------
    n_seeds : int
        Number of data sets of each kind. The figures show the first.
    batch : int
        Number of seeds per task.
    """

    n_seeds: int = 100
    batch: int = 25

    name = "toy"

    @classmethod
    def quick(cls) -> ToyStudy:
        """Return a study that takes a few seconds."""
        return cls(n_seeds=6, batch=3)

    def tasks(self) -> list[Key]:
        """Return the tasks: kind of outliers and batch of seeds."""
        starts = range(0, self.n_seeds, self.batch)
        return [(kind, f"{start:03d}") for kind in KINDS for start in starts]

    def run(self, task: Key) -> TaskOutcome:
        """Fit all methods to the data of one batch of seeds."""
        kind, start = task[0], int(task[1])
        tau = _tau(kind)
        rows: list[Row] = []
        arrays: dict[str, NDArray[Any]] = {}
        for seed in range(start, min(start + self.batch, self.n_seeds)):
            points = toy(kind, random_state=seed)
            models = {name: fitted(name, 1, points.X, tau) for name in NAMES}
            for name, model in models.items():
                cosine = abs(float(model.components_[0] @ points.components[0]))
                angle = np.degrees(np.arccos(min(cosine, 1.0)))
                error = np.linalg.norm(model.mean_ - points.mean)
                weights = getattr(model, "weights_", None)
                rows.append(
                    {
                        "kind": kind,
                        "seed": seed,
                        "method": name,
                        "angle": float(angle),
                        "mean_error": float(error),
                        **_weight_measures(weights, points.is_outlier),
                        "converged": bool(model.converged_),
                    }
                )
            if seed == 0:
                arrays = _figure_data(models, points.X, points.is_outlier)
        return TaskOutcome(rows, arrays)

    def figures(self, results: Results, folder: Path) -> list[Path]:
        """Draw the paper's three figures, for the first seed."""
        from studies.toy import figures as toy_figures

        first = {task[0]: o.arrays for task, o in results.outcomes.items() if o.arrays}
        return toy_figures.draw(first, folder)

    def section(self, results: Results) -> str:
        """Return the section of the page: tables and verdicts."""
        from studies.toy import page as toy_page

        return toy_page.section(self, results)


@cache
def _tau(kind: str) -> Tau:
    return temperatures(toy(kind, random_state=TUNING_SEED).X, [1])[1]


def _weight_measures(weights: NDArray[Any] | None, is_outlier: NDArray[Any]) -> Row:
    """Return the decades between groups, and the variation among regular points."""
    if weights is None:
        return {"margin": float("nan"), "spread": float("nan")}
    regular = weights[~is_outlier]
    spread = float(regular.std() / regular.mean())
    if not is_outlier.any():
        return {"margin": float("nan"), "spread": spread}
    low = max(float(np.median(weights[is_outlier])), LEAST_WEIGHT)
    middle = max(float(np.median(regular)), LEAST_WEIGHT)
    return {"margin": float(np.log10(middle / low)), "spread": spread}


def _figure_data(
    models: dict[str, Any], X: NDArray[Any], is_outlier: NDArray[Any]
) -> dict[str, NDArray[Any]]:
    return {
        "X": X,
        "is_outlier": is_outlier,
        "axes": np.array([models[name].components_[0] for name in NAMES]),
        "means": np.array([models[name].mean_ for name in NAMES]),
        "weights": np.array([models[name].weights_ for name in WEIGHTED]),
    }
