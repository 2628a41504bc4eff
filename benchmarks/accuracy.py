"""Measure the accuracy of DSWL, next to plain PCA and the oracle.

The oracle is plain PCA on the clean rows only. Angles are the largest principal angle
to the true subspace in degrees. There are four parts: planted outliers, groups among
many factors, tables without planted outliers, and faces with occluded images (these
need the face datasets, see --data-home).

    python benchmarks/accuracy.py [--seeds 20] [--part planted] [--data-home DIR]
"""

from __future__ import annotations

import argparse
import os
import warnings
from pathlib import Path

import numpy as np
from scipy.linalg import subspace_angles
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.decomposition import PCA

from awkward import TABLES, shifted
from sheet import CONSOLE, Sheet
from trueaxis import DSWL
from trueaxis.datasets import planted

TALL = {"n": 500, "n_features": 20, "n_components": 3}
WIDE = {"n": 100, "n_features": 200, "n_components": 5}
OUTLIERS = ("pcs", "ocs", "both", "scatter", "amp")


def planted_cases():
    yield "500 x 20, k=3", TALL, "none", 0.0
    for share in (0.1, 0.25, 0.3, 0.4, 0.45):
        for kind in OUTLIERS:
            yield "500 x 20, k=3", TALL, kind, share
    for share in (0.3, 0.4, 0.45):
        yield "  wider cluster, sd 0.3", TALL | {"cluster_sd": 0.3}, "both", share
    yield "100 x 200, k=5", WIDE, "none", 0.0
    for share in (0.1, 0.25, 0.4):
        for kind in OUTLIERS:
            yield "100 x 200, k=5", WIDE, kind, share
    for df in (3, 5):
        yield f"500 x 20, t with {df} df", TALL | {"df": df}, "none", 0.0
        for kind in ("ocs", "both", "amp"):
            yield f"500 x 20, t with {df} df", TALL | {"df": df}, kind, 0.2


def angle(components, truth) -> float:
    return float(np.degrees(subspace_angles(components.T, truth.T)[0]))


def judge_planted(shape, kind, share, seeds):
    """Return one row per seed: three angles, three errors of the mean, two shares.

    The angles and errors are those of DSWL, PCA and the oracle; the shares, in percent,
    are those of clean rows flagged and of bad rows kept.
    """
    out = []
    for seed in range(seeds):
        cloud = planted(kind, share=share, random_state=seed, **shape)
        clean = ~cloud.is_outlier
        k = shape["n_components"]
        models = [
            DSWL(k).fit(cloud.X),
            PCA(k).fit(cloud.X),
            PCA(k).fit(cloud.X[clean]),
        ]
        support = models[0].support_
        out.append(
            [angle(model.components_, cloud.components) for model in models]
            + [np.linalg.norm(model.mean_ - cloud.mean) for model in models]
            + [100 * (~support[clean]).mean(), 100 * support[~clean].sum() / len(clean)]
        )
    return np.array(out)


def planted_part(seeds: int) -> None:
    table = Sheet(
        f"Planted outliers, {seeds} seeds: median (worst)",
        "data",
        "outliers",
        "angle DSWL",
        "PCA",
        "oracle",
        "ratio to oracle (worst)",
        "mean DSWL",
        "PCA",
        "oracle",
        "clean flagged %",
        "bad rows kept, % of n",
        "verdict",
    )
    for name, shape, kind, share in planted_cases():
        r = judge_planted(shape, kind, share, seeds)
        mid, worst = np.median(r, axis=0), r.max(axis=0)
        ratio = r[:, 0] / r[:, 2]
        limit = 1.05 if kind == "none" else 1.15
        failed = int((ratio > 2).sum())
        good = np.median(ratio) <= limit and mid[6] <= 5
        verdict = "ok" if good else "beyond"
        if failed:
            verdict = f"{failed} of {seeds} fail"
        elif mid[7] > 1:
            verdict += ", but misses bad rows"
        table.add(
            name,
            f"{share:.0%} {kind}",
            f"{mid[0]:.2f} ({worst[0]:.2f})",
            f"{mid[1]:.1f}",
            f"{mid[2]:.2f} ({worst[2]:.2f})",
            f"{np.median(ratio):.3f} ({ratio.max():.2f})",
            f"{mid[3]:.2f} ({worst[3]:.2f})",
            f"{mid[4]:.2f}",
            f"{mid[5]:.2f} ({worst[5]:.2f})",
            f"{mid[6]:.1f} ({worst[6]:.1f})",
            f"{mid[7]:.1f} ({worst[7]:.1f})",
            verdict,
        )
    table.show()


