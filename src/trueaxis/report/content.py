"""GATHER what the page says in words and small tables, as plain values."""

from __future__ import annotations

import importlib.metadata
import platform
from typing import Any

import numpy as np
from numpy.typing import NDArray

import trueaxis
from trueaxis.analysis import Analysis
from trueaxis.diagnostics import TrustPath, over
from trueaxis.report.points import (
    MOST_LISTED,
    chosen_rows,
    marks,
    shortened,
    tidy,
)
from trueaxis.story import CALLED, MEANS, because, change, hints, verdict

FEW = 6  # columns, or rows, of a table about plain PCA
PLAIN_ROWS = 50  # of the table for browsers without scripts
LEAST = 0.0005  # share of a row that is worth a line
LIBRARIES = ("numpy", "scipy", "scikit-learn")
TURN = 10.0  # degrees from which a step of the trust path is worth a sentence


def words(
    found: Analysis,
    *,
    title: str | None,
    source: str | None,
    command: str | None,
    seconds: float | None,
) -> dict[str, Any]:
    """What the page says apart from the map, the long table and the figures.

    Parameters
    ----------
    found : Analysis
    title, source, command, seconds
        See `trueaxis.report.render`.

    Returns
    -------
    dict
        Of texts, numbers and lists of them.
    """
    found = shortened(found)
    heading = title or (f"Outliers in {source}" if source else "Outlier report")
    return {
        "title": tidy(heading),
        "source": tidy(source or ""),
        "verdict": verdict(found),
        "change": change(found),
        "hints": hints(found),
        "key_figures": key_figures(found),
        "kinds": [
            {
                "name": kind,
                "called": CALLED[kind],
                "means": MEANS[kind],
                "count": f"{found.counts.get(kind, 0):,}",
                **mark,
            }
            for kind, mark in marks().items()
        ],
        "has_flagged": len(found.flagged) > 0,
        "has_labels": found.labels is not None,
        "has_weights": hasattr(found.model, "weights_"),
        "of_the_fit": found.of_the_fit,
        "counted": bool((found.ids == np.arange(len(found.ids)).astype(str)).all()),
        "left_out": left_out(found),
        "worst": worst_rows(found),
        "plain": plain(found),
        "fit": how_it_went(found, seconds),
        "repeat": repeat(found, source, command),
    }


def key_figures(found: Analysis) -> list[tuple[str, str]]:
    """Name and value of the numbers to know first."""
    model, (n, D) = found.model, found.raw.shape
    share = float(np.sum(model.explained_variance_ratio_))
    bad = len(found.flagged)
    return [
        ("rows", f"{n:,}"),
        ("flagged", f"{bad:,} ({percent(bad / n)})"),
        ("columns", f"{D:,}"),
        ("components", f"{model.n_components_:,}"),
        ("variance explained", percent(share)),
    ]


def left_out(found: Analysis) -> dict[str, str]:
    """What the map and the table do not show, in a sentence for each."""
    chosen, bad, n = chosen_rows(found), len(found.flagged), len(found.ids)
    drawn = int(found.diagnosis.flagged[chosen].sum())
    said = {"map": "", "table": ""}
    if len(chosen) < n:
        which = "all" if drawn == bad else f"the worst {drawn:,} of"
        said["map"] = (
            f"The map draws {len(chosen):,} of {n:,} rows: {which} {bad:,} flagged "
            f"rows, and {len(chosen) - drawn:,} regular rows, evenly spaced."
        )
    if bad > MOST_LISTED:
        said["table"] = (
            f"The table lists the worst {MOST_LISTED:,} of {bad:,} flagged rows."
        )
    return said


def worst_rows(found: Analysis) -> list[dict[str, str]]:
    """Return the worst rows, for browsers without scripts."""
    d = found.diagnosis
    score = over(d.score, d.score_cutoff)
    off = over(d.orthogonal, d.orthogonal_cutoff)
    return [
        {
            "id": found.ids[row],
            "label": "" if found.labels is None else found.labels[row],
            "kind": CALLED[d.kind[row]],
            "score": short(score[row]),
            "off": short(off[row]),
            "because": because(found, row),
        }
        for row in found.flagged[:PLAIN_ROWS]
    ]


