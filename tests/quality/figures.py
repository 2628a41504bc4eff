"""Figures of quality, each a function of a seed, measured on the public surface.

Angles are the largest principal angle to the true subspace, in degrees. `home` is the
folder of the real data, or None; figures that need it are in `WITH_DATA`.
"""

import time
from pathlib import Path

import numpy as np
from scipy.linalg import subspace_angles
from scipy.stats import kstest
from sklearn.datasets import load_wine
from sklearn.decomposition import PCA
from sklearn.metrics import f1_score, roc_auc_score

from studies.faces.damage import occlude
from trueaxis import DSWL
from trueaxis.datasets import planted

# Small tables of the data home: of ADBench, and every eighth of macrOData.
ADBENCH = ("glass", "lymphography", "stamps", "vertebral", "wdbc", "wine")
EVERY = 8


def angle(components, truth):
    return float(np.degrees(subspace_angles(components.T, truth.T)[0]))


def clouds(kind, seed, many, **changes):
    return [planted(kind, random_state=many * seed + i, **changes) for i in range(many)]


def angles(drawn):
    return [angle(DSWL(3).fit(c.X).components_, c.components) for c in drawn]


def clean(seed):
    """Compare squared errors of the subspace with those of PCA on clean rows."""
    drawn = clouds("none", seed, 12)
    ours = np.square(angles(drawn))
    plain = np.square([angle(PCA(3).fit(c.X).components_, c.components) for c in drawn])
    return {"efficiency on clean rows": plain.sum() / ours.sum()}


def clusters(seed):
    worst = max(angles(clouds("both", seed, 8, share=0.45)))
    return {"near cluster of 45 %: worst angle": worst}


def heavy(seed):
    return {
        "t with 2 df: median angle": np.median(angles(clouds("none", seed, 9, df=2)))
    }


def scattered(seed):
    """Let 55 % of the rows point anywhere, five times as long as the others."""
    out = []
    for c in clouds("none", seed, 3):
        rng = np.random.default_rng([seed, 1])
        X = c.X - c.mean
        away = rng.standard_normal((275, 20))
        away /= np.linalg.norm(away, axis=1, keepdims=True)
        X[:275] = away * 5 * np.median(np.linalg.norm(X, axis=1))
        out.append(angle(DSWL(3).fit(X).components_, c.components))
    return {"55 % scattered rows: median angle": np.median(out)}


def p_values(seed):
    """Fit half of the rows, and judge the others, which are all regular."""
    p = []
    for c in clouds("none", seed, 6, n=1000):
        p.append(DSWL(3).fit(c.X[::2]).p_values(c.X[1::2]))
    p = np.concatenate(p)
    return {
        "p-values: distance from uniform": kstest(p, "uniform").statistic,
        "p-values: below .01, %": 100 * (p < 0.01).mean(),
    }


def steadiness(seed):
    """Count flags in 12 draws of 95 % of wine's rows."""
    X = load_wine().data
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    rng = np.random.default_rng(seed)
    draws = [rng.permutation(len(X))[: round(0.95 * len(X))] for _ in range(12)]
    flags = [(~DSWL(3).fit(X[rows]).support_).sum() for rows in draws]
    return {"wine, draws of 95 %: spread of flags": int(np.ptp(flags))}


def small(seed):
    """Find 4 rows of 24, as in a textbook."""
    drawn = clouds("scatter", seed, 20, n=24, n_features=6, n_components=2, share=1 / 6)
    f1 = [f1_score(c.is_outlier, ~DSWL(2).fit(c.X).support_) for c in drawn]
    return {"24 rows, 4 of them bad: F1": np.mean(f1)}


def holes(seed):
    c = planted("ocs", share=0.2, random_state=seed)
    hole = np.random.default_rng([seed, 1]).random(c.X.shape) < 0.2
    model = DSWL(3).fit(np.where(hole, np.nan, c.X))
    filled = model.repair(np.where(hole, np.nan, c.X), wrong=False) - c.X
    hole &= ~c.is_outlier[:, None]
    return {
        "20 % missing: angle": angle(model.components_, c.components),
        "20 % missing: error of filled cells": np.sqrt(np.mean(filled[hole] ** 2)),
    }


