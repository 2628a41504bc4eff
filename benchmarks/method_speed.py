"""Compare the CPU time of every method of `METHODS` with its best known peer.

Both get the same table and number of components, with one thread. Where no package
offers a method, the peer is a reference: the published algorithm in plain NumPy
(`method_references`). A peer that stops short of the optimum is not comparable, so the
objectives that both reach are given. Ours is the whole fit, with checks of the input
and verdicts on all rows; "search" is the part of it that the references do. The peers
in R need its packages rrcov and quantreg.

    python benchmarks/method_speed.py [--repeat 5]
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import tempfile
import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.decomposition import PCA
from threadpoolctl import threadpool_limits

import method_references as ref
from accuracy import angle
from sheet import CONSOLE, Sheet
from speed import data
from trueaxis.core import recipes as engine
from trueaxis.methods import METHODS
from trueaxis.methods.l1 import closest, fit_deviations

N, D, K = 1000, 100, 5
WIDE = 200, 2000, 5
LIMIT = 3.0
TOO_LONG = 2.0  # seconds: measured once


class Peer(NamedTuple):
    """What a method is compared with.

    Attributes
    ----------
    name : str
    fit : callable
        X -> center and components, or (for R) these and the CPU time.
    objective : callable or None
        X, center, components -> value, negative where it is minimized; None to compare
        angles to the true subspace instead.
    """

    name: str
    fit: Callable[..., Any]
    objective: Callable[..., float] | None = None


# ------------------------------------------------------------------ peers in R

SCRIPTS = {
    "rrcov PcaHubert": """
suppressMessages(library(rrcov))
fit <- function() {
  found <- PcaHubert(X, k = k, kmax = k, mcd = FALSE)
  list(getCenter(found), t(getLoadings(found)))
}
""",
    "quantreg": """
suppressMessages(library(quantreg))
least <- function(A, B) {
  apply(B, 2, function(b) suppressWarnings(rq.fit.br(A, b)$coefficients))
}
fit <- function() {
  center <- apply(X, 2, median)
  Y <- sweep(X, 2, center)
  U <- svd(Y / sqrt(rowSums(Y^2)), nu = 0, nv = k)$v
  for (i in 1:50) {
    V <- t(least(U, t(Y)))
    before <- U
    U <- qr.Q(qr(t(least(V, Y))))
    if (sqrt(sum((U - before %*% crossprod(before, U))^2) / k) <= 1e-4) break
  }
  list(center, t(U))
}
""",
}
RUN = """
args <- commandArgs(TRUE)
X <- as.matrix(read.csv(args[1], header = FALSE)); dimnames(X) <- NULL
k <- as.integer(args[2])
times <- numeric(0)
for (i in 1:as.integer(args[4])) {
  start <- proc.time()
  found <- fit()
  times <- c(times, sum((proc.time() - start)[1:2]))
  if (min(times) > 2) break
}
cat(min(times), "\\n")
write.table(rbind(found[[1]], found[[2]]), args[3], row.names = FALSE,
            col.names = FALSE)
