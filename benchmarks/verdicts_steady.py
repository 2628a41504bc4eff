"""The parts of `verdicts.py` about steadiness, p-values, and whether answers agree."""

from __future__ import annotations

from itertools import product

import numpy as np
from scipy.stats import false_discovery_control

from detectors import NAMES, found_by, on_all_cores
from robpca import Job
from sheet import Sheet
from trueaxis import DSWL
from verdict_data import KINDS_OF_ROWS, Labelled, scattered
from verdict_figures import PEER_SEEDS, percent, target

CHANGES = ("random_state", "jitter of 1e-6 sd", "jitter of 1 %")


def changed(table: Labelled, times: int) -> list[Job]:
    """Return the table as it is, then `times` jobs for every kind of change."""
    rng = np.random.default_rng(0)
    X, k = table.X, table.k
    jobs = [Job(X, k), *(Job(X, k, seed=seed + 1) for seed in range(times))]
    for size in (1e-6, 1e-2):
        sd = size * X.std(axis=0)
        jobs += [Job(X + sd * rng.standard_normal(X.shape), k) for _ in range(times)]
    return jobs


def steady_part(tables: list[Labelled], times: int) -> None:
    """Compare verdicts with those after a change that should not matter."""
    same = {name: steady(name, tables, times if name == "DSWL" else PEER_SEEDS)
            for name in NAMES}  # fmt: skip
    title = f"Same verdicts % after {times} changes ({PEER_SEEDS} of other methods)"
    sheet = Sheet(f"{title}: {', '.join(CHANGES)}", "table", "shape", "k", *NAMES)
    order = np.argsort([row.min() for row in same["DSWL"]], kind="stable")
    for i in order[:15]:
        cells = (", ".join(f"{100 * s:.1f}" for s in same[n][i]) for n in NAMES)
        sheet.add(tables[i].name, tables[i].X.shape, tables[i].k, *cells)
    means = {name: np.nanmean(rows, axis=0) for name, rows in same.items()}
    cells = (", ".join(f"{100 * s:.2f}" for s in means[name]) for name in NAMES)
    sheet.add(f"mean of all {len(tables)} tables", "", "", *cells)
    sheet.show()
    for what, mean, wanted in zip(
        CHANGES, means["DSWL"], (0.995, 0.995, 0.97), strict=True
    ):
        text = f"same verdicts after another {what}".replace("another j", "j")
        figure = f"{100 * mean:.2f} %"
        target("5", text, f">= {100 * wanted:g} %", figure, mean >= wanted)


def steady(name: str, tables: list[Labelled], times: int) -> np.ndarray:
    """Return the share of verdicts that stay, for every table and kind of change."""
    jobs = [job for table in tables for job in changed(table, times)]
    found = found_by(name, jobs)
    out = np.full((len(tables), len(CHANGES)), np.nan)
    for i in range(len(tables)):
        mine = found[i * (3 * times + 1) : (i + 1) * (3 * times + 1)]
        if all(f is not None for f in mine):
            same = [(mine[0].flagged == f.flagged).mean() for f in mine[1:]]
            out[i] = np.reshape(same, (3, times)).mean(axis=1)
    return out


def p_figures(setting) -> np.ndarray:
    """Return for training and new rows: share with p < .01 of regular ones, FDR, power.

    FDR and power are those of the procedure of Benjamini and Hochberg at 10 %.
    """
    train, new = scattered(*setting)
    model = DSWL(train.k).fit(train.X)
    out = []
    for table in (train, new):
        p = model.p_values(table.X)
        out += [(p[~table.bad] < 0.01).mean()]
        out += false_and_found(false_discovery_control(p) <= 0.1, table.bad)
    return np.array(out)


def false_and_found(flagged: np.ndarray, bad: np.ndarray) -> list[float]:
    """Return the share of false ones among the flagged, and the share of bad found."""
    found = flagged[bad].mean() if bad.any() else np.nan
    return [(flagged & ~bad).sum() / max(flagged.sum(), 1), found]


