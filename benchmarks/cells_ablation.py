"""Change every constant of the cell model, one at a time, and show what that does.

Each line halves or doubles a constant (or takes a rule out), and fits the same tables.
The first lines change nothing but the seeds of the tables, and say how large a
difference can be without any meaning.

    python benchmarks/cells_ablation.py [--seeds 3]
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from threadpoolctl import threadpool_limits

from cells_data import Table, macropca
from cells_data import spoiled as generated
from cells_figures import angle, lost, rmse
from sheet import Sheet
from trueaxis import DSWL
from trueaxis.diagnostics import cell_map

FIRST_SEED = 8000
FACTORS, LIMITS, MODEL, LEARN = (
    f"trueaxis.cells.{name}" for name in ("factors", "limits", "model", "learn")
)
EQUAL_FACTORS = lambda model, prior: np.full_like(model.loadings, 1e-3)  # noqa: E731
AT_ONCE = lambda z, *_: np.full((2, z.shape[1]), 3.0)  # noqa: E731
MEDIANS = lambda X, seen: (  # noqa: E731
    np.nanmedian(np.where(seen, X, np.nan), axis=0),
    1.4826
    * np.nanmedian(np.abs(X - np.nanmedian(np.where(seen, X, np.nan), axis=0)), axis=0),
)
CHANGES: list[tuple[str, Any]] = [
    ("PRIOR_CELLS", 0.3),
    ("PRIOR_CELLS", 30.0),
    ("PRIOR_NOISE", 0.01),
    ("PRIOR_NOISE", 1.0),
    ("USELESS", 0.0),
    ("penalty", EQUAL_FACTORS),
    ("majority", MEDIANS),
    ("law_ends", AT_ONCE),
    ("raise_known", lambda limits, *_: limits),
    ("NEAR", 1.5),
    ("NEAR", 3.0),
    ("SURELY", 2.5),
    ("SURELY", 4.0),
    ("CHANCE", 1e-2),
    ("CHANCE", 1e-5),
    ("POOLED", 0.0),
    ("POOLED", 300.0),
    ("SLOWEST", 0.7),
    ("KNOWN", 0.03),
    ("KNOWN", 0.3),
    ("SWEEPS", 3),
    ("TOLERATED", 0.01),
    ("TOLERATED", 0.2),
    ("MAX_FACTORS", 8),
    ("MAX_FACTORS", 32),
    ("START_STEPS", 10),
    ("STEPS", 2),
    ("TURNS", 5),
    ("TURNS", 20),
]


@contextmanager
def replaced(name: str, value: Any) -> Iterator[None]:
    """Replace a name in every module of the cell model that has it."""
    homes = [
        importlib.import_module(home)
        for home in (FACTORS, LIMITS, MODEL, LEARN)
        if hasattr(importlib.import_module(home), name)
    ]
    before = [getattr(home, name) for home in homes]
    for home in homes:
        setattr(home, name, value)
    try:
        yield
    finally:
        for home, old in zip(homes, before, strict=True):
            setattr(home, name, old)


def real_tables() -> dict[str, np.ndarray]:
    """Return real tables, z-scored."""
    loaders: dict[str, Callable[..., Any]] = {
        "wine": load_wine, "cancer": load_breast_cancer, "diabetes": load_diabetes,
    }  # fmt: skip
    tables = {name: load(return_X_y=True)[0] for name, load in loaders.items()}
    return {name: (X - X.mean(0)) / X.std(0) for name, X in tables.items()}


def planted(X: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Plant 5 % wrong cells of 4 to 10 standard deviations, on both sides."""
    rng = np.random.default_rng(seed)
    hit = rng.random(X.shape) < 0.05
    sizes = rng.uniform(4, 10, X.shape) * rng.choice([-1, 1], X.shape)
    return np.where(hit, sizes, X), hit


def measure(seeds: range) -> list[float]:
    """Return the figures of one line of the table."""
    cases: dict[str, Callable[[int], Table]] = {
        "gamma 3": lambda s: generated(s, cells=0.2, size=3),
        "all": lambda s: generated(s, cells=0.1, rows=0.2, missing=0.2),
        "wide": lambda s: macropca(s, cells=0.2, size=3, missing=0.2),
    }
    figures = []
    for draw in cases.values():
        angles, found = [], []
        for seed in seeds:
            table = draw(seed)
            model = DSWL(table.k, cells=True).fit(table.X)
            angles.append(angle(model.components_, table.axes))
            found.append(cell_map(model, table.X).wrong[table.wrong].mean())
        figures += [float(np.mean(angles)), 100 * float(np.mean(found))]
    clean_lost, clean_flagged, lost_then, found_then = [], [], [], []
    holes_rmse = []
    for X in real_tables().values():
        model = DSWL(3, cells=True).fit(X)
        clean_lost.append(lost(X, model.components_))
        clean_flagged.append(cell_map(model, X).wrong.mean())
        for seed in seeds:
            spoiled, hit = planted(X, seed)
            model = DSWL(3, cells=True).fit(spoiled)
            lost_then.append(lost(X, model.components_))
            found_then.append(cell_map(model, spoiled).wrong[hit].mean())
            holes = np.random.default_rng(seed).random(X.shape) < 0.25
            spoiled = np.where(holes, np.nan, X)
            filled = DSWL(3).fit(spoiled).repair(spoiled)
            holes_rmse.append(rmse(filled, X, holes))
    figures += [float(np.mean(clean_lost)), 100 * float(np.mean(clean_flagged))]
    figures += [float(np.mean(lost_then)), 100 * float(np.mean(found_then))]
    return [*figures, float(np.mean(holes_rmse))]


def shown(value: Any) -> str:
    return "taken out" if callable(value) else f"{value:g}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=3)
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    sheet = Sheet(
        "One constant of the cell model changed at a time: degrees and cells found (%) "
        "with 20 % cells at gamma 3, with 10 % cells, 20 % rows and 20 % missing, and "
        "on wide tables; on wine, breast cancer and diabetes, lost variance and cells "
        "flagged (%) without wrong cells, lost variance and cells found (%) with 5 %, "
        "and rmse of 25 % holes",
        "constant", "to", "gamma 3", "found", "all", "found", "wide", "found",
        "real, clean", "flagged", "real, 5 %", "found", "holes",
    )  # fmt: skip
    seeds = range(FIRST_SEED, FIRST_SEED + chosen.seeds)
    more = range(FIRST_SEED + 100, FIRST_SEED + 100 + chosen.seeds)
    lines: list[tuple[str, str, Callable[[], list[float]]]] = [
        ("as it is", "", lambda: measure(seeds)),
        ("other seeds", "", lambda: measure(more)),
    ]
    with threadpool_limits(1):
        for name, value, run in lines:
            sheet.add(name, value, *(f"{figure:.3g}" for figure in run()))
        for name, value in CHANGES:
            with replaced(name, value):
                figures = measure(seeds)
            sheet.add(name, shown(value), *(f"{figure:.3g}" for figure in figures))
            print(f"{name} {shown(value)}", file=sys.stderr)
    sheet.show()
    return os.EX_OK


if __name__ == "__main__":
    sys.exit(main())