def groups_part(seeds: int) -> None:
    """Shift a group of rows that is as wide as the others, among 40 similar factors."""
    table = Sheet(
        f"A group shifted by the length of a row, 40 factors, {seeds} seeds",
        "n x D, k",
        "bad rows",
        "of these flagged %, mean (worst)",
        "clean flagged %, mean (worst)",
        "PCA's first axis to the shift, degrees",
    )
    for n, D, k in ((200, 500, 40), (200, 500, 10), (300, 90, 9), (1000, 90, 40)):
        for share in (0.0, 0.1, 0.2, 0.35):
            found, wrong, bent = [], [], []
            for seed in range(seeds):
                X, bad = shifted(n, D, 40, seed, share)
                flagged = ~DSWL(k).fit(X).support_
                wrong.append(100 * flagged[~bad].mean())
                if share:
                    found.append(100 * flagged[bad].mean())
                    shift = X[bad].mean(axis=0) - X[~bad].mean(axis=0)
                    bent.append(angle(PCA(1).fit(X).components_, shift[None]))
            table.add(
                f"{n} x {D}, k={k}",
                f"{share:.0%}",
                f"{np.mean(found):.1f} ({np.min(found):.1f})" if share else "",
                f"{np.mean(wrong):.1f} ({np.max(wrong):.1f})",
                f"{np.mean(bent):.0f}" if share else "",
            )
    table.show()


def tables_part(seeds: int) -> None:
    table = Sheet(
        f"Nothing planted, {seeds} seeds: flagged %, median (worst)",
        "table",
        "shape",
        "k=1",
        "k=2",
        "k=3",
        "auto",
        "verdict",
    )
    for name, make in TABLES.items():
        cells, worst = [], 0.0
        for k in (1, 2, 3, "auto"):
            share = []
            for seed in range(seeds):
                X = make(np.random.default_rng(seed))
                model = DSWL(min(k, X.shape[1]) if k != "auto" else k).fit(X)
                assert np.isfinite(model.components_).all()
                share.append(100 * (~model.support_).mean())
            cells.append(f"{np.median(share):.1f} ({max(share):.1f})")
            worst = max(worst, *share)
        table.add(name, str(X.shape), *cells, "ok" if worst <= 10 else "beyond 10 %")
    for name, load in (
        ("wine", load_wine), ("iris", load_iris), ("breast cancer", load_breast_cancer),
    ):  # fmt: skip
        X = load().data
        X = (X - X.mean(axis=0)) / X.std(axis=0)
        share = [100 * (~DSWL(k).fit(X).support_).mean() for k in (1, 2, 3, "auto")]
        verdict = "ok" if max(share) <= 10 else "beyond 10 %"
        table.add(name, str(X.shape), *(f"{s:.1f}" for s in share), verdict)
    table.show()


FACES = (("orl", 100), ("umist", 100), ("umist", 20), ("yale", 20), ("yale", 50))


def occluded(images, share, rng):
    """Put noise blocks of a quarter of the image on a share of the images."""
    images = images.copy()
    n, height, width = images.shape
    hit = rng.permutation(n)[: round(share * n)]
    for i in hit:
        top, left = rng.integers(height // 2 + 1), rng.integers(width // 2 + 1)
        block = 255.0 * rng.integers(0, 2, size=(height // 2, width // 2))
        images[i, top : top + height // 2, left : left + width // 2] = block
    return images, hit


def judge_face(images, k, seed):
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(images))
    n_test = len(images) // 10
    test = images[order[:n_test]].reshape(n_test, -1)
    train, hit = occluded(images[order[n_test:]], 0.2, rng)
    train = train.reshape(len(train), -1)
    clean = np.delete(train, hit, axis=0)
    plain = PCA(k, svd_solver="full")
    models = (DSWL(k).fit(train), clone(plain).fit(train), clone(plain).fit(clean))
    errors = []
    for model in models:
        rest = test - model.inverse_transform(model.transform(test))
        errors.append(np.linalg.norm(rest, axis=1).mean())
    support = models[0].support_
    kept = support[hit].sum()
    flagged = 1 - np.delete(support, hit).mean()
    return errors[0] / errors[2], errors[1] / errors[2], kept, 100 * flagged


def faces_part(home: Path | None, seeds: int = 3) -> None:
    if home is None or not (home / "faces").is_dir():
        CONSOLE.print("Faces: no data. Pass --data-home DIR with DIR/faces/*.npz.")
        return
    table = Sheet(
        f"Faces: test error over the oracle's, {seeds} splits",
        "set",
        "k",
        "PCA",
        "DSWL (worst)",
        "blocks kept",
        "clean flagged %",
        "verdict",
    )
    for name, k in FACES:
        with np.load(home / "faces" / f"{name}.npz") as file:
            images = file["images"].astype(float)
        r = np.array([judge_face(images, k, seed) for seed in range(seeds)])
        mean = r.mean(axis=0)
        table.add(
            name, str(k), f"{mean[1]:.3f}", f"{mean[0]:.3f} ({r[:, 0].max():.3f})",
            f"{int(r[:, 2].sum())}", f"{mean[3]:.1f}",
            "ok" if mean[0] <= 1.02 else "beyond 1.02",
        )  # fmt: skip
    table.show()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--part", choices=("planted", "groups", "tables", "faces"))
    parser.add_argument(
        "--data-home", type=Path, default=os.environ.get("TRUEAXIS_DATA")
    )
    args = parser.parse_args()
    warnings.simplefilter("error")
    if args.part in (None, "planted"):
        planted_part(args.seeds)
    if args.part in (None, "groups"):
        groups_part(args.seeds)
    if args.part in (None, "tables"):
        tables_part(args.seeds)
    if args.part in (None, "faces"):
        faces_part(Path(args.data_home) if args.data_home else None)


if __name__ == "__main__":
    main()