def spoiled(X, share, rng):
    """Move cells by six standard deviations of their columns, all to one side."""
    wrong = rng.random(X.shape) < share
    return X + 6 * X.std(axis=0) * wrong, wrong


def wrong_cells(seed):
    c = planted("none", random_state=seed)
    X, wrong = spoiled(c.X, 0.1, np.random.default_rng([seed, 1]))
    model = DSWL(3, cells=True).fit(X)
    return {
        "10 % wrong cells: angle": angle(model.components_, c.components),
        "10 % wrong cells: of these found": found_cells(model, X, wrong),
    }


def found_cells(model, X, wrong):
    cells = model.wrong_cells(X)
    flagged = np.zeros(X.shape, bool)
    columns = cells["column"].str.removeprefix("x").astype(int)
    flagged[cells["row"].to_numpy(), columns.to_numpy()] = True
    return flagged[wrong].mean()


def wide_cells(seed):
    """Spoil cells of tables with fewer rows than columns."""
    wide, mixed = [], []
    for c in clouds("none", seed, 6, n=20, n_features=300, n_components=2):
        X, _ = spoiled(c.X, 0.05, np.random.default_rng([seed, 1]))
        wide.append(angle(DSWL(2, cells=True).fit(X).components_, c.components))
    for i in range(3):
        X, axes = holes_cells_and_rows(np.random.default_rng([seed, i]))
        mixed.append(angle(DSWL(6, cells=True).fit(X).components_, axes))
    one_sided = {}
    for share, size, holes in ((0.2, 3, 0), (0.3, 6, 0), (0.2, 3, 0.2)):
        found = []
        for i in range(3):
            X, axes = one_sided_cells(np.random.default_rng([seed, i]), share, size)
            X[np.random.default_rng([seed, i, 1]).random(X.shape) < holes] = np.nan
            found.append(angle(DSWL(6, cells=True).fit(X).components_, axes))
        name = f"100 x 200, {share:.0%} cells at {size} sds, {holes:.0%} missing"
        one_sided[f"{name}: median angle"] = np.median(found)
    return one_sided | {
        "20 x 300, 5 % wrong cells: mean angle": np.mean(wide),
        "100 x 200, holes, wrong cells, bad rows: mean angle": np.mean(mixed),
    }


def macropca_law(rng, n=100, D=200, k=6):
    """Draw rows of MacroPCA's simulation; return the axes and deviations along them."""
    lags = np.abs(np.subtract.outer(np.arange(D), np.arange(D)))
    axes = np.linalg.eigh((-0.9) ** lags)[1].T[::-1]
    sd = np.sqrt(np.r_[30, 25, 20, 15, 10, 5, np.linspace(0.098, 0.0015, D - k)])
    return (rng.standard_normal((n, D)) * sd) @ axes, axes, sd


def one_sided_cells(rng, share, size):
    """Put cells so many standard deviations of their column above its mean."""
    X, axes, sd = macropca_law(rng)
    return np.where(
        rng.random(X.shape) < share, size * np.sqrt(sd**2 @ axes**2), X
    ), axes[:6]


def holes_cells_and_rows(rng, k=6):
    """Draw tables with 10 % wrong cells, 20 % missing, and 20 % bad rows."""
    X, axes, sd = macropca_law(rng, k=k)
    n, D = X.shape
    X, _ = spoiled(X, 0.1, rng)
    bad = rng.permutation(n) < n // 5
    noise = rng.standard_normal((bad.sum(), D - k)) * sd[k:]
    X[bad] = 20 * axes[k] + noise @ axes[k:]
    X[rng.random(X.shape) < 0.2] = np.nan
    return X, axes[:k]


