"""Measure the CPU time of fits relative to scikit-learn's PCA, with one thread.

Run with: python benchmarks/speed.py [--repeat 5] [--only "500 x 20"]

Ratios are of the least CPU times of several runs, interleaved, so that load affects
both alike. PCA uses covariance_eigh, or full where there are fewer rows than columns;
"default" is what scikit-learn chooses.
"""

from __future__ import annotations

import argparse
import time
import tracemalloc
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from sklearn.decomposition import PCA
from threadpoolctl import threadpool_limits

from sheet import CONSOLE, Sheet
from trueaxis import DSWL


class Case(NamedTuple):
    """A shape, and the limit of the ratio."""

    n: int
    D: int
    k: int
    limit: float
    dtype: type = np.float64
    solver: str | None = None

    @property
    def name(self) -> str:
        """The shape, as printed."""
        notes = [f"k={self.k}"]
        if self.dtype is not np.float64:
            notes.append(np.dtype(self.dtype).name)
        if self.solver is not None:
            notes.append("default PCA")
        return f"{self.n:,} x {self.D:,}, {', '.join(notes)}"


CASES = (
    Case(500, 20, 3, 45),
    Case(2000, 50, 5, 45),
    Case(4000, 20, 3, 55),
    Case(20_000, 20, 3, 25),
    Case(3000, 300, 10, 6),
    Case(10_000, 100, 10, 12),
    Case(5000, 1000, 20, 2.5),
    Case(500, 500, 10, 2),
    Case(400, 1024, 100, 7),
    Case(10_000, 4000, 5, 5, solver="auto"),
    Case(1_000_000, 20, 3, 3),
    Case(1_000_000, 50, 3, 2),
    Case(1_000_000, 50, 3, 2.6, dtype=np.float32),
    Case(200_000, 200, 5, 1.8),
)


def data(n: int, D: int, k: int, share: float = 0.1) -> np.ndarray:
    """Return low-rank rows with noise, a share of them outliers off the subspace."""
    rng = np.random.default_rng(0)
    axes = np.linalg.qr(rng.standard_normal((D, k)))[0].T
    X = (rng.standard_normal((n, k)) * np.linspace(3, 1.5, k)) @ axes
    X += 0.3 * rng.standard_normal((n, D))
    bad = int(share * n)
    X[:bad] += 20 * np.linalg.qr(rng.standard_normal((D, 1)))[0].T
    return X


def many_factors(n: int, D: int, k: int) -> np.ndarray:
    """Return rows of k factors of decreasing size, with noise and some outliers."""
    rng = np.random.default_rng(0)
    axes = np.linalg.qr(rng.standard_normal((D, k)))[0].T
    X = (rng.standard_normal((n, k)) * np.geomspace(30, 3, k)) @ axes
    X += 0.3 * rng.standard_normal((n, D))
    bad = n // 20
    X[:bad] += 10 * rng.standard_normal((bad, D))
    return X


def cpu_times(
    functions: list[Callable[[], object]], repeat: int, seconds: float = 0.0
) -> list[float]:
    """Return the least CPU time of each, interleaved so that load affects all alike.

    Short ones are repeated more often, until so many seconds have passed.
    """
    best = [np.inf] * len(functions)
    begin, runs = time.process_time(), 0
    while runs < repeat or time.process_time() < begin + seconds:
        for i, function in enumerate(functions):
            start = time.process_time()
            function()
            best[i] = min(best[i], time.process_time() - start)
        runs += 1
    return best


def ratios(repeat: int, only: str) -> None:
    """Print the table of all shapes, and of the choice of components."""
    table = Sheet(
        "CPU time of a fit relative to scikit-learn's PCA",
        "n x D, k",
        "PCA, ms",
        "DSWL, ms",
        "ratio",
        "limit",
        "verdict",
    )
    for case in CASES:
        if only not in case.name:
            continue
        X = data(case.n, case.D, case.k).astype(case.dtype)
        solver = case.solver
        if solver is None:
            solver = "covariance_eigh" if case.n >= case.D else "full"
        plain, robust = cpu_times(
            [
                lambda X=X, k=case.k, s=solver: PCA(k, svd_solver=s).fit(X),
                lambda X=X, k=case.k: DSWL(k).fit(X),
            ],
            repeat,
            seconds=2.0,
        )
        _add(table, case.name, plain, robust, case.limit)
    table.show()


def choices(repeat: int, only: str) -> None:
    """Print what it costs to let the fit choose the number of components."""
    table = Sheet(
        "CPU time of choosing the number of components, relative to passing it",
        "table, n_components",
        "k passed, ms",
        "chosen, ms",
        "ratio",
        "limit",
        "verdict",
    )
    noise = np.random.default_rng(0).standard_normal((2000, 1000))
    tables = {
        "500 x 20": data(500, 20, 3),
        "2000 x 50": data(2000, 50, 5),
        "3000 x 300": data(3000, 300, 10),
        "2000 x 1000, noise": noise,
        "1966 x 1555, many factors": many_factors(1966, 1555, 378),
    }
    for name, X in tables.items():
        for wanted in ("auto", 0.9):
            title = f"{name}, {wanted}"
            if only not in title:
                continue
            k = DSWL(wanted).fit(X).n_components_
            times = cpu_times(
                [lambda X=X, k=k: DSWL(k).fit(X), lambda X=X, w=wanted: DSWL(w).fit(X)],
                min(repeat, 2) if X.size > 1e6 else repeat,
            )
            _add(table, f"{title} (k={k})", *times, 2.0)
    table.show()


def _add(table: Sheet, name: str, base: float, ours: float, limit: float) -> None:
    ratio = ours / base
    table.add(
        name,
        f"{1e3 * base:.2f}",
        f"{1e3 * ours:.2f}",
        f"{ratio:.2f}",
        f"{limit:g}",
        "ok" if ratio <= limit else "beyond",
    )


def growth(repeat: int) -> None:
    sizes = np.array([10_000, 31_623, 100_000, 316_228, 1_000_000])
    X = data(sizes[-1], 50, 3)
    X = X[np.random.default_rng(1).permutation(len(X))]
    times = cpu_times([lambda n=n: DSWL(3).fit(X[:n]) for n in sizes], repeat)
    slope = np.polyfit(np.log(sizes), np.log(times), 1)[0]
    line = ", ".join(f"{n:,}: {t:.3f} s" for n, t in zip(sizes, times, strict=True))
    verdict = "ok" if slope <= 1 else "beyond"
    CONSOLE.print(
        f"Growth with n (D=50): {line}\nlog-log slope {slope:.2f} ({verdict})"
    )


def memory() -> None:
    X = data(1_000_000, 50, 3)
    tracemalloc.start()
    DSWL(3).fit(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    share = peak / X.nbytes
    verdict = "ok" if share < 0.5 else "beyond"
    CONSOLE.print(
        f"Peak extra memory at 1,000,000 x 50: {peak / 2**20:.0f} MiB, {share:.2f} of "
        f"the data's size ({verdict})"
    )


def main() -> None:
    """Print all tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--only", default="", help="part of the names to measure")
    args = parser.parse_args()
    with threadpool_limits(1):
        ratios(args.repeat, args.only)
        choices(args.repeat, args.only)
        if not args.only:
            growth(max(1, args.repeat // 2))
            memory()


if __name__ == "__main__":
    main()
