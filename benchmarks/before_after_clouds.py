"""Planted clouds for `before_after.py`: all kinds, sizes, parameters, arrays, weights.

A case makes its rows when it is fitted, so that listing all of them costs nothing.
"""

from __future__ import annotations

import functools
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from accuracy import TALL, WIDE
from trueaxis.datasets import KINDS, Planted, planted
from verdict_data import moderate

OTHER_SIZES = ((20, 4, 1), (30, 2, 1), (50, 8, 2), (100, 10, 3), (200, 50, 5),
               (1000, 30, 5), (2000, 100, 10), (3000, 40, 2))  # fmt: skip
CROWDED = ((196, 155, 38), (300, 240, 60), (120, 60, 28), (120, 60, 29), (120, 60, 30),
           (200, 100, 60), (60, 40, 20), (500, 100, 30), (400, 50, 45),
           (1000, 200, 50))  # fmt: skip
MANY_CELLS = ((3000, 300, 10), (6000, 300, 10), (2000, 500, 10), (1500, 1000, 5),
              (4100, 1000, 10), (4000, 150, 30), (30_000, 200, 5))  # fmt: skip
SOME = ("none", "ocs", "both", "amp")
FILES = tempfile.TemporaryDirectory()  # deleted when the process ends


class Data(NamedTuple):
    """Rows, and what is known about them."""

    X: Any
    truth: np.ndarray | None = None
    bad: np.ndarray | None = None
    weight: np.ndarray | None = None


class Case(NamedTuple):
    """A fit: what it is called, how its rows are made, and the parameters of DSWL."""

    group: str
    name: str
    make: Callable[[], Data]
    params: dict[str, Any]
    slow: bool = False


def known(cloud: Planted) -> Data:
    """Return the rows of a generator with the truth about them."""
    return Data(cloud.X, cloud.components, cloud.is_outlier)


def planted_rows(kind: str, **params: Any) -> Data:
    """Return planted rows."""
    return known(planted(kind, **params))


def size(n: int, D: int, k: int, **more: Any) -> dict[str, Any]:
    """Return the arguments of `planted` for a size."""
    return {"n": n, "n_features": D, "n_components": k} | more


def clouds(
    group: str,
    kinds: Iterable[str],
    shares: Iterable[float],
    shape: dict[str, Any],
    k: Any = None,
    seeds: Iterable[int] = (0,),
    slow: bool = False,
    **params: Any,
) -> Iterator[Case]:
    """Yield clouds with all these kinds, shares and seeds; k is the true one if None.

    Clouds without outliers come once per seed, whatever the shares.
    """
    k = shape["n_components"] if k is None else k
    label = f"{shape['n']} x {shape['n_features']}, k={k}"
    more = {name: shape[name] for name in ("df", "cluster_sd") if name in shape}
    if shape["n_components"] != k:
        more["true k"] = shape["n_components"]
    label += "".join(f", {name}={value}" for name, value in (more | params).items())
    for kind in kinds:
        for share in shares if kind != "none" else (0.0,):
            for seed in seeds:
                given = shape | {"share": share, "random_state": seed}
                make = functools.partial(planted_rows, kind, **given)
                name = f"{group}: {label}, {share:.0%} {kind}, seed {seed}"
                yield Case(group, name, make, {"n_components": k} | params, slow)


def all_kinds() -> Iterator[Case]:
    """Yield planted outliers of all kinds, up to 45 %, of 20 to 3900 rows."""
    yield from clouds("planted", KINDS, (0.1, 0.25, 0.4), TALL, seeds=range(3))
    for n, D, k in OTHER_SIZES:
        yield from clouds("planted", KINDS, (0.2,), size(n, D, k), seeds=(n % 7,))
    for sd in (0.001, 0.01, 0.3):
        shape = TALL | {"cluster_sd": sd}
        yield from clouds("planted", ("pcs", "ocs", "both"), (0.1, 0.4), shape)
    for n, D, k in ((60, 5, 2), (3900, 10, 3)):
        yield from clouds("planted", ("ocs", "both"), (0.4, 0.45), size(n, D, k))
    for seed in range(4):
        make = functools.partial(moderate_rows, seed)
        name = f"planted: moderate, seed {seed}"
        yield Case("planted", name, make, {"n_components": 3})


