"""Draw hostile tables: shapes, structures, scales, spoiled cells, and containers."""

from __future__ import annotations

import decimal
import fractions
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

Rng = np.random.Generator
LARGEST = float(np.finfo(float).max)
DENORMAL = 5e-324


class Table(NamedTuple):
    """What is passed to the package, and the numbers it stands for."""

    X: Any
    numbers: np.ndarray
    story: str  # how it was made, for people who read a finding


def pick(rng: Rng, items: Any) -> Any:
    """Return one of some items, without turning it into an array."""
    items = list(items)
    return items[int(rng.integers(len(items)))]


def often(rng: Rng, share: float) -> bool:
    """Return True for this share of the calls."""
    return bool(rng.random() < share)


# ------------------------------------------------------------------------------- shapes


def draw_shape(rng: Rng) -> tuple[int, int]:
    """Return numbers of rows and columns: mostly small, sometimes degenerate."""
    kind = rng.random()
    if kind < 0.08:
        return int(rng.integers(0, 4)), int(rng.integers(0, 4))
    if kind < 0.55:
        return int(rng.integers(4, 45)), int(rng.integers(1, 9))
    if kind < 0.8:
        return int(rng.integers(40, 130)), int(rng.integers(2, 14))
    if kind < 0.93:
        return int(rng.integers(2, 16)), int(rng.integers(16, 90))
    return int(rng.integers(130, 700)), int(rng.integers(1, 4))


# --------------------------------------------------------------------------- structures


def _low_rank(rng: Rng, n: int, D: int) -> np.ndarray:
    rank = int(rng.integers(0, max(1, min(n, D)) + 1))
    return rng.standard_normal((n, rank)) @ rng.standard_normal((rank, D))


def _noisy_low_rank(rng: Rng, n: int, D: int) -> np.ndarray:
    noise = 10.0 ** rng.uniform(-12, 0)
    return _low_rank(rng, n, D) + noise * rng.standard_normal((n, D))


def _clusters(rng: Rng, n: int, D: int) -> np.ndarray:
    centers = rng.standard_normal((int(rng.integers(2, 5)), D)) * 10 ** rng.uniform(
        0, 4
    )
    return centers[rng.integers(len(centers), size=n)] + rng.standard_normal((n, D))


def _duplicates(rng: Rng, n: int, D: int) -> np.ndarray:
    X = rng.standard_normal((max(n, 1), D))
    return X[rng.integers(int(rng.integers(1, max(n, 1) + 1)), size=n)]


def _ties(rng: Rng, n: int, D: int) -> np.ndarray:
    return rng.integers(0, int(rng.integers(1, 6)), (n, D)).astype(float)


def _one_hot(rng: Rng, n: int, D: int) -> np.ndarray:
    return np.eye(max(D, 1), D)[rng.integers(max(D, 1), size=n)]


def _curve(rng: Rng, n: int, D: int) -> np.ndarray:
    t = np.linspace(0, 2 * np.pi, n)[:, None]
    return np.sin(t * np.arange(1, D + 1) + rng.random(D))


STRUCTURES: dict[str, Callable[[Rng, int, int], np.ndarray]] = {
    "normal": lambda rng, n, D: rng.standard_normal((n, D)),
    "low rank": _low_rank,
    "low rank and noise": _noisy_low_rank,
    "clusters": _clusters,
    "duplicates": _duplicates,
    "ties": _ties,
    "one-hot": _one_hot,
    "curve": _curve,
    "cauchy": lambda rng, n, D: rng.standard_cauchy((n, D)),
    "lognormal": lambda rng, n, D: rng.lognormal(0, 2, (n, D)),
    "constant": lambda rng, n, D: np.full((n, D), rng.standard_normal()),
}


# -------------------------------------------------------------- scales, spoiled cells


