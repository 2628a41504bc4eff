"""Show which number of components "auto" chooses, in spectra and in planted clouds.

Spectra have correlated noise, planted clouds white noise. "White-noise rule" is the
threshold of Gavish and Donoho alone, with at most one component per five rows: the rule
before this one. "Above the noise" counts the true factors whose variance exceeds the
largest variance of the noise. Numbers are means over seeds.

    python benchmarks/components.py [--seeds 5] [--part spectra] [--csv FILE ...]

Files passed as --csv have a header, a first column that is ignored, and one spectrum
per row.
"""

from __future__ import annotations

import argparse
import warnings
from collections import Counter
from contextlib import contextmanager

import numpy as np

from accuracy import planted_cases
from sheet import Sheet
from trueaxis import DSWL
from trueaxis.core import problem as dimension
from trueaxis.datasets import planted, spectra

SIZES = ((40, 226), (100, 100), (200, 500), (1000, 256))
NOISE = (0.01, 0.03, 0.1, 0.3, 1.0)
# Other spectra than the default: what differs.
VARIANTS = (
    {"n_components": 2},
    {"n_components": 7},
    {"length": 0.005},
    {"length": 0.06},
    {"white": 0.0},
    {"white": 1.0},
    {"length": 0.0},
    {"share": 0.15},
    {"share": 0.3},
)


def variances(X):
    return np.linalg.svd(X - X.mean(axis=0), compute_uv=False) ** 2 / len(X)


def needed(X, share=0.98) -> int:
    """Return the number of components that explain a share of the variance."""
    explained = np.cumsum(variances(X))
    return int(np.searchsorted(explained, share * explained[-1])) + 1


def white_noise_rule(v, n, D) -> int:
    padded = np.zeros(max(1, min(D, n - 1)))
    padded[: len(v)] = v[: len(padded)]
    return max(1, min(dimension.above_white_noise(padded, n, D), n // 5))


@contextmanager
def rule(choose):
    """Let "auto" choose by another rule."""
    ours = dimension.above_noise
    dimension.above_noise = choose
    try:
        yield
    finally:
        dimension.above_noise = ours


def chosen(X) -> tuple[int, int]:
    """Return what DSWL chooses, by the white-noise rule and by ours."""
    with rule(white_noise_rule):
        before = DSWL().fit(X).n_components_
    return before, DSWL().fit(X).n_components_


def judge_spectra(shape, seeds):
    """Return one row per seed: factors, above the noise, 98 %, old and new choice."""
    out = []
    for seed in range(seeds):
        cloud = spectra(random_state=seed, **shape)
        regular = ~cloud.is_outlier
        X, clean = cloud.X[regular], cloud.clean[regular]
        above = int((variances(clean) > variances(X - clean)[0]).sum())
        found = chosen(cloud.X)
        out.append([len(cloud.components), above, needed(X), *found])
    return np.array(out)


def spectra_cases():
    for n, D in SIZES:
        for noise in NOISE:
            yield {"n": n, "n_features": D, "noise": noise}
    for variant in VARIANTS:
        yield {"n": 200, "n_features": 256, "noise": 0.05} | variant


def spectra_part(seeds: int) -> None:
    table = Sheet(
        f"Spectra, {seeds} seeds: number of components",
        "n x D",
        "noise",
        "",
        "factors",
        "above the noise",
        "98 % of the variance",
        "white-noise rule",
        "auto",
        "auto, least to most",
    )
    for shape in spectra_cases():
        r = judge_spectra(shape, seeds)
        known = ("n", "n_features", "noise")
        rest = {key: value for key, value in shape.items() if key not in known}
        table.add(
            f"{shape['n']} x {shape['n_features']}",
            shape["noise"],
            ", ".join(f"{key}={value}" for key, value in rest.items()),
            *(f"{mean:.1f}" for mean in r.mean(axis=0)),
            f"{r[:, -1].min()} to {r[:, -1].max()}",
        )
    table.show()


def planted_part(seeds: int) -> None:
    table = Sheet(
        f"Planted clouds, {seeds} seeds: how often each number was chosen",
        "data",
        "outliers",
        "factors",
        "white-noise rule",
        "auto",
    )
    right = np.zeros(2)
    n_fits = 0
    for name, shape, kind, share in planted_cases():
        k = shape["n_components"]
        clouds = (
            planted(kind, share=share, random_state=seed, **shape)
            for seed in range(seeds)
        )
        found = np.array([chosen(cloud.X) for cloud in clouds])
        right += (found == k).sum(axis=0)
        n_fits += seeds
        table.add(name, f"{share:.0%} {kind}", k, *(counted(c) for c in found.T))
    table.add("right", "", "", *(f"{count:.0f} of {n_fits}" for count in right))
    table.show()


def counted(numbers) -> str:
    counts = sorted(Counter(numbers.tolist()).items())
    return ", ".join(f"{k}: {count}" for k, count in counts)


def files_part(paths) -> None:
    table = Sheet(
        "Measured spectra: number of components",
        "file",
        "n x D",
        "98 % of the variance of regular rows",
        "white-noise rule",
        "auto",
        "share of the variance",
        "flagged",
    )
    for path in paths:
        X = np.genfromtxt(path, delimiter=",", skip_header=1)[:, 1:]
        before, _ = chosen(X)
        model = DSWL().fit(X)
        table.add(
            path,
            f"{X.shape[0]} x {X.shape[1]}",
            needed(X[model.support_]),
            before,
            model.n_components_,
            f"{model.explained_variance_ratio_.sum():.1%}",
            int((~model.support_).sum()),
        )
    table.show()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--part", choices=("spectra", "planted"))
    parser.add_argument("--csv", nargs="*", default=())
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    if args.part in (None, "spectra"):
        spectra_part(args.seeds)
    if args.part in (None, "planted"):
        planted_part(args.seeds)
    if args.csv:
        files_part(args.csv)


if __name__ == "__main__":
    main()