def moderate_rows(seed: int) -> Data:
    """Return rows of which 15 % are a little off the subspace."""
    table = moderate(seed)
    truth = planted("none", random_state=seed, **TALL).components
    return Data(table.X, truth, table.bad)


def numbers() -> Iterator[Case]:
    """Yield numbers of components that are not the true one, or not given."""
    group = "number of components"
    for k in (1, 2, 5, 10):
        yield from clouds(group, SOME, (0.2,), TALL, k, range(2))
    for k in ("auto", 0.8, 0.9, 0.95):
        yield from clouds(group, KINDS, (0.2,), TALL, k)
    for k in ("auto", 0.9, 30):
        yield from clouds(group, SOME, (0.15,), size(800, 60, 6), k)
    for n, D, k in ((40, 6, 2), (300, 12, 3), (25, 40, 3)):
        for kind in ("none", "both"):
            make = functools.partial(planted_rows, kind, share=0.2, **size(n, D, k))
            name = f"{group}: {n} x {D}, all, {kind}"
            yield Case(group, name, make, {"n_components": None})


def parameters() -> Iterator[Case]:
    """Yield all other parameters."""
    variants: list[dict[str, Any]] = [
        {"tau": (0.1, 0.1, 0.1)},
        {"tau": (0.05, 0.02, 0.1)},
        *({"trust": trust} for trust in (0.3, 0.6, 0.75, 0.9, 1.0)),
        *({"contamination": share} for share in (0.02, 0.1, 0.3)),
        *({"level": level} for level in (0.001, 0.01, 0.1, 0.5)),
        {"max_iter": 3},
        {"tol": 1e-9},
        {"random_state": 7},
    ]
    for params in variants:
        kinds = ("none", "both", "scatter")
        yield from clouds("parameters", kinds, (0.2,), TALL, **params)


def wide() -> Iterator[Case]:
    """Yield tables with fewer rows than columns."""
    yield from clouds("wide", KINDS, (0.1, 0.25, 0.4), WIDE)
    yield from clouds("wide", KINDS, (0.2,), WIDE, "auto")
    for n, D, k in ((20, 50, 2), (30, 100, 1), (60, 1000, 3), (99, 100, 3),
                    (101, 100, 3)):  # fmt: skip
        yield from clouds("wide", SOME, (0.2,), size(n, D, k))
    for k in (10, 30):
        shape = size(300, 1000, k)
        yield from clouds("wide", ("none", "both"), (0.2,), shape, slow=True)
    yield from clouds("wide", ("ocs",), (0.2,), size(400, 1024, 100), slow=True)
    for k in (0.9, None, 20):
        for kind in ("none", "scatter"):
            make = functools.partial(planted_rows, kind, share=0.15, **size(50, 150, 4))
            name = f"wide: 50 x 150, k={k}, true k=4, 15% {kind}"
            yield Case("wide", name, make, {"n_components": k})


def crowded() -> Iterator[Case]:
    """Yield many components: around and beyond a quarter of the rows."""
    for n, D, k in CROWDED:
        kinds = ("none", "ocs", "both", "scatter")
        yield from clouds("many components", kinds, (0.2,), size(n, D, k))


def heavy_clouds() -> Iterator[Case]:
    """Yield clouds whose regular rows follow a multivariate t distribution."""
    for df in (1, 2, 3, 5):
        shape = TALL | {"df": df}
        yield from clouds("heavy tails", SOME, (0.2,), shape, seeds=range(2))