def speed(seed):
    """Compare CPU times of fits with those of scikit-learn's PCA, best of several."""
    ratios = {}
    for n, D, k, times in ((500, 20, 3, 7), (20_000, 50, 5, 3)):
        X = planted("ocs", n=n, n_features=D, n_components=k, random_state=seed).X
        plain = PCA(k, svd_solver="covariance_eigh")
        ours, theirs = seconds(DSWL(k), X, times), seconds(plain, X, 3 * times)
        ratios[f"CPU time over PCA's, {n:,} x {D}"] = ours / theirs
    return ratios


def seconds(model, X, times):
    best = np.inf
    for _ in range(times):
        start = time.process_time()
        model.fit(X)
        best = min(best, time.process_time() - start)
    return best


def faces(seed, home):
    """Reconstruct new faces of UMIST after fits with a fifth of the images spoiled."""
    with np.load(home / "faces" / "umist.npz") as file:
        images = file["images"].astype(float)
    ratios, found = [], []
    for i in range(6):
        rng = np.random.default_rng(6 * seed + i)
        images = images[rng.permutation(len(images))]
        train, bad = occlude(images[57:], share=0.2, random_state=rng)
        train, test = (part.reshape(len(part), -1) for part in (train, images[:57]))
        model = DSWL(100).fit(train)
        oracle = PCA(100, svd_solver="full").fit(train[~bad])
        ratios.append(rest(model, test) / rest(oracle, test))
        found.append((~model.support_)[bad].mean())
    return {
        "UMIST: error over that of PCA on good images": np.mean(ratios),
        "UMIST: bad images found": np.mean(found),
    }


def rest(model, X):
    return np.linalg.norm(
        X - model.inverse_transform(model.transform(X)), axis=1
    ).mean()


def judged(tables, seed):
    """Return mean AUC, F1, share found and false alarms."""
    out = []
    for X, k, bad in tables:
        model = DSWL(k, random_state=seed).fit(X)
        flagged = ~model.support_
        auc = roc_auc_score(bad, -model.score_samples(X))
        f1 = f1_score(bad, flagged, zero_division=0)
        out.append([auc, f1, flagged[bad].mean(), flagged[~bad].mean()])
    return np.mean(out, axis=0)


def textbook(seed, home):
    tables = []
    for path in sorted((home / "outliers" / "textbook").glob("*.csv")):
        values = np.loadtxt(path, delimiter=",", skiprows=1)
        X, bad = values[:, :-1], values[:, -1] > 0
        tables += [(X, k, bad) for k in range(1, 1 + min(3, X.shape[1]))]
    auc, f1, _, false = judged(tables, seed)
    return {
        "textbook tables: AUC": auc,
        "textbook tables: F1": f1,
        "textbook tables: false alarms": false,
    }


def z_scored(path):
    """Return a table, the number of components for 80 % of its variance, and labels."""
    with np.load(path) as file:
        X, bad = file["X"].astype(float), file["y"].ravel() > 0
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    variance = np.cumsum(np.linalg.svd(X, compute_uv=False) ** 2)
    k = int(np.searchsorted(variance, 0.8 * variance[-1] * (1 - 1e-12))) + 1
    return X, k, bad


def real(seed, home):
    folder = home / "outliers"
    sets = {
        "six real tables": [folder / f"{name}.npz" for name in ADBENCH],
        "ten of macrOData": sorted((folder / "macro").glob("*.npz"))[::EVERY],
    }
    out = {}
    for name, paths in sets.items():
        auc, _, found, false = judged([z_scored(path) for path in paths], seed)
        out |= {f"{name}: AUC": auc, f"{name}: found": found}
        out |= {f"{name}: false alarms": false}
    return out


ALONE = (clean, clusters, heavy, scattered, p_values, steadiness, small, holes,
         wrong_cells, wide_cells, speed)  # fmt: skip
WITH_DATA = (faces, textbook, real)


def data_home(value):
    """Return the folder if it holds what the figures read, and None otherwise."""
    if value and all((Path(value) / part).is_dir() for part in ("faces", "outliers")):
        return Path(value)
    return None
