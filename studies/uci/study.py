"""Study of the paper's ten UCI data sets: nearest-neighbor accuracy, and angles.

Each seed has ten folds. Rows are z-scored with the clean training rows, then a quarter
of all rows is damaged. (With damage before scaling, or without scaling, accuracies of
plain PCA differ from the printed ones by 9 to 10 points on average; in this order, by
4.) Fits see damaged training rows only. Each fit is tested on damaged rows ("all rows
contaminated") and on the same rows before the damage ("training folds only").
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from studies.data import UCI, load
from studies.data.loading import split_available
from studies.methods import (
    NAMES,
    Tau,
    fitted,
    temperatures,
)
from studies.study import Key, Results, Row, TaskOutcome
from studies.uci.damage import contaminate
from studies.uci.printed import KS
from trueaxis.diagnostics.influence import largest_angle

ORACLE = "PCA on clean rows"
# BUPA's last six columns, including the class, which the paper apparently used.
LEAK = "bupa_leak"


@dataclass(frozen=True)
class UciStudy:
    """The paper's table of accuracies, and sharper measures.

    Parameters
    ----------
    sets : tuple of str
        Names of data sets in `UCI`.
    n_seeds : int
        Number of seeds; each draws its own folds and damage.
    n_folds : int
    data_home : str, optional
        Folder of the data sets, see `studies.data.load`.
    missing : tuple of str
        Data sets that were left out because they are not available.
    """

    sets: tuple[str, ...] = UCI
    n_seeds: int = 10
    n_folds: int = 10
    data_home: str | None = None
    missing: tuple[str, ...] = ()

    name = "uci"

    @classmethod
    def prepare(
        cls,
        *,
        data_home: str | Path | None = None,
        download: bool = True,
        quick: bool = False,
    ) -> UciStudy:
        """Return a study of the data sets that are available.

        Parameters
        ----------
        data_home : str or Path, optional
            Folder of the data sets.
        download : bool
            Whether to download missing data sets.
        quick : bool
            Whether to use only two data sets that are always available, one seed and
            three folds.

        Returns
        -------
        UciStudy
        """
        home = None if data_home is None else str(data_home)
        if quick:
            return cls(("breast_cancer", "wine"), 1, 3, home)
        sets, missing = split_available(UCI, home, download)
        return cls(sets, data_home=home, missing=missing)

    def tasks(self) -> list[Key]:
        """Return the tasks: data set and seed."""
        sets = [*self.sets, *([LEAK] if "bupa" in self.sets else [])]
        return [(name, str(seed)) for name in sets for seed in range(self.n_seeds)]

    def run(self, task: Key) -> TaskOutcome:
        """Fit and measure all methods on every fold of one data set."""
        name, seed = task[0], int(task[1])
        X, y = rows_of(name, self.data_home)
        taus = _taus(name, self.data_home, self.n_folds)
        rows: list[Row] = []
        for fold, test in enumerate(folds(y, self.n_folds, seed)):
            split = FoldData.make(X, y, test, seed)
            for k in KS:
                reference = split.principal(k)
                for method in NAMES:
                    model = fitted(method, k, split.train, taus[k])
                    measures = split.measure(model.mean_, model.components_, reference)
                    rows.append(
                        {
                            "set": name,
                            "seed": seed,
                            "fold": fold,
                            "k": k,
                            "method": method,
                            **measures,
                            "converged": bool(model.converged_),
                        }
                    )
                clean_mean = split.clean_train.mean(axis=0)
                measures = split.measure(clean_mean, reference, reference)
                rows.append(rows[-1] | {"method": ORACLE, "converged": True} | measures)
        return TaskOutcome(rows)

    def figures(self, results: Results, folder: Path) -> list[Path]:
        """Draw the ranks, and the gains and angles of every data set."""
        from studies.uci import figures as uci_figures

        return uci_figures.draw(self, results, folder)

    def section(self, results: Results) -> str:
        """Return the section of the page: tables, tests and verdicts."""
        from studies.uci import page as uci_page

        return uci_page.section(self, results)


def rows_of(
    name: str, data_home: str | None = None
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return features and classes; for `LEAK`, of BUPA with its class as a feature."""
    data = load("bupa" if name == LEAK else name, data_home=data_home, download=False)
    if name == LEAK:
        return np.column_stack([data.X[:, 1:], data.target]), data.target
    return data.X, data.target


