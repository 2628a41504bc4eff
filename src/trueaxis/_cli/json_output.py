"""Arrange analyses and comparisons as columns of a table, or as values for JSON."""

from __future__ import annotations

from typing import Any

import numpy as np

from trueaxis import __version__
from trueaxis.diagnostics import KINDS, reasons
from trueaxis.diagnostics.comparison import ComparedMethod
from trueaxis.report import sentences
from trueaxis.report.analysis import (
    Analysis,
    ignore_feature_name_warning,
    level_of,
)


def identity_columns(ids: Any, labels: Any, n: int) -> dict[str, Any]:
    """Return the names and labels of rows, as columns of a table."""
    columns = {"row": np.arange(n) if ids is None else ids}
    return columns if labels is None else columns | {"label": labels}


def score_columns(analysis: Analysis) -> dict[str, Any]:
    """Return the verdict on every row, as columns of a table."""
    d = analysis.diagnosis
    columns = identity_columns(analysis.ids, analysis.labels, len(analysis.ids))
    columns |= {
        "outlier": d.flagged,
        "kind": d.kind,
        "p_value": d.p_value,
        "excess": d.excess,
        "score": d.score,
        "orthogonal": d.orthogonal,
        "column": d.names[d.column],
        "share": d.share,
        "value": analysis.value,
        "fits": analysis.fitting,
    }
    if hasattr(analysis.model, "tau_"):
        with ignore_feature_name_warning():
            columns |= reasons(analysis.model, analysis.X)._asdict()
    return columns


def outlier_records(analysis: Analysis) -> list[dict[str, Any]]:
    """Return one record per outlier, worst first."""
    return as_records(
        {
            name: values[analysis.flagged].tolist()
            for name, values in score_columns(analysis).items()
        }
    )


def as_records(columns: dict[str, list[Any]]) -> list[dict[str, Any]]:
    """Return one record per row of a table."""
    rows = zip(*columns.values(), strict=True)
    return [dict(zip(columns, row, strict=True)) for row in rows]


def outlier_counts(analysis: Analysis) -> dict[str, int]:
    """Return the number of outliers, in total and of each kind."""
    kinds = {kind: analysis.counts.get(kind, 0) for kind in KINDS[1:]}
    return {"count": len(analysis.flagged), **kinds}


def line_summary(model: Any) -> dict[str, float | None]:
    """Return the p-value below which rows are outliers, and where it comes from."""
    return {"level": level_of(model), "contamination": model.contamination}


def outlier_summary(analysis: Analysis) -> dict[str, Any]:
    """Return a summary of the outliers among rows."""
    return {
        "rows": len(analysis.ids),
        **line_summary(analysis.model),
        "outliers": outlier_counts(analysis),
        "worst_first": outlier_records(analysis),
    }


def fit_summary(data: str, analysis: Analysis, seconds: float | None) -> dict[str, Any]:
    """Return a summary of a fit and its outliers."""
    model = analysis.model
    return {
        "trueaxis": __version__,
        "source": data,
        "columns": analysis.names,
        "method": type(model).__name__,
        "scale": "none" if analysis.scaler is None else analysis.scaler.how,
        "n_components": model.n_components_,
        "explained_variance_ratio": model.explained_variance_ratio_,
        "cutoffs": model.cutoffs_._asdict(),
        "iterations": model.n_iter_,
        "converged": bool(model.converged_),
        "seconds": seconds,
        "angle_to_plain_pca": analysis.effect.angle,
        **outlier_summary(analysis),
        "hints": sentences.hints(analysis),
    }


def comparison_columns(results: list[ComparedMethod]) -> dict[str, list[Any]]:
    """Return compared methods as columns; cells of those that failed are empty."""
    return {
        "method": [result.method for result in results],
        "seconds": [result.seconds for result in results],
        "outliers": [result.flagged for result in results],
        "shared": [result.shared for result in results],
        "angle": [result.angle for result in results],
        "centre": [result.shift for result in results],
        "converged": [result.converged for result in results],
        "problem": [result.problem for result in results],
    }
