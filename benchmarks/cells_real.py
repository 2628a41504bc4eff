"""Holes and wrong cells in real tables, for `cells.py`.

Tables are z-scored. Figures of a fit are the variance of the clean table that its axes
lose, over what PCA of the clean table loses; holes are compared in column deviations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sklearn import datasets
from sklearn.decomposition import PCA

from cells_figures import cpu, imputed, lost, noted, rmse, share
from paper_data import UCI, uci_table
from sheet import CONSOLE, Sheet
from trueaxis import DSWL
from trueaxis.diagnostics import cell_map
from verdict_figures import percent, target

MOST_ROWS = 2000
FEWEST_VALUES = 10  # a column with fewer different values is not continuous
BEYOND = 1.0  # a wrong cell is gross if it is this many sds outside the clean range


class RealTable(NamedTuple):
    """A z-scored table, the raw one, and the number of components."""

    name: str
    X: np.ndarray
    raw: np.ndarray
    k: int


def real_tables(data_home: str | None) -> Iterator[RealTable]:
    """Yield the tables of scikit-learn, and those of the paper with more columns."""
    yield z_scored("wine", datasets.load_wine().data, 3)
    yield z_scored("breast cancer", datasets.load_breast_cancer().data, 3)
    yield z_scored("diabetes", datasets.load_diabetes(scaled=False).data, 3)
    yield z_scored("digits", datasets.load_digits().data[:600], 8)
    if data_home is None:
        CONSOLE.print("The paper's tables: no data. Pass --data-home DIR.")
        return
    for name in UCI:
        if name in ("wine", "breast_cancer"):
            continue
        X = uci_table(Path(data_home), name)
        X = X[:, [len(np.unique(x)) >= FEWEST_VALUES for x in X.T]]
        if X.shape[1] > 3:
            yield z_scored(name, X, 3)


def z_scored(name: str, raw: np.ndarray, k: int) -> RealTable:
    raw = raw[:, raw.std(axis=0) > 0]
    if len(raw) > MOST_ROWS:
        rng = np.random.default_rng(0)
        raw = raw[np.sort(rng.choice(len(raw), MOST_ROWS, replace=False))]
    return RealTable(name, (raw - raw.mean(axis=0)) / raw.std(axis=0), raw, k)


def at_random(X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return rng.random(X.shape) < 0.25


def block(X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Leave out half of the rows, in sequence, of a third of the columns."""
    n, D = X.shape
    first = rng.integers(n - n // 2)
    hole = np.zeros((n, D), dtype=bool)
    columns = rng.choice(D, max(D // 3, 1), replace=False)
    hole[first : first + n // 2, columns] = True
    return hole


def large_values(X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return (X > np.quantile(X, 0.75, axis=0)) & (rng.random(X.shape) < 0.6)


def half_empty(X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    D = X.shape[1]
    columns = np.isin(np.arange(D), rng.choice(D, max(D // 3, 1), replace=False))
    return columns & (rng.random(X.shape) < 0.5)


HOLES: dict[str, Callable] = {
    "25 % at random": at_random,
    "a block": block,
    "large values": large_values,
    "columns half empty": half_empty,
}


def with_holes(X: np.ndarray, kind: str, seed: int) -> np.ndarray:
    """Return the table with holes; every row keeps at least one cell."""
    rng = np.random.default_rng(seed)
    hole = HOLES[kind](X, rng)
    empty = np.flatnonzero(hole.all(axis=1))
    hole[empty, rng.integers(X.shape[1], size=len(empty))] = False
    return np.where(hole, np.nan, X)


def holes_figures(table: RealTable, kind: str, seed: int) -> list[float]:
    """Return lost variance, rmse and CPU time of DSWL and of the imputer."""
    X = with_holes(table.X, kind, seed)
    holes = np.isnan(X)
    figures = [np.nan] * 4
    with noted(f"{table.name}, {kind}"):
        model, seconds = cpu(lambda: DSWL(table.k).fit(X))
        error = rmse(model.repair(X, wrong=False), table.X, holes)
        both = DSWL(table.k, cells=True).fit(X)
        axes = model.components_, both.components_
        figures = [*(lost(table.X, a) for a in axes), error, seconds]
    filled, impute_seconds = cpu(lambda: imputed(X))
    plain, seconds = cpu(lambda: PCA(table.k).fit(filled))
    return [
        *figures, lost(table.X, plain.components_), rmse(filled, table.X, holes),
        impute_seconds + seconds,
    ]  # fmt: skip


def holes_part(seeds: range, data_home: str | None) -> None:
    sheet = Sheet(
        f"Real tables with holes, {len(seeds)} seeds: lost variance over the oracle's, "
        "rmse of holes, CPU s",
        "table", "shape", "holes", "DSWL, complete", "DSWL", "Imputer + PCA", "ratio",
        "DSWL(cells=True)", "rmse: DSWL", "rmse: imputer", "ratio", "CPU: DSWL",
        "CPU: imputer", "ratio",
    )  # fmt: skip
    ratios, names, sizes = [], [], []
    for table in real_tables(data_home):
        complete = lost(table.X, DSWL(table.k).fit(table.X).components_)
        for kind in HOLES:
            runs = np.array([holes_figures(table, kind, seed) for seed in seeds])
            mine, both, error, seconds, peer, peer_error, peer_seconds = runs.mean(
                axis=0
            )
            ratio = mine / peer, error / peer_error, seconds / peer_seconds
            sheet.add(
                table.name, f"{len(table.X)} x {table.X.shape[1]}", kind,
                f"{complete:.3f}", f"{mine:.3f}", f"{peer:.3f}", f"{ratio[0]:.3f}",
                f"{both:.3f}", f"{error:.3f}", f"{peer_error:.3f}", f"{ratio[1]:.3f}",
                f"{seconds:.3f}", f"{peer_seconds:.3f}", f"{ratio[2]:.2f}",
            )  # fmt: skip
            ratios.append(ratio)
            names.append(f"{table.name}, {kind}")
            sizes.append(table.X.shape[1])
    sheet.show()
    ratios, wide = np.array(ratios), np.array(sizes) >= 30
    judge("lost variance over the imputer's", ratios[:, 0], names, 1.03)
    judge("rmse of holes over the imputer's", ratios[:, 1], names, 1.0)
    some = [name for name, is_wide in zip(names, wide, strict=True) if is_wide]
    judge("CPU over the imputer's, 30 columns and more", ratios[wide, 2], some, 0.1)


def judge(what: str, ratios: np.ndarray, names: list[str], limit: float) -> None:
    """List the worst ratio, and how many of all are within the limit, as a target."""
    worst = int(np.nanargmax(ratios))
    within = int((ratios <= limit).sum())
    target(
        "2", f"real tables: {what}, worst ({names[worst]}); within: "
        f"{within} of {len(ratios)}, geometric mean "
        f"{np.exp(np.nanmean(np.log(ratios))):.3f}",
        f"<= {limit}", f"{ratios[worst]:.3f}", within == len(ratios),
    )  # fmt: skip


class Planted(NamedTuple):
    """A table with wrong cells in column deviations, and which of them are wrong."""

    X: np.ndarray
    wrong: np.ndarray


def shifted(table: RealTable, rng: np.random.Generator) -> Planted:
    wrong = rng.random(table.X.shape) < 0.05
    return Planted(np.where(wrong, table.X + 6, table.X), wrong)


def two_sided(table: RealTable, rng: np.random.Generator) -> Planted:
    shape = table.X.shape
    wrong = rng.random(shape) < 0.05
    size = rng.uniform(4, 10, shape) * rng.choice([-1, 1], shape)
    return Planted(np.where(wrong, table.X + size, table.X), wrong)


def times_ten(table: RealTable, rng: np.random.Generator) -> Planted:
    """Move the decimal point of raw values; zeros stay, and are not wrong."""
    wrong = (rng.random(table.X.shape) < 0.05) & (table.raw != 0)
    raw = np.where(wrong, 10 * table.raw, table.raw)
    return Planted((raw - table.raw.mean(axis=0)) / table.raw.std(axis=0), wrong)


def few_columns(table: RealTable, rng: np.random.Generator) -> Planted:
    """Shift a fifth of the cells of 5 columns, or of a third of fewer than 15."""
    D = table.X.shape[1]
    chosen = rng.choice(D, min(5, max(D // 3, 1)), replace=False)
    wrong = np.isin(np.arange(D), chosen) & (rng.random(table.X.shape) < 0.2)
    return Planted(np.where(wrong, table.X + 6, table.X), wrong)


def nothing(table: RealTable, rng: np.random.Generator) -> Planted:
    return Planted(table.X, np.zeros(table.X.shape, dtype=bool))


KINDS: dict[str, Callable] = {
    "nothing": nothing,
    "5 %, +6 sds": shifted,
    "5 %, 4 to 10 sds, two-sided": two_sided,
    "5 %, times ten": times_ten,
    "5 columns, +6 sds": few_columns,
}


def gross(table: RealTable, planted: Planted) -> np.ndarray:
    """Return the wrong cells outside the clean range of their column by a deviation.

    Others lie where good cells of the same column lie as well (a long tail, or a value
    near zero times ten): whether they can be told depends on the row alone.
    """
    low, high = table.X.min(axis=0) - BEYOND, table.X.max(axis=0) + BEYOND
    return planted.wrong & ((planted.X < low) | (planted.X > high))


def cells_figures(table: RealTable, kind: str, seed: int) -> list[float]:
    """Return lost variance, shares of cells found, flagged, and of PCA and DSWL."""
    planted = KINDS[kind](table, np.random.default_rng(seed))
    far, X = gross(table, planted), planted.X
    figures = [np.nan] * 5
    with noted(f"{table.name}, {kind}"):
        model = DSWL(table.k, cells=True).fit(X)
        seen = cell_map(model, X)
        figures = [
            lost(table.X, model.components_),
            share(seen.wrong, far),
            share(seen.wrong, planted.wrong),
            share(seen.wrong, ~planted.wrong),
            float(seen.outlier.mean()),
        ]
    part = far.sum() / planted.wrong.sum() if planted.wrong.any() else np.nan
    rowwise = lost(table.X, DSWL(table.k).fit(X).components_)
    plain = lost(table.X, PCA(table.k).fit(X).components_)
    return [*figures, part, rowwise, plain]


def cells_part(seeds: range, data_home: str | None) -> None:
    sheet = Sheet(
        f"Real tables with wrong cells, {len(seeds)} seeds: lost variance over the "
        "oracle's, cells %. Gross: beyond the clean range of the column by one sd",
        "table", "planted", "DSWL, unspoiled", "DSWL(cells=True)", "gross found %",
        "all found %", "good flagged %", "rows flagged %", "gross among planted %",
        "DSWL", "PCA",
    )  # fmt: skip
    runs: dict[str, list[np.ndarray]] = {kind: [] for kind in KINDS}
    names = []
    for table in real_tables(data_home):
        names.append(table.name)
        unspoiled = lost(table.X, DSWL(table.k).fit(table.X).components_)
        for kind in KINDS:
            some = seeds[:1] if kind == "nothing" else seeds
            every = [cells_figures(table, kind, seed) for seed in some]
            mean = np.nanmean(every, axis=0) if kind != "nothing" else every[0]
            lost_by, *shares, rowwise, plain = mean
            sheet.add(
                table.name, kind, f"{unspoiled:.3f}", f"{lost_by:.3f}",
                *("" if np.isnan(x) else f"{100 * x:.1f}" for x in shares),
                f"{rowwise:.3f}", f"{plain:.3f}",
            )  # fmt: skip
            runs[kind].append(np.asarray(mean, dtype=float))
    sheet.show()
    for kind, rows in runs.items():
        judge_cells(kind, names, np.array(rows))


def judge_cells(kind: str, names: list[str], runs: np.ndarray) -> None:
    """List the worst table of a kind, and how many are within limits, as targets."""
    for what, i, limit, sign in (
        ("lost variance", 0, 1.05, 1),
        ("gross cells found", 1, 0.9, -1),
        ("good cells flagged", 3, 0.02, 1),
    ):
        values = runs[:, i]
        if np.isnan(values).all():
            continue
        worst = int(np.nanargmax(sign * values))
        known = ~np.isnan(values)
        within = int((sign * values[known] <= sign * limit).sum())
        shown = [f"{x:.3f}" if i == 0 else percent(x) for x in (limit, values[worst])]
        target(
            "3", f"real tables, {kind}: {what}, worst ({names[worst]}); within: "
            f"{within} of {known.sum()}",
            f"{'<=' if sign > 0 else '>='} {shown[0]}", shown[1], within == known.sum(),
        )  # fmt: skip
