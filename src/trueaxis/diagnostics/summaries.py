"""The summary of a fitted model, alone or in a pipeline, and of rows that it judges."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from trueaxis._validation import raw_rows
from trueaxis.data.threads import own_floats
from trueaxis.diagnostics.cells import list_cells
from trueaxis.diagnostics.outliers import diagnose
from trueaxis.diagnostics.pipelines import pipeline_parts, takes_pipelines
from trueaxis.diagnostics.tables import column_names
from trueaxis.overview import Summary, as_text, overview
from trueaxis.wording import counted, share_of

if TYPE_CHECKING:
    from trueaxis.base import SubspaceEstimator


@own_floats
def summary(model: Any, X: ArrayLike | None = None) -> Summary:
    """Summarize a fitted model in a few lines of text.

    Parameters
    ----------
    model : estimator or Pipeline
        Any fitted method, alone or at the end of a pipeline.
    X : array-like of shape (n, D), optional
        Rows, those of the fit or new ones: if given, the outliers among them are
        counted by kind, and their wrong and missing cells.

    Returns
    -------
    str
        Sizes, components with their variances and the columns with the largest
        `loadings_`, outliers among the rows of the fit, level, cut-offs, and whether
        the fit converged. It is shown as it is, without `print`.

    Examples
    --------
    >>> from trueaxis import DSWL
    >>> from trueaxis.datasets import sensors
    >>> from trueaxis.diagnostics import summary
    >>> text = summary(DSWL(2).fit(sensors().X))
    >>> text.splitlines()[0]
    'DSWL: 200 rows, 6 columns, 2 components'
    """
    parts = pipeline_parts(model)
    shown = overview(parts.method, column_names(model))
    facts = dict(shown.facts)
    before = [type(step).__name__ for _, step in getattr(model, "steps", [])[:-1]]
    if before:
        facts["columns"] = f"as {' and '.join(before)} gave them to the fit"
    if X is not None:
        facts |= _about_rows(model, X)
    return as_text(shown._replace(facts=facts))


@takes_pipelines()
def _about_rows(model: SubspaceEstimator, X: ArrayLike) -> dict[str, str]:
    diagnosis = diagnose(model, X)
    counts = diagnosis.counts()
    regular = counts.pop("regular", 0)
    total = sum(counts.values())
    kinds = ", ".join(f"{count:,} {kind}" for kind, count in counts.items())
    outliers = f"{share_of(total, total + regular)}{': ' if kinds else ''}{kinds}"
    return {"outliers": outliers} | _about_cells(model, X)


def _about_cells(model: SubspaceEstimator, X: ArrayLike) -> dict[str, str]:
    repair = model._repair()
    if repair is None:
        return {}
    with raw_rows(model, X) as rows:
        if rows.complete and repair.wrong is None:
            return {}
    listed = list_cells(model, X, True)
    missing = int(np.isnan(listed.value).sum())
    wrong = len(listed.value) - missing
    if repair.wrong is None:
        return {"cells": f"{missing:,} missing"} if missing else {}
    rows_with = len(np.unique(listed.row))
    where = f" in {counted(rows_with, 'row')}" if rows_with else ""
    return {"cells": f"{wrong:,} wrong and {missing:,} missing{where}"}
