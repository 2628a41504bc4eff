"""Compare all columns of a row with what would fit there.

What would fit in a column is the value that brings the row nearest to the regular ones
if nothing else is changed: for the blamed column, the value in its reason. One wrong
value makes all others look wrong, so where one column explains most of the distance,
the others are compared as if it had been corrected.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trueaxis.diagnostics.columns import ColumnCorrectionKernel, surplus_beside_blamed
from trueaxis.report.analysis import Analysis

ENOUGH = 30  # regular rows that show the spread of a column; else the model says it
LEAST_SPREAD = 1e-9  # of a column's unit; below it, a deviation is a rounding error
CURVE = 20  # columns in a natural order that make a curve


class Profiles(NamedTuple):
    """All columns of some rows, in raw units.

    Attributes
    ----------
    values, fits : ndarray of shape (m, D)
        What is there (NaN in holes) and what would fit.
    deviations : ndarray of shape (m, D)
        Their difference, in standard deviations of regular rows; NaN in holes. For
        wrong cells, in those of good cells, as in the list of wrong cells.
    """

    values: NDArray[np.float64]
    fits: NDArray[np.float64]
    deviations: NDArray[np.float64]


def profiles(analysis: Analysis, rows: NDArray[np.intp]) -> Profiles:
    """Return what would fit in all columns of some rows.

    Parameters
    ----------
    analysis : Analysis
    rows : ndarray of shape (m,)
        Indices.

    Returns
    -------
    Profiles
    """
    values = analysis.raw[rows].astype(float)
    if not len(rows):
        return Profiles(values, values, values)
    judged = analysis.judged(rows)
    shares = np.zeros(judged.shape)
    blamed = np.arange(len(rows)), analysis.diagnosis.column[rows]
    shares[blamed] = analysis.diagnosis.share[rows]
    extra = surplus_beside_blamed(analysis.model, judged, shares)
    with np.errstate(over="ignore", invalid="ignore"):
        fits = _raw(analysis, judged - extra)
        deviations = np.clip(extra / column_spreads(analysis), -1e30, 1e30)
    holes = np.isnan(values)
    fits[holes] = _raw(analysis, judged)[holes]
    fits = analysis.without_rounding(fits, values, np.arange(values.shape[1]))
    deviations[holes] = np.nan
    _use_wrong_cells(analysis, rows, fits, deviations)
    return Profiles(values, fits, deviations)


def surpluses(model: Any, rows: NDArray[Any]) -> NDArray[np.float64]:
    """Return every value minus the value that would fit best in its place."""
    return ColumnCorrectionKernel(model).freed(rows).surplus


def column_spreads(analysis: Analysis) -> NDArray[np.float64]:
    """Return the standard deviation of the surplus of regular rows in every column.

    Infinite for columns that have none, so that rounding errors are no deviations.
    """
    regular = np.flatnonzero(~analysis.diagnosis.flagged)
    if len(regular) >= ENOUGH:
        extra = surpluses(analysis.model, analysis.judged(regular))
        spread = np.sqrt(np.square(extra).mean(axis=0))
    else:
        spread = ColumnCorrectionKernel(analysis.model).spread()
    size = np.sqrt(max(float(analysis.model._total_variance), 0.0) / len(spread))
    return np.where(spread > LEAST_SPREAD * size, spread, np.inf)


def _raw(analysis: Analysis, rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return rows in the units of the data."""
    scaler = analysis.scaler
    if scaler is None:
        return np.array(rows)
    return np.asarray(rows * scaler.unit_ + scaler.center_)


def _use_wrong_cells(
    analysis: Analysis,
    rows: NDArray[np.intp],
    fits: NDArray[np.float64],
    deviations: NDArray[np.float64],
) -> None:
    """Show wrong cells as the list of wrong cells does, except for blamed columns."""
    cells, place = analysis.wrong_cells, np.full(len(analysis.raw), -1)
    place[rows] = np.arange(len(rows))
    d = analysis.diagnosis
    blamed = d.flagged[cells.row] & (d.column[cells.row] == cells.column)
    shown = (place[cells.row] >= 0) & ~blamed
    at = place[cells.row[shown]], cells.column[shown]
    fits[at], deviations[at] = cells.fitted[shown], cells.deviation[shown]


def curve_positions(names: NDArray[np.str_]) -> NDArray[np.float64] | None:
    """Return the positions of columns that make a curve, such as wavelengths.

    Their names are numbers in order, maybe with the same text around them, and there
    are at least 20. None for other columns: nothing lies between them.
    """
    pattern = r"(\D*?)(-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)(\D*)"
    parts = [re.fullmatch(pattern, name) for name in names.tolist()]
    if len(parts) < CURVE or not all(parts):
        return None
    if len({(part[1], part[3]) for part in parts if part}) > 1:
        return None
    positions = np.array([float(part[2]) for part in parts if part])
    steps = np.diff(positions)
    ordered = (steps > 0).all() or (steps < 0).all()
    return positions if ordered and np.isfinite(positions).all() else None