def large() -> Iterator[Case]:
    """Yield rows around the size of the sample, and far beyond it."""
    for n in (3999, 4000, 4001, 5000, 20_000):
        yield from clouds("large", SOME, (0.2,), size(n, 20, 3))
    yield from clouds("large", KINDS, (0.2,), size(30_000, 20, 3), slow=True)
    yield from clouds("large", KINDS, (0.3,), size(100_000, 20, 3), slow=True)
    some, both = size(9000, 20, 3), ("both",)
    yield from clouds("large", ("both", "none"), (0.2,), some, "auto")
    yield from clouds("large", both, (0.2,), some, 0.9)
    yield from clouds("large", both, (0.4,), some, seeds=range(2))
    yield from clouds("large", ("none", "both"), (0.2,), some | {"df": 2})
    shape = size(20_000, 100, 5)
    yield from clouds("large", ("none", "both"), (0.2,), shape, slow=True)
    for n, D, k in MANY_CELLS:
        yield from clouds("large", both, (0.2,), size(n, D, k), slow=True)
    variants: list[dict[str, Any]] = [
        {"tau": (0.02, 0.02, 0.02)},
        {"contamination": 0.1},
        {"level": 0.001},
        {"trust": 0.75},
    ]
    for params in variants:
        yield from clouds("large", both, (0.2,), some, **params)


# Kinds of arrays, and weights.


def memory_map(X: np.ndarray) -> np.ndarray:
    """Return the rows as a map of a file."""
    path = Path(FILES.name) / f"{len(list(Path(FILES.name).iterdir()))}.npy"
    np.save(path, X)
    return np.load(path, mmap_mode="r")


ARRAYS: dict[str, Callable[[np.ndarray], Any]] = {
    "float32": lambda X: X.astype(np.float32),
    "Fortran order": np.asfortranarray,
    "columns apart": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "rows apart": lambda X: np.repeat(X, 2, axis=0)[::2],
    "backwards": lambda X: X[::-1, ::-1],
    "list": np.ndarray.tolist,
    "memory map": memory_map,
}
WEIGHTS: dict[str, Callable[[np.random.Generator, int], np.ndarray]] = {
    "integers": lambda r, n: r.integers(1, 4, n).astype(float),
    "integers and zeros": lambda r, n: r.integers(0, 3, n).astype(float),
    "fractions": lambda r, n: r.random(n) + 0.2,
    "fractions and zeros": lambda r, n: np.maximum(r.random(n) - 0.3, 0),
    "few large ones": lambda r, n: np.where(r.random(n) < 0.02, 50.0, 1.0),
    "all 1": lambda r, n: np.ones(n),
}


def changed(
    kind: str, array: str | None, weight: str | None, shape: dict[str, Any]
) -> Data:
    """Return planted rows in another kind of array, or with weights."""
    cloud = planted(kind, share=0.2, **shape)
    X, truth, bad = cloud.X, cloud.components, cloud.is_outlier
    if array is not None:
        X = ARRAYS[array](X)
    if array == "backwards":
        truth, bad = truth[:, ::-1], bad[::-1]
    rng = np.random.default_rng(3)
    counts = None if weight is None else WEIGHTS[weight](rng, len(bad))
    return Data(X, truth, bad, counts)


def inputs(
    group: str, kinds: tuple[str, ...], *shapes: dict[str, Any]
) -> Iterator[Case]:
    """Yield every kind of array and of weights."""
    ways = [(array, None) for array in ARRAYS] + [(None, weight) for weight in WEIGHTS]
    ways.append(("float32", "fractions"))
    for shape in shapes:
        for kind in kinds:
            for array, weight in ways:
                label = array or "array"
                if weight:
                    label += f", weights: {weight}"
                name = f"{group}: {shape['n']} x {shape['n_features']}, {kind}, {label}"
                make = functools.partial(changed, kind, array, weight, shape)
                yield Case(group, name, make, {"n_components": shape["n_components"]})
