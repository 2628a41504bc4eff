"""TELL machines: an analysis as columns of a table, or as JSON-able values."""

from __future__ import annotations

from typing import Any

import numpy as np

from trueaxis import __version__
from trueaxis.diagnostics import reasons
from trueaxis.diagnostics.comparison import ComparedMethod
from trueaxis.report import sentences as story
from trueaxis.report.analysis import Analysis, names_are_known


def who(ids: Any, labels: Any, n: int) -> dict[str, Any]:
    """Names and labels of rows, as columns of a table."""
    fields = {"row": np.arange(n) if ids is None else ids}
    return fields if labels is None else fields | {"label": labels}


def scored(found: Analysis) -> dict[str, Any]:
    """What is said about every row, as columns of a table."""
    d = found.diagnosis
    fields = who(found.ids, found.labels, len(found.ids))
    fields |= {
        "outlier": d.flagged,
        "kind": d.kind,
        "excess": d.excess,
        "score": d.score,
        "orthogonal": d.orthogonal,
        "column": d.names[d.column],
        "share": d.share,
        "value": found.value,
        "fits": found.fitting,
    }
    if hasattr(found.model, "tau_"):
        with names_are_known():
            fields |= reasons(found.model, found.X)._asdict()
    return fields


def records(found: Analysis) -> list[dict[str, Any]]:
    """What is said about outliers, one record each, worst first."""
    fields = {name: values[found.flagged] for name, values in scored(found).items()}
    return as_records({name: values.tolist() for name, values in fields.items()})


def as_records(fields: dict[str, list]) -> list[dict[str, Any]]:
    """Columns of a table as one record a row."""
    rows = zip(*fields.values(), strict=True)
    return [dict(zip(fields, row, strict=True)) for row in rows]


def counts(found: Analysis) -> dict[str, int]:
    """How many outliers there are, of each kind."""
    kinds = {kind: found.counts.get(kind, 0) for kind in ("inside", "off", "both")}
    return {"count": len(found.flagged), **kinds}


def judgement(found: Analysis) -> dict[str, Any]:
    """What a model says of rows, for machines."""
    return {
        "rows": len(found.ids),
        "outliers": counts(found),
        "worst_first": records(found),
    }


def summary(data: str, found: Analysis, seconds: float | None) -> dict[str, Any]:
    """A fit for machines."""
    model = found.model
    return {
        "trueaxis": __version__,
        "source": data,
        "columns": found.names,
        "method": type(model).__name__,
        "scale": "none" if found.scaler is None else found.scaler.how,
        "n_components": model.n_components_,
        "explained_variance_ratio": model.explained_variance_ratio_,
        "cutoffs": model.cutoffs_._asdict(),
        "iterations": model.n_iter_,
        "converged": bool(model.converged_),
        "seconds": seconds,
        "angle_to_plain_pca": found.effect.angle,
        **judgement(found),
        "hints": story.hints(found),
    }


def side_by_side(found: list[ComparedMethod]) -> dict[str, list[Any]]:
    """Methods as columns of a table; cells of those that failed are empty."""
    return {
        "method": [one.method for one in found],
        "seconds": [one.seconds for one in found],
        "outliers": [one.flagged for one in found],
        "shared": [one.shared for one in found],
        "angle": [one.angle for one in found],
        "centre": [one.shift for one in found],
        "converged": [one.converged for one in found],
        "problem": [one.problem for one in found],
    }