def p_part(seeds: int) -> None:
    """Check p-values, and the false discovery rate that they give."""
    sheet = Sheet(
        f"p-values, 20 columns, k=3, {seeds} seeds: training rows, new rows",
        "rows", "n", "bad", "regular with p < .01, %", "FDR at 10 %", "power",
    )  # fmt: skip
    means = []
    for n, kind, share in product((500, 100), KINDS_OF_ROWS, (0.0, 0.1, 0.3)):
        # Without bad rows, the FDR is the share of tables with any discovery.
        many = seeds if share else 5 * seeds
        settings = [(kind, n, share, seed) for seed in range(many)]
        values = np.mean(on_all_cores(p_figures, settings), axis=0)
        below, fdr, power = (f"{values[i]:.3f}, {values[i + 3]:.3f}" for i in range(3))
        below = f"{100 * values[0]:.2f}, {100 * values[3]:.2f}"
        sheet.add(kind, n, f"{share:.0%}", below, fdr, power if share else "")
        if n == 500:
            means.append(values)
    sheet.show()
    values = np.array(means)
    for i, rows in ((0, "training"), (3, "new")):
        low, high = values[:, i].min(), values[:, i].max()
        target("6", f"regular {rows} rows with p < .01, n = 500", "0.5 to 2 %",
               f"{100 * low:.2f} to {100 * high:.2f} %",
               low >= 0.005 and high <= 0.02)  # fmt: skip
        fdr, power = values[:, i + 1].max(), np.nanmin(values[:, i + 2])
        target("6", f"largest FDR, {rows} rows", "<= .12", f"{fdr:.3f}", fdr <= 0.12)
        target(
            "6", f"least power, {rows} rows", ">= .95", f"{power:.3f}", power >= 0.95
        )
    p_peers()


def p_peers() -> None:
    """Show what the other detectors' own flags give in the same settings."""
    sheet = Sheet(
        f"Own flags in the same settings, n = 500, {PEER_SEEDS} seeds: "
        "regular rows flagged %, FDR, power",
        "rows", "bad", *NAMES,
    )  # fmt: skip
    for kind, share in product(KINDS_OF_ROWS, (0.0, 0.1, 0.3)):
        tables = [scattered(kind, 500, share, seed)[0] for seed in range(PEER_SEEDS)]
        jobs = [Job(table.X, table.k) for table in tables]
        cells = []
        for name in NAMES:
            rows = [
                [f.flagged[~t.bad].mean(), *false_and_found(f.flagged, t.bad)]
                for f, t in zip(found_by(name, jobs), tables, strict=True)
            ]
            false, fdr, power = np.mean(rows, axis=0)
            cells.append(
                f"{100 * false:.1f}, {fdr:.3f}" + f", {power:.3f}" * (share > 0)
            )
        sheet.add(kind, f"{share:.0%}", *cells)
    sheet.show()


def answers(table: Labelled) -> list[bool]:
    """Return whether answers agree, whether the level moves scores, and two counts."""
    X, k = table.X, table.k
    model = DSWL(k).fit(X)
    regular, p = model.support_, model.p_values(X)
    loud, told = DSWL(k, level=0.05).fit(X), DSWL(k, contamination=0.1).fit(X)
    same = [np.array_equal(regular, model.predict(X) > 0),
            np.array_equal(regular, DSWL(k).fit_predict(X) > 0),
            len(model.outliers(X)) == (~regular).sum()]  # fmt: skip
    return [
        all(same),
        np.array_equal(model.score_samples(X), loud.score_samples(X)),
        abs((~told.support_).sum() - 0.1 * len(X)) <= 1,
        len(model.outliers(X, fdr=0.1)) == (false_discovery_control(p) <= 0.1).sum(),
    ]


def answers_part(tables: list[Labelled]) -> None:
    agree = np.mean(on_all_cores(answers, tables), axis=0)
    for what, share in zip(
        (
            "tables where support_, predict, fit_predict and outliers agree",
            "tables where scores do not depend on the level",
            "tables where contamination=0.1 flags a tenth",
            "tables where outliers(fdr=0.1) is Benjamini and Hochberg's answer",
        ),
        agree,
        strict=True,
    ):
        target("7", what, "all", percent(share), share == 1)