def plain(found: Analysis) -> dict[str, Any]:
    """What plain PCA would have said: angles, moved means, and the rows behind it."""
    moved = np.argsort(-np.abs(found.effect.shift), kind="stable")[:FEW]
    return {
        "angles": [f"{angle:.1f}" for angle in found.effect.angles[:FEW]],
        "more_angles": max(len(found.effect.angles) - FEW, 0),
        "columns": [
            {
                "name": found.names[j],
                "robust": short(found.centre[j]),
                "plain": short(found.centre[j] + found.shift[j]),
                "shift": signed(found.shift[j]),
            }
            for j in moved
        ],
        "more_columns": found.raw.shape[1] - len(moved),
        "tilt": responsible(found, found.effect.tilt_share),
        "shift": responsible(found, found.effect.shift_share),
    }


def responsible(found: Analysis, share: NDArray) -> list[dict[str, str]]:
    """Rows of the largest shares in a change."""
    order = np.argsort(-share, kind="stable")[:FEW]
    return [
        {
            "id": found.ids[row],
            "kind": CALLED[found.diagnosis.kind[row]],
            "share": percent(share[row]),
        }
        for row in order
        if share[row] >= LEAST
    ]


def how_it_went(found: Analysis, seconds: float | None) -> str:
    """Whether the fit settled, after how many iterations, and how long it took."""
    model = found.model
    rounds = "1 iteration" if model.n_iter_ == 1 else f"{model.n_iter_:,} iterations"
    end = "settled after" if model.converged_ else "had not settled when it stopped at"
    time = "" if seconds is None else f" It took {seconds:.3g} seconds."
    return f"The fit of {type(model).__name__} {end} {rounds}.{time}"


def told_path(path: TrustPath) -> str:
    """Say what the trust path shows."""
    jump = int(path.step.argmax())
    turn, at = path.step[jump], path.trust[jump]
    left = path.to_model[-1]
    if turn < TURN and left >= TURN:
        return (
            f"The path starts from all rows alike and ends {left:.0f} degrees away "
            "from the model's subspace: less trust alone does not free the axes from "
            "the bad rows, it takes the start that the model had."
        )
    if turn < TURN:
        return (
            "No step turns the subspace by more than "
            f"{max(turn, 0.1):.1f} degrees: no group of rows holds the axes alone."
        )
    return (
        f"When trust falls from {path.trust[jump - 1]:g} to {at:g}, the subspace turns "
        f"by {turn:.0f} degrees: rows that held the axes until then let go. At the "
        f"end of the path it is {left:.1f} degrees away from the model's."
    )


def repeat(found: Analysis, source: str | None, command: str | None) -> dict[str, Any]:
    """Parameters, versions, and code that fits the same again."""
    steps = [step for step in (found.scaler, found.model) if step is not None]
    names = ", ".join(type(step).__name__ for step in steps)
    n, D = found.raw.shape
    made = repr(steps[-1])
    lines = [f"from trueaxis import {names}"]
    if len(steps) > 1:
        lines.insert(0, "from sklearn.pipeline import make_pipeline")
        made = f"make_pipeline({', '.join(map(repr, steps))})"
    if source:
        lines += ["from trueaxis.tables import read_table", ""]
        # In quotes, so that no name of a file can become code.
        lines.append(f"X = read_table({source!r}).X  # {n:,} x {D:,}")
    else:
        lines += ["", f"X = ...  # your {n:,} x {D:,} table"]
    return {
        "command": command,
        "shape": f"{n:,} rows, {D:,} columns",
        "code": "\n".join([*lines, f"model = {made}.fit(X)"]),
        "parameters": [
            {
                "step": type(step).__name__,
                "values": [
                    (name, repr(value)) for name, value in step.get_params().items()
                ],
            }
            for step in steps
        ],
        "versions": [
            ("trueaxis", trueaxis.__version__),
            ("Python", platform.python_version()),
            *((name, importlib.metadata.version(name)) for name in LIBRARIES),
        ],
    }


def percent(share: float) -> str:
    """Say a share in per cent, with a digit more where it is small."""
    value = 100 * float(share)
    return f"{value:.0f} %" if value >= 9.95 or value == 0 else f"{value:.1f} %"


def short(x: float) -> str:
    """Four digits of a number."""
    if np.isinf(x):
        return "∞"
    text = f"{x:,.0f}" if 1000 <= abs(x) < 1e6 else f"{x:.4g}"
    return text.replace("-", "−")


def signed(x: float) -> str:
    """Three digits of a difference, always with its sign."""
    return f"{x:+.3g}".replace("-", "−")
