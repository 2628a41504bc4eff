"""Tables for `ablation.py`, and what one fit does on each of them.

No seed below 5000 is used: rules and constants were chosen with smaller ones.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sklearn.decomposition import PCA
from sklearn.metrics import f1_score, roc_auc_score

import awkward
from accuracy import TALL, angle, planted_cases
from trueaxis import DSWL
from trueaxis.datasets import planted

FIRST_SEED = 5000


class Trial(NamedTuple):
    """A table to fit.

    Attributes
    ----------
    suite : {"real", "textbook", "planted", "hard", "nothing"}
    X, k
        Rows and number of components.
    bad : ndarray of bool or None
        Outliers; None if nothing is planted.
    axes : ndarray or None
        Basis of the true subspace, if known.
    oracle : float
        Angle of plain PCA on the clean rows.
    """

    suite: str
    X: np.ndarray
    k: int
    bad: np.ndarray | None = None
    axes: np.ndarray | None = None
    oracle: float = np.nan


class Outcome(NamedTuple):
    """What a fit did: figures (nan if they do not apply), CPU time, and a fingerprint.

    The fingerprint is the verdicts and the projector, to see whether anything changed.
    """

    auc: float
    f1: float
    flagged: float
    ratio: float
    seconds: float
    fingerprint: bytes


def outcome(trial: Trial, random_state: int = 0, **parameters: float) -> Outcome:
    """Fit DSWL and compare it with the truth."""
    start = time.process_time()
    model = DSWL(trial.k, random_state=random_state, **parameters).fit(trial.X)
    seconds = time.process_time() - start
    flagged = ~model.support_
    auc = f1 = ratio = np.nan
    if trial.bad is not None:
        auc = roc_auc_score(trial.bad, -model.score_samples(trial.X))
        f1 = f1_score(trial.bad, flagged)
    if trial.axes is not None:
        ratio = angle(model.components_, trial.axes) / trial.oracle
    probe = np.ones((1, trial.X.shape[1])) @ model.components_.T @ model.components_
    fingerprint = flagged.tobytes() + np.round(probe, 6).tobytes()
    return Outcome(auc, f1, float(flagged.mean()), ratio, seconds, fingerprint)


def trials(seeds: int, home: Path | None) -> list[Trial]:
    """Return all tables; those of `home` only if it is given."""
    found = [*real(home), *textbook(home)] if home else []
    for i in range(seeds):
        found += [*from_planted(i), *hard(FIRST_SEED + i), *nothing(i)]
    return found


def real(home: Path) -> Iterator[Trial]:
    """Yield real tables, z-scored, with k at 80 % of the variance of plain PCA."""
    for path in sorted(home.glob("*.npz")):
        with np.load(path) as file:
            X, bad = file["X"].astype(float), file["y"].ravel() > 0
        X = (X - X.mean(axis=0)) / X.std(axis=0)
        share = np.cumsum(PCA().fit(X).explained_variance_ratio_)
        yield Trial("real", X, int(np.searchsorted(share, 0.8)) + 1, bad)


def textbook(home: Path) -> Iterator[Trial]:
    """Yield textbook tables, raw, with k = 1, 2 and 3."""
    for path in sorted((home / "textbook").glob("*.csv")):
        values = np.loadtxt(path, delimiter=",", skiprows=1)
        X, bad = values[:, :-1], values[:, -1] > 0
        for k in range(1, 1 + min(3, X.shape[1])):
            yield Trial("textbook", X, k, bad)


def from_planted(i: int) -> Iterator[Trial]:
    """Yield every third case of `accuracy.py`, beginning with case i."""
    for _, shape, kind, share in list(planted_cases())[i % 3 :: 3]:
        cloud = planted(kind, share=share, random_state=FIRST_SEED + i, **shape)
        yield of_cloud("planted", cloud)


def of_cloud(suite: str, cloud) -> Trial:
    k, bad = len(cloud.components), cloud.is_outlier
    oracle = angle(PCA(k).fit(cloud.X[~bad]).components_, cloud.components)
    known = bad if bad.any() else None
    return Trial(suite, cloud.X, k, known, cloud.components, oracle)


def hard(seed: int) -> Iterator[Trial]:
    """Yield tables with outliers of other kinds, each meant for some of the rules."""
    yield moderate(seed)
    for df, kind, share in ((2, "none", 0.0), (3, "ocs", 0.2), (3, "both", 0.2)):
        shape = TALL | {"df": df, "share": share}
        yield of_cloud("hard", planted(kind, random_state=seed, **shape))
    for other in range(6):  # heavy tails hide clusters in some samples only
        shape = TALL | {"df": 3, "share": 0.2}
        yield of_cloud(
            "hard", planted("both", random_state=seed + 1000 * other, **shape)
        )
    yield cluster_and_a_far_row(seed)
    # Groups that bend an axis; more components than the rows can support.
    for n, D, k, share in ((150, 300, 40, 0.2), (300, 90, 9, 0.35), (300, 90, 9, 0.1)):
        X, bad = awkward.shifted(n, D, 40, seed, share)
        yield Trial("hard", X, k, bad)
    yield three_clusters(seed)
    few = {"n": 100, "n_features": 200, "n_components": 5, "share": 0.12}
    yield of_cloud("hard", planted("both", random_state=seed, **few))
    yield gross_cells(seed)
    # More rows than the sample has.
    large = {"n": 6000, "n_features": 10, "n_components": 3, "share": 0.3}
    yield of_cloud("hard", planted("both", random_state=seed, **large))
    small = {"n": 40, "n_features": 6, "n_components": 2, "share": 0.2}
    yield of_cloud("hard", planted("amp", random_state=seed, **small))


def moderate(seed: int) -> Trial:
    """Move 15 % of the rows off the subspace by 3 to 6 deviations of all rows' noise.

    In the directions off the subspace taken together: the length of what is off it.
    """
    cloud = planted("none", random_state=seed, **TALL)
    rng = np.random.default_rng([seed, 1])
    bad = np.arange(len(cloud.X)) < 0.15 * len(cloud.X)
    off = rng.standard_normal((bad.sum(), cloud.X.shape[1]))
    off -= off @ cloud.components.T @ cloud.components
    off /= np.linalg.norm(off, axis=1)[:, None]
    noise = 0.3 * np.sqrt(off.shape[1] - len(cloud.components))
    X = cloud.X.copy()
    X[bad] += rng.uniform(3, 6, (bad.sum(), 1)) * noise * off
    oracle = angle(PCA(3).fit(X[~bad]).components_, cloud.components)
    return Trial("hard", X, 3, bad, cloud.components, oracle)


def three_clusters(seed: int) -> Trial:
    """Put three tight clusters of 12 % each at different places."""
    cloud = planted("both", share=0.36, random_state=seed, **TALL)
    X, bad = cloud.X.copy(), cloud.is_outlier
    rng = np.random.default_rng([seed, 2])
    for first in (0, 1):
        away = rng.standard_normal(X.shape[1])
        X[np.flatnonzero(bad)[first::3]] += 10 * away / np.linalg.norm(away)
    oracle = angle(PCA(3).fit(X[~bad]).components_, cloud.components)
    return Trial("hard", X, 3, bad, cloud.components, oracle)


def cluster_and_a_far_row(seed: int) -> Trial:
    """Put a tight cluster beside the others, and one row a million times as far."""
    cloud = planted("both", share=0.4, random_state=seed, **TALL)
    X, bad = cloud.X.copy(), cloud.is_outlier.copy()
    X[0], bad[0] = 1e6, True
    oracle = angle(PCA(3).fit(X[~bad]).components_, cloud.components)
    return Trial("hard", X, 3, bad, cloud.components, oracle)


def gross_cells(seed: int) -> Trial:
    """Multiply a cell of a continuous column of a mixed table by 20, in 5 % of rows."""
    rng = np.random.default_rng(seed)
    X = awkward.mixed(rng, 500)
    bad = np.arange(len(X)) < 0.05 * len(X)
    columns = rng.integers(0, 4, bad.sum())
    X[bad, columns] = 20 * np.abs(X[:, columns]).mean(axis=0)
    return Trial("hard", X, 3, bad)


def nothing(i: int) -> Iterator[Trial]:
    """Yield tables without outliers."""
    kinds = awkward.TABLES | awkward.FRESH
    for j, make in enumerate(kinds.values()):
        X = make(np.random.default_rng(FIRST_SEED + i))
        yield Trial("nothing", X, min(1 + (i + j) % 3, X.shape[1]))
    rng = np.random.default_rng(FIRST_SEED + i)
    for n, D in ((20, 3), (40, 10), (60, 100)):
        yield Trial("nothing", awkward.correlated(rng, n, D), 2)
    X, _ = awkward.shifted(200, 300, 40, FIRST_SEED + i, 0.0)
    yield Trial("nothing", X, 10)
