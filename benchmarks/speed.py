"""Measure the CPU time of a fit relative to scikit-learn's PCA, with one thread.

Run with: python benchmarks/speed.py [--repeat 5]
"""

from __future__ import annotations

import argparse
import time
import tracemalloc

import numpy as np
from sklearn.decomposition import PCA
from threadpoolctl import threadpool_limits

from sheet import CONSOLE, Sheet
from trueaxis import DSWL

# rows, columns, components, limit of the ratio
CASES = (
    (1_000_000, 20, 3, 6.0),
    (1_000_000, 50, 3, 4.5),
    (200_000, 200, 5, 4.5),
    (400, 1024, 100, 10.0),
)


def data(n: int, D: int, k: int, share: float = 0.2) -> np.ndarray:
    """Return low-rank rows with noise, a share of them outliers off the subspace."""
    rng = np.random.default_rng(0)
    axes = np.linalg.qr(rng.standard_normal((D, k)))[0].T
    X = (rng.standard_normal((n, k)) * np.linspace(3, 1.5, k)) @ axes
    X += 0.3 * rng.standard_normal((n, D))
    bad = int(share * n)
    X[:bad] += 20 * np.linalg.qr(rng.standard_normal((D, 1)))[0].T
    return X


def cpu_times(functions, repeat: int) -> list[float]:
    """Return the least CPU time of each, interleaved so that load affects all alike."""
    best = [np.inf] * len(functions)
    for _ in range(repeat):
        for i, function in enumerate(functions):
            start = time.process_time()
            function()
            best[i] = min(best[i], time.process_time() - start)
    return best


def ratios(repeat: int) -> None:
    table = Sheet(
        "CPU time of a fit relative to scikit-learn's PCA",
        "n x D, k",
        "PCA, s",
        "DSWL, s",
        "ratio",
        "limit",
        "verdict",
    )
    for n, D, k, limit in CASES:
        X = data(n, D, k)
        solver = "covariance_eigh" if n >= D else "full"
        plain, robust = cpu_times(
            [
                lambda X=X, k=k, s=solver: PCA(k, svd_solver=s).fit(X),
                lambda X=X, k=k: DSWL(k).fit(X),
            ],
            repeat,
        )
        ratio = robust / plain
        table.add(
            f"{n:,} x {D}, k={k}",
            f"{plain:.3f}",
            f"{robust:.3f}",
            f"{ratio:.2f}",
            f"{limit:g}",
            "ok" if ratio <= limit else "beyond",
        )
    table.show()


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
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=5)
    args = parser.parse_args()
    with threadpool_limits(1):
        ratios(args.repeat)
        growth(max(1, args.repeat // 2))
        memory()


if __name__ == "__main__":
    main()
