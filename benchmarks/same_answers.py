"""Fit many configurations, and compare every fitted attribute.

    python benchmarks/same_answers.py save before.npz --models before/
    python benchmarks/same_answers.py compare before.npz --models before/
    python benchmarks/same_answers.py compare before.npz --within 1e-10

`save` runs with the version to compare against (put its `src` first on PYTHONPATH);
`compare` runs with the present one and fits the same again. With `--models`, it also
loads the models that the other version saved, which must be in the same format. Exits
with 1 if a single bit differs, or with `--within` a number by more than this share of
the largest in its array. For changes that move code and must not change answers.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

# Sums must come out in the same order in both runs.
os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np
from sklearn.base import BaseEstimator

import trueaxis
from trueaxis.datasets import planted
from trueaxis.methods import ReweightedPCA

# One extra configuration per parameter that changes how a fit proceeds.
VARIANTS: dict[str, list[dict[str, Any]]] = {
    "pca": [{"n_components": "auto"}, {"n_components": 0.8}, {"n_components": None}],
    "pca-l1": [{"init": "random", "n_init": 3}, {"center": "median"}],
    "pca-l1-nongreedy": [{"init": "random", "n_init": 3}],
    "pca-lp": [{"p": 1.5}, {"greedy": False, "p": 1.2, "n_init": 2}],
    "r1-pca": [
        {"loss": "cauchy", "center": "median"},
        {"loss": "l21", "n_init": 3},
        {"c": 1e200},
    ],
    "l2p-pca": [{"p": 0.5}, {"p": 0.5, "anneal": False}, {"solver": "power"}],
    "rpca-om": [{"n_init": 4}],
    "rpca-di": [{"membership": "norm"}, {"center": "median", "n_init": 2}],
    "angle-pca": [{"variant": "circulated"}, {"gamma": 1.0}],
    "l21-max": [{"center": "median"}],
    "l1-pca": [{"center": "none"}, {"center": "mean"}],
    "weighted-pca": [{"power": 0.5}],
    "rwl-an": [{"gamma": "frozen"}, {"gamma": 5.0}, {"q": 100}],
    "t-rpca": [{"q": 0.8, "n_init": 3}],
    "drpca": [{"q": 120, "n_init": 2}],
    "rpca-rp": [{"ratio": "tan"}, {"center": "median"}],
    "rspca": [{"q": 5}, {"sigma": 0.5}],
    "two-way": [{"p": 0.7}],
    "pcp": [{"center": "median"}, {"balance": np.inf}],
    "spcp": [{"sigma": 0.3}],
    "rrpcp": [{"gam": 0.3}],
    "dswl": [
        {"n_components": "auto"},
        {"n_components": 0.9},
        {"n_components": None},
        {"n_components": 11},
        {"tau": (0.1, 0.1, 0.1)},
        {"trust": 0.8},
        {"random_state": 7},
        {"max_iter": 3},
    ],
}
CLOUDS = ("none", "pcs", "ocs", "both", "scatter", "amp")


def tables() -> dict[str, np.ndarray]:
    """Return small tables; `dswl_fits` has large ones."""
    rng = np.random.default_rng(0)
    small = planted("scatter", share=0.2, n=160, n_features=12, random_state=1).X
    wide = rng.standard_normal((30, 3)) @ rng.standard_normal((3, 50))
    wide += 0.2 * rng.standard_normal(wide.shape)
    wide[:4] += 5
    return {"array": small, "float32": small.astype(np.float32), "wide": wide}


def weights(n: int) -> np.ndarray:
    """Sample weights, some of them 0."""
    return np.random.default_rng(3).integers(0, 4, n).astype(float)


def estimator(name: str, **params: Any) -> BaseEstimator:
    """Build a method."""
    return trueaxis.methods.METHODS[name](**({"n_components": 3} | params))


def sources(folder: Path, X: np.ndarray) -> Iterator[tuple[str, Any]]:
    """Yield the same rows as a memory map, as Parquet and as a Dask array."""
    import dask.array
    import pyarrow
    import pyarrow.parquet

    np.save(folder / "rows.npy", X)
    yield "memory map", np.load(folder / "rows.npy", mmap_mode="r")
    columns = {f"c{i}": column for i, column in enumerate(X.T)}
    path = folder / "rows.parquet"
    pyarrow.parquet.write_table(pyarrow.table(columns), path, row_group_size=70)
    yield "Parquet", str(path)
    yield "Dask", dask.array.from_array(X, chunks=(61, X.shape[1]))


Fit = tuple[str, BaseEstimator, Any, np.ndarray | None]


def method_fits(folder: Path) -> Iterator[Fit]:
    """Yield every method on every kind of input, and its variants."""
    made = tables()
    for name in trueaxis.methods.METHODS:
        for kind, X in made.items():
            yield f"{name}, {kind}", estimator(name), X, None
        for params in VARIANTS.get(name, []):
            yield f"{name}, {params}", estimator(name, **params), made["array"], None
        if name not in ("pcp", "spcp", "rrpcp"):
            X = made["array"]
            yield f"{name}, weights", estimator(name), X, weights(len(X))
        for kind, source in sources(folder, made["array"]):
            yield f"{name}, {kind}", estimator(name), source, None


def dswl_fits(folder: Path) -> Iterator[Fit]:
    """Yield DSWL on planted outliers, nasty shapes and rows beyond the sample."""
    for kind in CLOUDS:
        for seed in range(2):
            X = planted(kind, share=0.25, random_state=seed).X
            for k in (3, "auto"):
                yield f"DSWL, {kind} {seed}, {k}", trueaxis.DSWL(k), X, None
    rng = np.random.default_rng(5)
    groups = rng.standard_normal((400, 10)) * np.linspace(4, 1, 10)
    groups[:80] += 25 * np.eye(10)[0]
    levels = np.c_[rng.integers(0, 4, (300, 4)), rng.standard_normal((300, 4))]
    many = rng.standard_normal((300, 120)) + 3 * rng.standard_normal((300, 1))
    for label, X in {"groups": groups, "levels": levels, "many": many}.items():
        yield f"DSWL, {label}", trueaxis.DSWL(2), X.astype(float), None
    crowded = rng.standard_normal((60, 40)) * np.linspace(4, 1, 40)
    yield "DSWL, more components than room", trueaxis.DSWL(20), crowded, None
    large = planted("both", share=0.2, n=9000, random_state=4).X
    options: list[dict[str, Any]] = [
        {},
        {"n_components": "auto"},
        {"tau": (0.02, 0.02, 0.02)},
    ]
    for params in options:
        model = trueaxis.DSWL(**({"n_components": 3} | params))
        yield f"DSWL, large, {params}", model, large, None
    yield "DSWL, large, weights", trueaxis.DSWL(3), large, weights(len(large))
    for kind, source in sources(folder, large):
        yield f"DSWL, large, {kind}", trueaxis.DSWL(3), source, None
    yield "t-rpca, large", estimator("t-rpca", n_init=3), large, None
    yield "pca-l1, large", estimator("pca-l1", n_init=3), large, None
    scaled = trueaxis.ColumnScaler()
    yield "ColumnScaler", scaled, tables()["array"], None


def user_fits() -> Iterator[Fit]:
    """Yield fits with a rule of the user's own."""
    X = tables()["array"]

    def near(v: np.ndarray, e: np.ndarray, d: np.ndarray) -> np.ndarray:
        return 1 / (1 + e / np.median(e))

    yield "own rule", ReweightedPCA(3, rule=near), X, None
    yield (
        "own rule, weights",
        ReweightedPCA(3, rule=near),
        X,
        weights(len(X)),
    )
    yield "no rule", ReweightedPCA(3, n_init=2), X, None


