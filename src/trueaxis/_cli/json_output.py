"""Arrange analyses and comparisons as columns of a table, or as values for JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueaxis import __version__
from trueaxis._cli.missing import count_holes
from trueaxis._cli.workflow import CommandResult
from trueaxis.diagnostics import KINDS, column_names, reasons
from trueaxis.diagnostics.comparison import ComparedMethod
from trueaxis.estimators.pipeline import SplitPipeline
from trueaxis.io import Table
from trueaxis.report import sentences
from trueaxis.report.analysis import Analysis, level_of
from trueaxis.report.given import ignore_feature_name_warning, texts_of


def identity_columns(ids: Any, labels: Any, n: int) -> dict[str, Any]:
    """Return the names and labels of rows, as columns of a table."""
    columns = {"row": np.arange(n) if ids is None else ids}
    return columns if labels is None else columns | {"label": labels}


def score_columns(
    analysis: Analysis, rows: NDArray[np.intp] | None = None
) -> dict[str, Any]:
    """Return the verdict on every row, or on some rows, as columns of a table."""
    d, some = analysis.diagnosis, slice(None) if rows is None else rows
    ids = texts_of(analysis.given_ids[some])
    labels = None if analysis.labels is None else analysis.labels[some]
    columns = identity_columns(ids, labels, len(ids))
    columns |= {
        "outlier": d.flagged[some],
        "kind": d.kind[some],
        "p_value": np.exp(d.log_p if rows is None else d.log_p_of(rows)),
        "excess": d.excess[some],
        "score": d.score[some],
        "orthogonal": d.orthogonal[some],
        "column": d.names[d.column[some]],
        "share": d.share[some],
        "value": analysis.value[some],
        "fits": analysis.fitting[some],
    }
    if hasattr(analysis.model, "tau_"):
        with ignore_feature_name_warning():
            columns |= reasons(analysis.model, analysis.X[some])._asdict()
    if analysis.finds_wrong_cells:
        wrong = np.array(wrong_cell_names(analysis), dtype=object)
        columns["wrong_cells"] = wrong[some]
    return columns


def wrong_cell_names(analysis: Analysis) -> list[str]:
    """Return the columns of the wrong cells of every row, joined by semicolons."""
    names: list[list[str]] = [[] for _ in analysis.raw]
    found = analysis.wrong_cells
    for row, column in zip(found.row.tolist(), found.column.tolist(), strict=True):
        names[row].append(str(analysis.names[column]))
    return [";".join(each) for each in names]


def outlier_records(
    analysis: Analysis, positions: NDArray[np.intp] | None = None
) -> list[dict[str, Any]]:
    """Return one record per outlier, worst first.

    Parameters
    ----------
    analysis : Analysis
    positions : ndarray of int, optional
        Number of each row among those of the file; from 0 by default.
    """
    rows = analysis.flagged
    if not len(rows):
        return []
    number = rows if positions is None else positions[rows]
    columns = {
        name: np.asarray(values).tolist()
        for name, values in score_columns(analysis, rows).items()
    }
    reason = [sentences.reason(analysis, row) for row in rows]
    return as_records({"position": number.tolist(), **columns, "reason": reason})


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


def head_summary(command: str, data: str) -> dict[str, Any]:
    """Return what every command tells about itself."""
    return {"trueaxis": __version__, "command": command, "source": data}


def table_summary(table: Table) -> dict[str, Any]:
    """Return what was read from a file."""
    return {
        "rows": len(table.X),
        "columns": list(table.columns),
        "left_out_columns": table.left_out,
        "missing": missing_summary(count_holes(table.X), table.columns),
    }


def missing_summary(by_column: NDArray[Any], names: Sequence[str]) -> dict[str, Any]:
    """Return the number of missing cells, in total and in columns that have some."""
    counts = dict(zip(names, by_column.tolist(), strict=True))
    return {
        "count": int(by_column.sum()),
        "by_column": {name: n for name, n in counts.items() if n},
    }


def model_summary(parts: SplitPipeline) -> dict[str, Any]:
    """Return what a model is, and its components."""
    first, model = parts
    scale = getattr(first, "how", None) or getattr(first, "scale_", None)
    return {
        "method": type(model).__name__,
        "scale": scale or "none",
        "log": list(getattr(first, "log_", ())),
        "categories": list(getattr(first, "categories_", ())),
        "n_components": model.n_components_,
        "explained_variance_ratio": model.explained_variance_ratio_,
        "components": component_records(model),
        "cutoffs": model.cutoffs_._asdict(),
        "iterations": model.n_iter_,
        "converged": bool(model.converged_),
    }


def component_records(model: Any) -> list[dict[str, Any]]:
    """Return name, variance, axis and loadings of every component."""
    columns = column_names(model).tolist()
    names = model.get_feature_names_out()
    return [
        {
            "name": str(name),
            "variance": variance,
            "share": share,
            "axis": dict(zip(columns, axis.tolist(), strict=True)),
            "loadings": dict(zip(columns, loadings.tolist(), strict=True)),
        }
        for name, variance, share, axis, loadings in zip(
            names,
            model.explained_variance_.tolist(),
            model.explained_variance_ratio_.tolist(),
            model.components_,
            model.loadings_,
            strict=True,
        )
    ]


def outlier_summary(
    analysis: Analysis, positions: NDArray[np.intp] | None = None
) -> dict[str, Any]:
    """Return a summary of the outliers among rows."""
    shifted = analysis.most_shifted[0]
    return {
        **line_summary(analysis.model),
        "outliers": outlier_counts(analysis),
        "worst_first": outlier_records(analysis, positions),
        "angle_to_plain_pca": analysis.plain.angle,
        "plain_mean_moves_most": {
            "column": str(analysis.names[shifted]),
            "by": float(analysis.shift[shifted]),
        },
        "hints": sentences.hints(analysis),
    }


def result_summary(command: str, data: str, result: CommandResult) -> dict[str, Any]:
    """Return a summary of a table that was fitted, or judged by a model."""
    parts = SplitPipeline(result.analysis.scaler, result.analysis.model)
    return {
        **head_summary(command, data),
        **table_summary(result.table),
        **model_summary(parts),
        "seconds": result.seconds,
        **outlier_summary(result.analysis, result.table.positions),
    }


def comparison_columns(results: list[ComparedMethod]) -> dict[str, list[Any]]:
    """Return compared methods as columns; cells of those that failed are empty."""
    return {
        "method": [result.method for result in results],
        "seconds": [result.seconds for result in results],
        "outliers": [result.flagged for result in results],
        "shared": [result.shared for result in results],
        "angle": [result.angle for result in results],
        "center": [result.shift for result in results],
        "converged": [result.converged for result in results],
        "problem": [result.problem for result in results],
    }