def _rescale(rng: Rng, X: np.ndarray) -> tuple[np.ndarray, str]:
    """Return X in another unit, or far from the origin."""
    kind = rng.random()
    if kind < 0.55:
        return X, ""
    if kind < 0.7:
        unit = 10.0 ** rng.uniform(-320, 170)
        return X * unit, f" x {unit:.1e}"
    if kind < 0.85:
        units = 10.0 ** rng.uniform(-20, 20, X.shape[1])
        return X * units, " in unlike units"
    far = 10.0 ** rng.uniform(2, 18) * np.sign(rng.standard_normal())
    return X + far, f" + {far:.1e}"


def _spoil(rng: Rng, X: np.ndarray) -> str:
    """Spoil some cells in place; return what was done."""
    n, D = X.shape
    if n == 0 or D == 0:
        return ""
    row, column = int(rng.integers(n)), int(rng.integers(D))
    what = pick(rng, ["cell", "cell", "row", "column", "some", "holes"])
    value = pick(
        rng,
        [LARGEST, -LARGEST, 1e300, -1e200, 1e154, 1e100, DENORMAL, -0.0, 0.0, 1e15,
         np.nan, np.inf, -np.inf],
    )  # fmt: skip
    if what == "cell":
        X[row, column] = value
    elif what == "row":
        X[row] = value
    elif what == "column":
        X[:, column] = value
    elif what == "some":
        X[rng.random(X.shape) < rng.random()] = value
    else:
        value = np.nan
        X[rng.random(X.shape) < rng.random() * 0.4] = value
    return f", {what} = {value}"


def draw_numbers(rng: Rng, shape: tuple[int, int] | None = None) -> tuple[Any, str]:
    """Return an array of float64, and its story."""
    n, D = shape or draw_shape(rng)
    name = pick(rng, STRUCTURES)
    with np.errstate(all="ignore"):  # the package is tested, not this
        X, scale = _rescale(rng, np.array(STRUCTURES[name](rng, n, D), dtype=float))
    X = np.array(X)
    spoilt = _spoil(rng, X) if often(rng, 0.25) else ""
    return X, f"{n} x {D} {name}{scale}{spoilt}"


# --------------------------------------------------------------------------- containers


def _names(rng: Rng, D: int) -> list[Any]:
    kind = rng.random()
    if kind < 0.6:
        return [f"x{i}" for i in range(D)]
    if kind < 0.75:
        return [pick(rng, ["=1+1", "ä", "a,b", 'q"', "\x1b[31m", " ", "n\nl"]) + str(i)
                for i in range(D)]  # fmt: skip
    return ["same"] * D if kind < 0.85 else list(range(D))


def _pandas(rng: Rng, X: np.ndarray) -> Any:
    import pandas as pd

    frame = pd.DataFrame(X, columns=_names(rng, X.shape[1]))
    kind = rng.random()
    if kind < 0.2 and frame.columns.is_unique:
        frame = frame.convert_dtypes()
    elif kind < 0.3 and X.shape[1] and frame.columns.is_unique:
        frame[frame.columns[0]] = pick(
            rng, ["word", pd.Timestamp("2026-01-01"), None, 1 + 2j, True]
        )
    if often(rng, 0.3):
        frame.index = pd.Index([f"row {i}" for i in range(len(frame))])
    return frame


def _polars(rng: Rng, X: np.ndarray) -> Any:
    import polars

    names = [f"x{i}" for i in range(X.shape[1])]
    return polars.DataFrame(dict(zip(names, X.T.copy(), strict=True)))


def _arrow(rng: Rng, X: np.ndarray) -> Any:
    import pyarrow

    names = [f"x{i}" for i in range(X.shape[1])]
    return pyarrow.table([pyarrow.array(x) for x in X.T], names=names)


def _strided(rng: Rng, X: np.ndarray) -> np.ndarray:
    wide = np.zeros((2 * X.shape[0], 3 * X.shape[1]))
    wide[::2, ::3] = X
    return wide[::2, ::3]


def _read_only(rng: Rng, X: np.ndarray) -> np.ndarray:
    X = X.copy()
    X.flags.writeable = False
    return X