def flattened(value: Any) -> np.ndarray | None:
    """Return an attribute as an array, or None for what is not numbers."""
    if hasattr(value, "compute"):
        value = value.compute()
    if isinstance(value, dict):
        return np.concatenate([np.ravel(value[name]) for name in sorted(value)])
    try:
        array = np.asarray(value)
    except ValueError:
        return None
    return array if array.dtype.kind in "biuf" else None


def answers(fits: Iterator[Fit], after: Callable[..., None]) -> dict[str, np.ndarray]:
    """Fit everything; return all attributes by the names of fit and attribute."""
    found: dict[str, np.ndarray] = {}
    for label, model, X, sample_weight in fits:
        extra = {} if sample_weight is None else {"sample_weight": sample_weight}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(X, **extra)
        for name, value in sorted(vars(model).items()):
            if name.endswith("_") and not name.startswith("_"):
                array = flattened(value)
                if array is not None:
                    found[f"{label}/{name}"] = array
        rows = tables()["wide" if "wide" in label else "array"]
        if rows.shape[1] == model.n_features_in_ and hasattr(model, "score_samples"):
            if not hasattr(model, "feature_names_in_"):
                found[f"{label}/score_samples"] = model.score_samples(rows)
        after(label, model)
    return found


def agree(one: np.ndarray, other: np.ndarray, within: float) -> bool:
    """Return whether arrays are the same bits, or close if a tolerance is given."""
    if within == 0 or one.dtype.kind != "f" or one.shape != other.shape:
        return one.tobytes() == other.tobytes()
    # Numbers of single precision hold fewer digits.
    within = max(within, 10 * float(np.finfo(one.dtype).eps))
    largest = np.abs(one[np.isfinite(one)]).max(initial=0.0)
    return np.allclose(one, other, rtol=within, atol=within * largest, equal_nan=True)


