"""GATHER what the page says in words and small tables, as plain values."""

from __future__ import annotations

import importlib.metadata
import platform
from typing import Any

import numpy as np
from numpy.typing import NDArray

import trueaxis
from trueaxis.diagnostics import TrustPath
from trueaxis.diagnostics.influence import responsible
from trueaxis.plots.canvas import percent
from trueaxis.report.analysis import Analysis
from trueaxis.report.points import (
    MOST_LISTED,
    chosen_rows,
    marks,
    tidy,
)
from trueaxis.report.sentences import (
    CALLED,
    MEANS,
    because,
    change,
    hints,
    how_it_went,
    verdict,
)
from trueaxis.report.snippet import Origin, code

FEW = 6  # columns, or rows, of a table about plain PCA
PLAIN_ROWS = 50  # of the table for browsers without scripts
LIBRARIES = ("numpy", "scipy", "scikit-learn")
TURN = 10.0  # degrees from which a step of the trust path is worth a sentence


def words(
    found: Analysis,
    path: TrustPath | None,
    *,
    title: str | None,
    source: str | None,
    origin: Origin | None,
    command: str | None,
    seconds: float | None,
) -> dict[str, Any]:
    """What the page says apart from the map, the long table and the figures.

    Parameters
    ----------
    found : Analysis
    path : TrustPath or None
    title, source, origin, command, seconds
        See `trueaxis.report.render`.

    Returns
    -------
    dict
        Of texts, numbers and lists of them.
    """
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
        "path": None if path is None else told_path(path),
        "plain": plain(found),
        "fit": how_it_went(found, seconds),
        "repeat": repeat(found, origin, command),
    }


def key_figures(found: Analysis) -> list[tuple[str, str]]:
    """Name and value of the numbers to know first."""
    model, (n, D) = found.model, found.raw.shape
    share = model.explained_variance_ratio_.sum()
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
    score, off = d.score_ratio, d.orthogonal_ratio
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
    moved = found.most_shifted[:FEW]
    return {
        "angles": [f"{angle:.1f}" for angle in found.effect.angles[:FEW]],
        "more_angles": max(len(found.effect.angles) - FEW, 0),
        "columns": [
            {
                "name": found.names[j],
                "robust": short(found.centre[j]),
                "plain": short(found.plain_centre[j]),
                "shift": signed(found.shift[j]),
            }
            for j in moved
        ],
        "more_columns": found.raw.shape[1] - len(moved),
        "tilt": who_moved(found, found.effect.tilt_share),
        "shift": who_moved(found, found.effect.shift_share),
    }


def who_moved(found: Analysis, share: NDArray[Any]) -> list[dict[str, str]]:
    """Rows of the largest shares in a change."""
    return [
        {
            "id": found.ids[row],
            "kind": CALLED[found.diagnosis.kind[row]],
            "share": percent(share[row]),
        }
        for row in responsible(share)[:FEW]
    ]


def told_path(path: TrustPath) -> str:
    """Say what the trust path shows."""
    jump = path.jump
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


def repeat(
    found: Analysis, origin: Origin | None, command: str | None
) -> dict[str, Any]:
    """Parameters, versions, and code that does the same again."""
    steps = [step for step in (found.scaler, found.model) if step is not None]
    n, D = found.raw.shape
    return {
        "command": command,
        "shape": f"{n:,} rows, {D:,} columns",
        "code": code(found, origin),
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


def short(x: float) -> str:
    """Four digits of a number."""
    if np.isinf(x):
        return "∞"
    text = f"{x:,.0f}" if 1000 <= abs(x) < 1e6 else f"{x:.4g}"
    return text.replace("-", "−")


def signed(x: float) -> str:
    """Three digits of a difference, always with its sign."""
    return f"{x:+.3g}".replace("-", "−")
