"""Collect scores and loadings, for the score plot and the loadings of the page."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueaxis._validation import fitted_rows
from trueaxis.diagnostics.inputs import imputed
from trueaxis.report.analysis import Analysis
from trueaxis.report.given import ignore_feature_name_warning
from trueaxis.report.packing import bent, floats, fractions, rounded
from trueaxis.report.profiles import curve_positions
from trueaxis.report.sentences import explained

MAX_COMPONENTS = 10  # on the page


def axes_data(analysis: Analysis, drawn: NDArray[np.intp]) -> dict[str, Any]:
    """Return scores of the rows on the map, loadings, and the spread of plain PCA.

    Parameters
    ----------
    analysis : Analysis
    drawn : ndarray
        Indices of the rows on the map.

    Returns
    -------
    dict
        Values that JSON can represent; scores are in units of the components'
        standard deviations, and loadings are those of `loadings_`.
    """
    model = analysis.model
    k = min(model.n_components_, MAX_COMPONENTS)
    spread = score_spreads(model)[:k]
    with ignore_feature_name_warning(), fitted_rows(model, analysis.X) as rows:
        as_given = imputed(rows)
        scores = _scores(model, rows, k)
        plain = scores if as_given is rows else _scores(model, as_given, k)
    positions = curve_positions(analysis.names)
    with np.errstate(over="ignore", invalid="ignore"):
        covariance = np.atleast_2d(np.cov(plain / spread, rowvar=False, bias=True))
    return {
        "names": component_names(model)[:k],
        "judging": min(k, model._n_judging),
        "scores": bent((scores[drawn] / spread).T),
        "loadings": packed_loadings(model.loadings_[:k]),
        "plain": {
            "center": rounded((plain / spread).mean(axis=0)),
            "covariance": rounded(covariance.ravel(), 6),
        },
        "cutoff": rounded(np.array([analysis.diagnosis.score_cutoff]))[0],
        "positions": None if positions is None else floats(positions),
    }


def packed_loadings(loadings: NDArray[Any]) -> list[tuple[float, str]]:
    """Return the largest loading of every component, and all as fractions of it."""
    found = []
    for row in np.nan_to_num(loadings.astype(float)):
        most = float(np.abs(row).max(initial=0.0)) or 1.0
        found.append((most, fractions(row / most)))
    return found


def component_names(model: Any) -> list[str]:
    """Return the names of the components, with their shares of the variance."""
    return [
        f"component {i} ({explained(share)})"
        for i, share in enumerate(model.explained_variance_ratio_.tolist(), 1)
    ]


def score_spreads(model: Any) -> NDArray[np.float64]:
    """Return the standard deviations of the scores; 1 along axes without variance."""
    spread = np.sqrt(np.maximum(model.explained_variance_.astype(float), 0.0))
    return np.where(spread > 1e-10 * spread.max(initial=0.0), spread, 1.0)


def _scores(model: Any, rows: Any, k: int) -> NDArray[np.float64]:
    centered = rows.read() - model.mean_
    return np.asarray(centered @ model.components_[:k].T, dtype=float)