def folds(y: NDArray[Any], n: int, seed: int) -> list[NDArray[np.intp]]:
    """Return the test rows of every fold.

    Shuffled rows are dealt to the folds in turn, class by class, so that the sizes of
    folds differ by at most one row, and so do the sizes of each class in them. A class
    with fewer rows than folds is missing from some. When its only row is tested, no
    method can predict it.

    Parameters
    ----------
    y : ndarray of shape (n_rows,)
        Classes.
    n : int
        Number of folds.
    seed : int

    Returns
    -------
    list of ndarray
    """
    shuffled = np.random.default_rng([seed, 1]).permutation(len(y))
    order = shuffled[np.argsort(y[shuffled], kind="stable")]
    return [np.sort(order[i::n]) for i in range(n)]


@dataclass(frozen=True)
class FoldData:
    """Training and test rows of one fold.

    Attributes
    ----------
    train, test : ndarray
        Damaged rows.
    clean_train, clean_test : ndarray
        The same rows before the damage, in the same coordinates.
    y_train, y_test : ndarray
        Classes.
    """

    train: NDArray[Any]
    test: NDArray[Any]
    clean_train: NDArray[Any]
    clean_test: NDArray[Any]
    y_train: NDArray[Any]
    y_test: NDArray[Any]

    @classmethod
    def make(
        cls, X: NDArray[Any], y: NDArray[Any], test: NDArray[Any], seed: int
    ) -> FoldData:
        """Scale all rows by the clean training rows, then damage a quarter of them."""
        is_test = np.isin(np.arange(len(X)), test)
        clean = z_scores(X[~is_test], X)
        bad, _ = contaminate(clean, random_state=seed)
        return cls(
            *(bad[~is_test], bad[is_test]),
            *(clean[~is_test], clean[is_test]),
            *(y[~is_test], y[is_test]),
        )

    def principal(self, k: int) -> NDArray[Any]:
        """Return the first principal axes of the clean training rows."""
        centered = self.clean_train - self.clean_train.mean(axis=0)
        return np.linalg.svd(centered, full_matrices=False)[2][:k]

    def measure(
        self, mean: NDArray[Any], axes: NDArray[Any], reference: NDArray[Any]
    ) -> Row:
        """Return accuracies in percent, and differences from the fit to clean rows."""
        scores = (self.train - mean) @ axes.T
        accuracy = [
            100.0 * float(self._is_correct(scores, (rows - mean) @ axes.T).mean())
            for rows in (self.test, self.clean_test)
        ]
        angle = largest_angle(axes, reference)
        centered = self.clean_train - self.clean_train.mean(axis=0)
        kept, best = (((centered @ P.T) ** 2).sum() for P in (axes, reference))
        error = np.linalg.norm(mean - self.clean_train.mean(axis=0))
        return {
            "accuracy": accuracy[0],
            "accuracy_training_only": accuracy[1],
            "angle": float(angle),
            "lost": float(100 * (1 - kept / best)),
            "mean_error": float(error),
        }

    def _is_correct(self, train: NDArray[Any], test: NDArray[Any]) -> NDArray[np.bool_]:
        nearest = cdist(test, train).argmin(axis=1)
        correct: NDArray[np.bool_] = self.y_train[nearest] == self.y_test
        return correct


def z_scores(train: NDArray[Any], X: NDArray[Any]) -> NDArray[np.float64]:
    """Scale rows by mean and standard deviation of the training rows."""
    spread = train.std(axis=0)
    # Columns that are constant in the training rows are only centered.
    flat = spread <= 1e-12 * np.abs(train).max(axis=0)
    scaled: NDArray[np.float64] = (X - train.mean(axis=0)) / np.where(flat, 1.0, spread)
    return scaled


@cache
def _taus(name: str, data_home: str | None, n_folds: int) -> dict[int, Tau]:
    """Return temperatures of DSWL as published, the same for all seeds and folds.

    They are chosen on the damaged training rows of the first fold of the first seed.
    """
    X, y = rows_of(name, data_home)
    split = FoldData.make(X, y, folds(y, n_folds, 0)[0], 0)
    return temperatures(split.train, KS)