def _masked(rng: Rng, X: np.ndarray) -> Any:
    share = pick(rng, [0.0, 0.1, 0.9])
    return np.ma.masked_array(X, rng.random(X.shape) < share)


def _objects(rng: Rng, X: np.ndarray) -> np.ndarray:
    cells = X.astype(object)
    if cells.size and often(rng, 0.5):
        odd = [None, "1.5", "word", b"x", 10**400, decimal.Decimal("1.5"), True, [],
               fractions.Fraction(1, 3), 1j, np.datetime64("2026-01-01")]  # fmt: skip
        cells.flat[int(rng.integers(cells.size))] = pick(rng, odd)
    return cells


def _sparse(rng: Rng, X: np.ndarray) -> Any:
    import scipy.sparse

    return scipy.sparse.csr_matrix(X)


def _as(dtype: Any) -> Callable[[Rng, np.ndarray], Any]:
    def convert(rng: Rng, X: np.ndarray) -> Any:
        with np.errstate(all="ignore"):
            return np.nan_to_num(X, posinf=0, neginf=0).astype(dtype)

    return convert


def _float(dtype: Any) -> Callable[[Rng, np.ndarray], Any]:
    def convert(rng: Rng, X: np.ndarray) -> Any:
        with np.errstate(all="ignore"):
            return X.astype(dtype)

    return convert


def _reshaped(rng: Rng, X: np.ndarray) -> Any:
    ragged = [[1.0, 2.0], [3.0]]
    odd = [X.ravel(), X[None], ragged, np.float64(3.0), None, {"a": 1}, [], [[]],
           iter(X.tolist()), "nowhere.npy", object(), b"x"]  # fmt: skip
    return pick(rng, odd)


CONTAINERS: dict[str, Callable[[Rng, np.ndarray], Any]] = {
    "float32": _float("f4"),
    "float16": _float("f2"),
    "longdouble": _float("g"),
    "big-endian": _float(">f8"),
    "int8": _as("i1"),
    "int64": _as("i8"),
    "uint64": _as("u8"),
    "bool": _as("?"),
    "complex": _float("c16"),
    "days": _as("M8[D]"),
    "durations": _as("m8[s]"),
    "text": lambda rng, X: X.astype("U12"),
    "objects": _objects,
    "masked": _masked,
    "lists": lambda rng, X: X.tolist(),
    "tuples": lambda rng, X: tuple(map(tuple, X.tolist())),
    "fortran": lambda rng, X: np.asfortranarray(X),
    "strided": _strided,
    "reversed": lambda rng, X: X[::-1, ::-1],
    "read-only": _read_only,
    "sparse": _sparse,
    "pandas": _pandas,
    "polars": _polars,
    "arrow": _arrow,
    "no table": _reshaped,
}
# Those that are taken as they are.
TAKEN = ["float32", "big-endian", "int8", "int64", "bool", "lists", "tuples", "fortran",
         "strided", "reversed", "read-only", "pandas", "polars"]  # fmt: skip
PLAIN = 0.6  # share of tables that are plain arrays


def draw_table(
    rng: Rng, shape: tuple[int, int] | None = None, folder: Path | None = None
) -> Table:
    """Return a table in some container; if there is a folder, sometimes in a file."""
    X, story = draw_numbers(rng, shape)
    if often(rng, PLAIN):
        return Table(X, X, story)
    if folder is not None and X.size and often(rng, 0.1):
        path = folder / "table.npy"
        np.save(path, X if often(rng, 0.5) else np.asfortranarray(X))
        how = pick(rng, ["path", "memmap"])
        source = path if how == "path" else np.load(path, mmap_mode="r")
        return Table(source, X, f"{story}, {how}")
    name = pick(rng, TAKEN if often(rng, 0.6) else CONTAINERS)
    return Table(CONTAINERS[name](rng, X), X, f"{story}, as {name}")
