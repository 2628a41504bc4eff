"""Tables for `before_after.py` that are not planted clouds: awkward, nasty, real.

Real tables are read from a folder, as in `verdict_data.py`.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from awkward import (
    FRESH,
    TABLES,
    Maker,
    correlated,
    factors,
    heavy,
    shifted,
)
from before_after_clouds import Case, Data, known, planted_rows, size
from paper_data import UCI, face_images, uci_table
from studies.faces.damage import occlude
from trueaxis.datasets import planted, sensors, spectra
from verdict_data import MEASURED, Labelled, real, textbook

sys.path.insert(0, str(Path(__file__).parent.parent))
from studies.toy.points import toy
from studies.uci.damage import contaminate

HEAVY: dict[str, Maker] = {
    "t with 1 df, columns": lambda r: r.standard_t(1, (300, 6)),
    "t with 2 df, columns": lambda r: r.standard_t(2, (300, 6)),
    "t with 1.5 df, correlated": lambda r: heavy(r, 400, 10, 1.5),
    "t with 2 df, 2000 x 30": lambda r: heavy(r, 2000, 30, 2.0),
    "t with 3 df, 80 x 120": lambda r: heavy(r, 80, 120, 3.0),
    "lognormal, sigma 1.5": lambda r: np.exp(1.5 * correlated(r, 500, 10)),
    "lognormal, sigma 2, wide": lambda r: np.exp(2 * correlated(r, 60, 100)),
    "Laplace, correlated": lambda r: r.laplace(size=(500, 8)) @ r.normal(size=(8, 8)),
    "Pareto, shape 1": lambda r: r.pareto(1.0, (400, 6)),
}
LARGE: dict[str, Maker] = {
    "counts, 15,000 x 8": lambda r: r.poisson(2, (15_000, 8)),
    "lognormal, 15,000 x 8": lambda r: np.exp(0.7 * correlated(r, 15_000, 8)),
    "0/1, 10,000 x 10": lambda r: r.random((10_000, 10)) < 0.3,
    "t with 2 df, 10,000 x 10": lambda r: heavy(r, 10_000, 10, 2.0),
}
FACE_COUNTS: dict[str, tuple[Any, ...]] = {
    "yaleb": (5, 20),
    "yale": (10, 30, "auto"),
    "orl": (10, 100),
    "umist": (10,),
}


def drawn(
    group: str, draws: dict[str, Maker], ks: tuple[Any, ...], seeds: int
) -> Iterator[Case]:
    """Yield tables that functions of a random generator make."""
    for name, draw in draws.items():
        for seed in range(seeds):
            for k in ks:
                make = functools.partial(drawn_rows, draw, seed)
                label = f"{group}: {name}, k={k}, seed {seed}"
                yield Case(group, label, make, {"n_components": k})


def drawn_rows(draw: Maker, seed: int) -> Data:
    """Return the rows that a function draws."""
    return Data(np.asarray(draw(np.random.default_rng([seed])), dtype=float))


def shifted_groups() -> Iterator[Case]:
    """Yield groups among many factors."""
    for n, D, k in ((300, 120, 30), (150, 300, 20), (200, 100, 10)):
        for seed in range(3):
            make = functools.partial(shifted_rows, n, D, k, seed)
            name = f"shifted, {n} x {D}, {k} factors, seed {seed}"
            yield Case("many components", f"many components: {name}", make,
                       {"n_components": k})  # fmt: skip


def shifted_rows(n: int, D: int, k: int, seed: int) -> Data:
    """Return rows of many factors, a fifth of them shifted."""
    X, bad = shifted(n, D, k, seed)
    axes = np.linalg.qr(np.random.default_rng(seed).standard_normal((D, k + 1)))[0].T
    return Data(X, axes[:k], bad)


def awkward() -> Iterator[Case]:
    """Yield skewed, discrete and mixed tables, without outliers."""
    yield from drawn("awkward", TABLES | FRESH, (2, "auto"), 2)
    measured: dict[str, Maker] = {
        f"measured, {name}": functools.partial(eighty_rows, make)
        for name, make in MEASURED.items()
    }
    yield from drawn("awkward", measured, (2,), 1)


def eighty_rows(
    make: Callable[[np.random.Generator, int], np.ndarray], rng: np.random.Generator
) -> np.ndarray:
    """Draw 80 rows."""
    return make(rng, 80)


def nasty_tables() -> dict[str, np.ndarray]:
    """Return tables with copies of columns or rows, with huge rows, or in groups."""
    r = np.random.default_rng([11])
    base = planted("scatter", share=0.15, n=300, n_features=10, random_state=5).X
    low = r.standard_normal((200, 3)) @ r.standard_normal((3, 12))
    gauss = r.standard_normal((200, 8)) * np.linspace(3, 1, 8)
    first, second = np.eye(8)[:2]
    group = r.random((200, 1))
    return {
        "constant columns": np.c_[base, np.ones((300, 2)), np.zeros(300)],
        "equal columns": np.c_[base, base[:, :3], -base[:, 0]],
        "every row twice": np.repeat(base, 2, axis=0),
        "40 % copies of one row": np.r_[base, np.repeat(base[:1], 200, axis=0)],
        "one row at 1e6": np.r_[base, 1e6 * np.ones((1, 10))],
        "one row at 1e14": np.r_[base, 1e14 * np.ones((1, 10))],
        "three rows at 1e3": np.r_[base, 1e3 * r.standard_normal((3, 10))],
        "low rank, noise 1e-8": low + 1e-8 * r.standard_normal(low.shape),
        "low rank, noise 1e-3": low + 1e-3 * r.standard_normal(low.shape),
        "low rank, exact": low,
        "low rank, exact, with outliers": np.r_[low, 9 + r.standard_normal((40, 12))],
        "two groups, 50 and 50": gauss + 12 * (group < 0.5) * second,
        "two groups, 60 and 40": gauss + 12 * (group < 0.4) * second,
        "two groups, 75 and 25": gauss + 12 * (group < 0.25) * second,
        "two groups, 95 and 5": gauss + 12 * (group < 0.05) * second,
        "three groups": gauss + 12 * np.floor(3 * group) * second,
        "two groups along the first axis": gauss + 40 * (group < 0.3) * first,
        "binary": (r.random((300, 12)) < 0.4).astype(float),
        "binary, 1 % ones": (r.random((400, 8)) < 0.01).astype(float),
        "rounded to integers": np.round(gauss),
        "integers": r.integers(0, 10, (250, 6)),
        "units from 1e-6 to 1e6": gauss * np.logspace(-6, 6, 8),
        "far from 0": gauss + 1e6,
        "tiny": 1e-9 * gauss,
        "two columns": base[:, :2],
        "three columns": factors(r, 60, 3),
        "20 rows": base[:20, :5],
        "square, 60 x 60": r.standard_normal((60, 60)),
        "pure noise": r.standard_normal((400, 30)),
        "correlated, strongly": correlated(r, 300, 4) @ r.standard_normal((4, 20))
        + 0.01 * r.standard_normal((300, 20)),
    }


def nasty() -> Iterator[Case]:
    """Yield tables that break assumptions."""
    for name in nasty_tables():
        for k in (1, 2, "auto"):
            make = functools.partial(nasty_rows, name)
            yield Case("nasty", f"nasty: {name}, k={k}", make, {"n_components": k})


def nasty_rows(name: str) -> Data:
    """Return one of the nasty tables."""
    return Data(nasty_tables()[name])


def holes() -> Iterator[Case]:
    """Yield missing and wrong cells."""
    for n, D, k in ((200, 8, 2), (600, 15, 3), (6000, 10, 2)):
        for share in (0.0, 0.05, 0.2):
            for cells in (False, True):
                for kind in ("none", "ocs"):
                    make = functools.partial(
                        rows_with_holes, kind, share, size(n, D, k)
                    )
                    name = f"holes: {n} x {D}, {share:.0%}, {kind}, cells={cells}"
                    params = {"n_components": k, "cells": cells}
                    yield Case("holes", name, make, params, n > 1000)


def rows_with_holes(kind: str, share: float, shape: dict[str, Any]) -> Data:
    """Return planted rows with a share of the cells missing, and 1 % wrong."""
    data, rng = planted_rows(kind, share=0.1, **shape), np.random.default_rng([8])
    data.X[rng.random(data.X.shape) < share] = np.nan
    data.X[rng.random(data.X.shape) < 0.01] += 15
    return data


def generated() -> Iterator[Case]:
    """Yield the other generators: spectra, toy points and sensors."""
    for n, share, k in ((100, 0.0, 4), (100, 0.2, 4), (300, 0.1, "auto"), (60, 0.3, 3)):
        for seed in range(2):
            make = functools.partial(spectra_rows, n, share, seed)
            name = f"generators: spectra, {n}, {share:.0%}, k={k}, seed {seed}"
            yield Case("generators", name, make, {"n_components": k})
    for kind in ("none", "pcs", "ocs", "both"):
        for seed in range(2):
            make = functools.partial(toy_rows, kind, seed)
            name = f"generators: toy, {kind}, seed {seed}"
            yield Case("generators", name, make, {"n_components": 1})
    for k in (1, 2, 3, "auto"):
        name = f"generators: sensors, k={k}"
        yield Case("generators", name, sensor_rows, {"n_components": k})


def spectra_rows(n: int, share: float, seed: int) -> Data:
    return known(spectra(n=n, share=share, random_state=seed))


def toy_rows(kind: str, seed: int) -> Data:
    return known(toy(kind, random_state=seed))


def sensor_rows() -> Data:
    table = sensors()
    return Data(table.X, bad=table.fault != "")


@functools.cache
def labelled_tables(home: Path) -> dict[str, Labelled]:
    """Read the tables with labelled outliers, once."""
    tables = [*textbook(home / "outliers" / "textbook"), *real(home / "outliers")]
    return {f"{table.name}, k={table.k}": table for table in tables}


def labelled_rows(home: Path, name: str) -> Data:
    table = labelled_tables(home)[name]
    return Data(table.X, bad=table.bad)


def labelled(home: Path) -> Iterator[Case]:
    """Yield textbook tables, and those of ADBench."""
    for name, table in labelled_tables(home).items():
        make = functools.partial(labelled_rows, home, name)
        slow = table.X.size > 50_000
        yield Case("real", f"real: {name}", make, {"n_components": table.k}, slow)
        if len(table.X) > 100:
            params = {"n_components": "auto"}
            yield Case("real", f"real: {name}, auto", make, params, slow)


def uci(home: Path) -> Iterator[Case]:
    """Yield the paper's tables."""
    settings = ((1, True), (3, True), (3, False), (5, True), (0.9, False),
                ("auto", True))  # fmt: skip
    for name in UCI:
        for k, damage in settings:
            make = functools.partial(uci_rows, home, name, damage)
            label = "damaged" if damage else "as it is"
            label = f"real: {name} (UCI), {label}, k={k}"
            yield Case("real", label, make, {"n_components": k})


def uci_rows(home: Path, name: str, damage: bool) -> Data:
    """Return one of the paper's tables, z-scored, with damaged rows or without."""
    X = uci_table(home, name)
    X = X[:, X.std(axis=0) > 0]
    bad = np.zeros(len(X), dtype=bool)
    if damage:
        X, bad = contaminate(X)
    return Data((X - X.mean(axis=0)) / X.std(axis=0), bad=bad)


def faces(home: Path) -> Iterator[Case]:
    """Yield images of faces, of which a fifth is occluded."""
    for name, counts in FACE_COUNTS.items():
        for k in counts:
            make = functools.partial(face_rows, home, name, 4 if k == 5 else 1)
            label = f"real: {name} (faces), k={k}"
            yield Case("real", label, make, {"n_components": k}, True)


def face_rows(home: Path, name: str, every: int) -> Data:
    """Return some images of a set, a fifth of them occluded."""
    images, bad = occlude(face_images(home, name)[::every])
    return Data(images.reshape(len(images), -1).astype(float), bad=bad)