def all_fits(folder: Path) -> Iterator[Fit]:
    """Yield every configuration."""
    yield from method_fits(folder)
    yield from dswl_fits(folder)
    yield from user_fits()


def model_file(folder: Path, label: str) -> Path:
    """Return the place of the model file of a fit."""
    return folder / ("".join(c if c.isalnum() else "-" for c in label) + ".npz")


def save_models(folder: Path) -> Callable[..., None]:
    """Return what saves each model that can be saved."""
    folder.mkdir(parents=True, exist_ok=True)

    def save(label: str, model: BaseEstimator) -> None:
        if hasattr(model, "components_") and "rule" not in label:
            trueaxis.save(model, model_file(folder, label))

    return save


def compare_models(folder: Path, differ: list[str]) -> Callable[..., None]:
    """Return what compares each model with the one that the other version saved."""

    def compare(label: str, model: BaseEstimator) -> None:
        path = model_file(folder, label)
        if not path.exists():
            return
        loaded = trueaxis.load(path)
        rows = tables()["wide" if "wide" in label else "array"]
        if rows.shape[1] != model.n_features_in_:
            rows = planted("none", n=50, n_features=model.n_features_in_).X
        if rows.shape[1] != model.n_features_in_:
            return
        for ask in ("transform", "distances", "predict"):
            if not hasattr(model, ask) or hasattr(model, "feature_names_in_"):
                continue
            ours, theirs = getattr(model, ask)(rows), getattr(loaded, ask)(rows)
            if np.asarray(ours).tobytes() != np.asarray(theirs).tobytes():
                differ.append(f"{label}: {ask} of the model file")

    return compare


def main() -> int:
    """Save the answers, or compare with those that were saved."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("action", choices=["save", "compare"])
    parser.add_argument("file", type=Path)
    parser.add_argument("--models", type=Path)
    parser.add_argument("--within", type=float, default=0.0)
    chosen = parser.parse_args()
    differ: list[str] = []
    after: Callable[..., None] = lambda label, model: None  # noqa: E731
    if chosen.models is not None:
        save = chosen.action == "save"
        models = chosen.models
        after = save_models(models) if save else compare_models(models, differ)
    with tempfile.TemporaryDirectory() as folder:
        found = answers(all_fits(Path(folder)), after)
    n_fits = len({name.rsplit("/", 1)[0] for name in found})
    if chosen.action == "save":
        np.savez(chosen.file, **found)
        print(f"{n_fits} fits, {len(found)} attributes saved.")
        return 0
    with np.load(chosen.file) as before:
        for name in before.files:
            if name not in found:
                differ.append(f"{name}: missing")
            elif not agree(before[name], found[name], chosen.within):
                differ.append(name)
    print(f"{n_fits} fits, {len(found)} attributes compared, {len(differ)} differ.")
    for name in differ[:20]:
        print(" ", name)
    return int(bool(differ))


if __name__ == "__main__":
    sys.exit(main())
