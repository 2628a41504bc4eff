"""Compare DSWL with plain PCA, the oracle, and ROBPCA from the R package rrcov.

All get the same tables and the true number of components, and otherwise use their
defaults. The oracle is plain PCA on the clean rows only. Angles are to the true
subspace in degrees, medians over seeds. ROBPCA takes part where R with rrcov is
installed.

    python benchmarks/peers.py [--seeds 10]
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from sklearn.decomposition import PCA

from accuracy import TALL, angle
from robpca import Job, available, robpca
from sheet import Sheet
from trueaxis import DSWL
from trueaxis.datasets import planted

CASES = (("none", 0.0), ("pcs", 0.4), ("ocs", 0.25), ("ocs", 0.4), ("both", 0.1),
         ("both", 0.25), ("both", 0.4), ("scatter", 0.4), ("amp", 0.25))  # fmt: skip

# As the kinds of `planted` are called in the table.
NAMES = {
    "none": "none",
    "pcs": "far cluster within the subspace",
    "ocs": "far cluster off the subspace",
    "both": "tight cluster nearby",
    "scatter": "wide cloud",
    "amp": "half of the columns times 5 to 20",
}

ALPHAS = (0.5, None)  # the most robust setting, and the default


def plain(X: np.ndarray, k: int, rows: np.ndarray):
    """Return the components of PCA on some rows, these rows, and the CPU time."""
    start = time.process_time()
    model = PCA(k, svd_solver="full").fit(X[rows])
    return model.components_, rows, time.process_time() - start


def dswl(X: np.ndarray, k: int):
    """Return the components, regular rows and CPU time of DSWL."""
    start = time.process_time()
    model = DSWL(k).fit(X)
    return model.components_, model.support_, time.process_time() - start


def line(kind: str, share: float, seeds: int) -> list[str]:
    """Return a row of the table: medians of all methods, and how often one is wrong."""
    k = TALL["n_components"]
    clouds = [planted(kind, share=share, random_state=i, **TALL) for i in range(seeds)]
    found = [
        [plain(X, k, np.ones(len(X), dtype=bool)), plain(X, k, ~bad), dswl(X, k)]
        for X, bad in ((cloud.X, cloud.is_outlier) for cloud in clouds)
    ]
    if available():
        for alpha in ALPHAS:
            fits = robpca([Job(cloud.X, k, alpha) for cloud in clouds])
            for row, fit in zip(found, fits, strict=True):
                row.append((fit.components, ~fit.flagged, fit.seconds))
    figures = np.array(
        [
            [
                (angle(P, cloud.components), (~kept[~cloud.is_outlier]).mean(), seconds)
                for P, kept, seconds in row
            ]
            for cloud, row in zip(clouds, found, strict=True)
        ]
    )
    angles, flagged, seconds = np.median(figures, axis=0).T
    wrong = (figures[:, :, 0] > 10).sum(axis=0)
    cells = [f"{a:.1f}" for a in angles[:2]] + [
        f"{a:.1f}, {f:.0%}" + (f" ({w} wrong)" if w else "")
        for a, f, w in zip(angles[2:], flagged[2:], wrong[2:], strict=True)
    ]
    name = NAMES[kind] if kind == "none" else f"{share:.0%}: {NAMES[kind]}"
    ratio = f"{seconds[3] / seconds[2]:.1f}" if available() else "-"
    return [name, *cells, *["-"] * (5 - len(cells)), ratio]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=10)
    args = parser.parse_args()
    table = Sheet(
        f"500 x 20, k=3, {args.seeds} seeds: angle, clean rows flagged",
        "bad rows",
        "plain PCA",
        "oracle",
        "DSWL",
        "ROBPCA, alpha = 0.5",
        "ROBPCA, default",
        "CPU, ROBPCA / DSWL",
    )
    for kind, share in CASES:
        table.add(*line(kind, share, args.seeds))
    table.show()


if __name__ == "__main__":
    main()