"""


def in_r(name: str, X: np.ndarray, repeat: int):
    """Return center, components and least CPU time of an R function."""
    with tempfile.TemporaryDirectory() as folder:
        table, out, script = (Path(folder) / n for n in ("X.csv", "out", "run.R"))
        np.savetxt(table, X, delimiter=",")
        script.write_text(SCRIPTS[name] + RUN)
        command = ["Rscript", script, table, str(K), out, str(repeat)]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        found = np.loadtxt(out)
    return found[0], found[1:], float(done.stdout.split()[-1])


def has_r(package: str) -> bool:
    if shutil.which("Rscript") is None:
        return False
    ask = ["Rscript", "-e", f"cat(requireNamespace('{package}', quietly = TRUE))"]
    return "TRUE" in subprocess.run(ask, capture_output=True, text=True).stdout


# ------------------------------------------------------------- objectives and peers


def of_distances(loss):
    return lambda X, m, P: float(np.sum(loss(*ref.distances(X, m, P))))


def of_scores(p: float):
    return lambda X, m, P: float((np.abs((X - m) @ P.T) ** p).sum())


def of_pairs(X, m, P):
    C = 1 / (ref.cdist(X, X) + np.diag(np.full(len(X), np.inf)))
    Y = X @ P.T
    return float((C.sum(axis=1)[:, None] * Y**2).sum() - (Y * (C @ Y)).sum())


def least_cells(X, m, P):
    """Return the sum of absolute residuals, with the best scores."""
    Y = X - m
    near = closest(Y - Y @ P.T @ P, len(P))
    scores = fit_deviations(P.T, Y.T, near)[0].T
    return -float(np.abs(Y - scores @ P).sum())


def peers(X: np.ndarray, fitted: dict) -> dict[str, Peer]:
    """Return the peer of every method, with constants set at plain PCA as in ours."""
    m, P = ref.plain(X, K)
    v, e = ref.distances(X, m, P)
    c, n = float(np.median(np.sqrt(e))), len(X)
    g = float(np.median(e))
    half, most = int(np.ceil(0.5 * n)), int(np.ceil(0.75 * n))

    def huber(v, e):
        r = np.sqrt(e)
        return -np.where(r <= c, r**2, 2 * c * r - c**2)

    def angles(v, e):
        return np.sqrt(v / (e + g))

    def adaptive(v, e):
        return -(1 + c) * e / (np.sqrt(e) + c)

    def trimmed(q, p):
        return lambda v, e: -(np.sort(e)[:q] ** (p / 2))

    def near_ones(v, e):
        w = ref.neighbours(e, most)
        gamma = 0.5 * np.maximum(np.sort(e)[most] - e, 0.0).sum()
        return -(w * e + gamma * w**2)

    def loop(weigh, loss, **how):
        fit = partial(ref.reweighted, k=K, weigh=weigh, **how)
        return Peer("reference", fit, of_distances(loss))

    found = {
        "pca": Peer("scikit-learn", plain, of_distances(lambda v, e: -e)),
        "pca-l1": Peer("reference", partial(ref.pca_l1, k=K), of_scores(1)),
        "pca-l1-nongreedy": Peer(
            "reference", partial(ref.pca_l1_nongreedy, k=K), of_scores(1)
        ),
        "pca-lp": Peer("reference", partial(ref.pca_lp, k=K), of_scores(0.5)),
        "r1-pca": loop(lambda v, e: np.minimum(1, c / np.sqrt(e)), huber, power=True),
        "l2p-pca": loop(lambda v, e: 1 / np.sqrt(e), lambda v, e: -np.sqrt(e)),
        "rpca-om": loop(
            lambda v, e: 1 / np.sqrt(e), lambda v, e: -np.sqrt(e), center="weighted"
        ),
        "rpca-di": loop(
            lambda v, e: np.exp((v - e) / (v + e)) / (v + e),
            lambda v, e: np.exp((v - e) / (v + e)),
        ),
        "angle-pca": loop(
            lambda v, e: (v + e + g) / (np.sqrt(v) * (e + g) ** 1.5), angles, power=True
        ),
        "l21-max": loop(
            lambda v, e: 1 / np.sqrt(v), lambda v, e: np.sqrt(v), power=True
        ),
        "weighted-pca": Peer("reference", partial(ref.weighted_pca, k=K), of_pairs),
        "rwl-an": loop(
            lambda v, e: ref.neighbours(e, most), near_ones, center="weighted"
        ),
        "t-rpca": loop(
            lambda v, e: ref.nearest(e, half) / np.sqrt(e),
            trimmed(half, 1),
            center="weighted",
        ),
        "drpca": Peer(
            "reference",
            partial(
                ref.many_starts,
                k=K,
                weigh=lambda v, e: ref.nearest(e, most),
                loss=lambda v, e: np.sort(e)[:most].sum(),
                n_init=10,
            ),
            of_distances(trimmed(most, 2)),
        ),
        "rpca-rp": loop(
            lambda v, e: ref.nearest(e / (v + e), most) / (v + e),
            lambda v, e: -np.sort(e / (v + e))[:most],
            center="selected",
        ),
        "rspca": loop(
            lambda v, e: (np.sqrt(e) + 2 * c) / (np.sqrt(e) + c) ** 2,
            adaptive,
            center="weighted",
        ),
        "two-way": Peer("reference", partial(ref.two_way, k=K)),
        **pursuits(X, fitted),
    }
    for method, name, package, objective in (
        ("dswl", "rrcov PcaHubert", "rrcov", None),
        ("l1-pca", "quantreg", "quantreg", least_cells),
    ):
        if has_r(package):
            found[method] = Peer(f"R: {name}", partial(in_r, name), objective)
    return {method: found[method] for method in METHODS if method in found}


def plain(X):
    model = PCA(K, svd_solver="covariance_eigh").fit(X)
    return model.mean_, model.components_


def pursuits(X: np.ndarray, fitted: dict) -> dict[str, Peer]:
    lam = 1 / np.sqrt(max(X.shape))

    def exact(X, split):
        L = split if isinstance(split, np.ndarray) else split.low_rank_
        S = X - L
        return -np.linalg.norm(L, "nuc") - lam * np.abs(S).sum()

    def stable(model, X, split):
        mu, gam = model.sigma_ * np.sqrt(2 * max(X.shape)), getattr(model, "gam_", 0.0)
        if not isinstance(split, tuple):
            split = split.low_rank_, split.sparse_, getattr(split, "outlying_", 0 * X)
        L, S, rows = split
        value = np.linalg.norm(L, "nuc") + lam * np.abs(S).sum()
        value += gam * np.linalg.norm(rows, axis=1).sum()
        return -value - ((X - L - S - rows) ** 2).sum() / (2 * mu)

    found = {}
    for name in ("spcp", "rrpcp"):
        model = fitted[name]
        found[name] = Peer(
            "reference, sigma given",
            partial(
                ref.stable_pursuit,
                k=K,
                sigma=model.sigma_,
                gam=getattr(model, "gam_", np.inf),
            ),
            partial(stable, model),
        )
    try:
        from skpcp.pcp import pcp
    except ImportError:
        return found
    # By default it ends after 100 rounds, before the optimum.
    return found | {"pcp": Peer("skpcp", lambda X: pcp(X, max_iter=5000)[0], exact)}


# ---------------------------------------------------------------------- measurement


class Clock:
    """Least CPU times; what takes long is measured only once."""

    def __init__(self) -> None:
        self.best: dict[Any, float] = {}

    def time(self, key: Any, function: Callable[[], Any]) -> Any:
        """Call a function, and return its value; None if it was too long before."""
        if self.best.get(key, 0.0) > TOO_LONG:
            return None
        start = time.process_time()
        value = function()
        self.note(key, time.process_time() - start)
        return value

    def note(self, key: Any, seconds: float) -> None:
        """Note a time, if it is the least so far."""
        self.best[key] = min(seconds, self.best.get(key, np.inf))


def fit_all(X: np.ndarray, clock: Clock, k: int) -> dict:
    """Fit every method once, noting the CPU time of the fits and of their searches."""
    solver = "covariance_eigh" if len(X) >= X.shape[1] else "full"
    clock.time("sklearn", lambda: PCA(k, svd_solver=solver).fit(X))
    fitted = {}
    for name, method in METHODS.items():
        attempt = engine._attempt

        def noted(recipe, problem, k, name=name):
            start = time.process_time()
            found = recipe.search(problem, k)
            clock.note((name, "search"), time.process_time() - start)
            return replace(found, verdicts=recipe.judge(problem, found))

        engine._attempt = noted
        fitted[name] = clock.time(name, lambda m=method: m(k).fit(X))
        engine._attempt = attempt
    return fitted


def compare(X: np.ndarray, truth: np.ndarray, repeat: int) -> None:
    clock = Clock()
    fitted = fit_all(X, clock, K)
    others = peers(X, fitted)
    ends: dict[str, Any] = {}
    for method, peer in others.items():
        if peer.name.startswith("R: "):
            *ends[method], seconds = peer.fit(X, repeat)
            clock.note((method, "peer"), seconds)
    for i in range(repeat):
        for method, peer in others.items():
            if not peer.name.startswith("R: "):
                end = clock.time((method, "peer"), lambda p=peer: p.fit(X))
                ends[method] = ends[method] if end is None else end
        if i:
            fit_all(X, clock, K)
    sheet = Sheet(
        f"{N} x {D}, k={K}: CPU of a fit, one thread, least of {repeat}",
        "method",
        "peer",
        "ours, ms",
        "of it search",
        "peer, ms",
        "ratio",
        "ratio of searches",
        "objective ours",
        "peer's",
        f"limit {LIMIT:g}",
        "/ sklearn PCA",
    )
    for method in METHODS:
        own, base = clock.best[method], clock.best["sklearn"]
        search = clock.best[method, "search"]
        if method not in others:
            blank = ["-"] * 6
            cells = ["not installed", f"{1e3 * own:.0f}", f"{1e3 * search:.0f}", *blank]
            sheet.add(method, *cells, f"{own / base:.1f}")
            continue
        peer, other = others[method], clock.best[method, "peer"]
        ratio = own / other
        values = reached(X, truth, peer, fitted[method], ends[method])
        sheet.add(
            method,
            peer.name,
            f"{1e3 * own:.0f}",
            f"{1e3 * search:.0f}",
            f"{1e3 * other:.0f}",
            f"{ratio:.2f}",
            f"{search / other:.2f}",
            *values,
            "ok" if ratio <= LIMIT else "beyond",
            f"{own / base:.1f}",
        )
    sheet.show()


def reached(X, truth, peer: Peer, model, end) -> list[str]:
    """Return the objectives of our fit and of the peer, or angles if there are none."""
    if peer.objective is None:
        both = (angle(P, truth) for P in (model.components_, end[1]))
        return [f"{a:.2f} deg" for a in both]
    if hasattr(model, "low_rank_"):
        return [f"{peer.objective(X, found):.10g}" for found in (model, end)]
    pairs = ((model.mean_, model.components_), end)
    return [f"{peer.objective(X, *found):.10g}" for found in pairs]


def wide(repeat: int) -> None:
    clock, (n, D, k) = Clock(), WIDE
    X = data(n, D, k)
    for _ in range(repeat):
        fit_all(X, clock, k)
    base = clock.best["sklearn"]
    sheet = Sheet(f"{n} x {D}, k={k}: CPU", "method", "ours, ms", "/ sklearn PCA")
    for method in METHODS:
        own = clock.best[method]
        sheet.add(method, f"{1e3 * own:.0f}", f"{own / base:.1f}")
    sheet.show()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=5)
    args = parser.parse_args()
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        X = data(N, D, K)
        truth = np.linalg.qr(np.random.default_rng(0).standard_normal((D, K)))[0].T
        compare(X, truth, args.repeat)
        wide(min(args.repeat, 3))
    CONSOLE.print("Objectives are negative where they are minimized: larger is better.")


if __name__ == "__main__":
    main()
