"""Put an analysis into sentences, for the report and the command line.

All numbers come from `analysis`; nothing is computed here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from trueaxis.diagnostics.columns import MAIN_SHARE
from trueaxis.pipeline import level_of
from trueaxis.wording import counted, percent

if TYPE_CHECKING:
    from trueaxis.report.analysis import Analysis

# Names of the kinds in `diagnostics.KINDS` for users.
KIND_NAMES = {
    "regular": "regular",
    "inside": "inside the subspace",
    "off": "off the subspace",
    "both": "both",
    "group": "in a separate cluster",
}
KIND_MEANINGS = {
    "regular": "within both cut-offs",
    "inside": "far from the center, but its columns are consistent",
    "off": "its columns contradict each other",
    "both": "far from the center, and its columns contradict each other",
    "group": "within both cut-offs, but in a separate cluster",
}
MANY_FLAGGED = 0.35  # share of flagged rows above which a hint is given
FEW_ROWS = 15
FEW_CELLS = 3  # wrong or missing cells of a row that are named one by one
LEAST_PERCENT = 0.001  # smaller levels are "one in so many"
NEARLY_ALL = 0.9895  # share of variance from which it has one more digit
LEAST_P = 1e-99  # smaller p-values are not written out
ROUNDING = 1e-9  # of the spread of a column; below it, nothing has moved
SMALL_ANGLE, LARGE_ANGLE = 3.0, 15.0  # degrees


def verdict(analysis: Analysis) -> str:
    """Return how many rows are outliers, of which kinds, and at which threshold."""
    rows, cells = int(analysis.only_cells.sum()), 0
    if rows:
        cells = int((~analysis.wrong_cells["outlier"]).sum())
    threshold = describe_threshold(analysis.model)
    return count_outliers(analysis.diagnosis.counts(), threshold, rows, cells)


def count_outliers(
    counts: dict[str, int], threshold: str, good_rows: int = 0, wrong_cells: int = 0
) -> str:
    """Return how many rows are outliers, of which kinds, and the threshold.

    Parameters
    ----------
    counts : dict
        Number of rows of each kind; other keys count outliers of unknown kinds.
    threshold : str
        See `describe_threshold`.
    good_rows, wrong_cells : int
        Rows that are good apart from wrong cells, and these cells.
    """
    n, more = sum(counts.values()), ""
    bad = n - counts.get("regular", 0)
    if good_rows:
        more = (
            f" {plural(good_rows, 'more row is/more rows are')} good apart from "
            f"{counted(wrong_cells, 'wrong cell')}."
        )
    if not bad:
        return f"None of the {n:,} rows is an outlier.{more} {threshold}"
    kinds = [
        f"{counts[kind]:,} {name if kind != 'both' else 'in both ways'}"
        for kind, name in KIND_NAMES.items()
        if kind != "regular" and counts.get(kind)
    ]
    are = "is an outlier" if bad == 1 else "are outliers"
    listed = f": {enumerate_parts(kinds)}" if kinds else ""
    found = f"{bad:,} of {n:,} rows ({percent(bad / n)}) {are}{listed}."
    return f"{found}{more} {threshold}"


def describe_threshold(model: Any) -> str:
    """Return a sentence on the threshold that separates outliers from regular rows."""
    level = level_of(model)
    if model.contamination is None:
        return describe_level(level)
    return (
        f"Contamination {model.contamination:g} puts the threshold at a p-value of "
        f"{format_p(level)}."
    )


def describe_level(level: float) -> str:
    """Return a sentence on the meaning of a level."""
    flagged = f"{percent(level)} of regular rows are"
    if level < LEAST_PERCENT:
        flagged = f"one in {1 / level:,.0f} regular rows is"
    return f"At level {level:g}, {flagged} flagged, too."


def format_p(p: float) -> str:
    """Return a p-value with two digits."""
    if p < LEAST_P:
        return f"<{LEAST_P:.0e}"
    return f"{p:.2g}" if p >= 1e-3 else f"{p:.1e}"


def format_number(x: float) -> str:
    """Return a number with four digits."""
    if np.isinf(x):
        return "∞"
    text = f"{x:,.0f}" if 1000 <= abs(x) < 1e6 else f"{x:.4g}"
    return text.replace("-", "−")


def explained(share: float) -> str:
    """Return a share of variance in percent: 100 % only for all of it."""
    if not NEARLY_ALL <= share < 1 - ROUNDING:
        return percent(share)
    return "more than 99.9 %" if share > 0.9995 else f"{100 * share:.1f} %"


def change(analysis: Analysis) -> str:
    """Return how much plain PCA would differ from the model."""
    angle = analysis.plain.angle
    what = "subspace" if len(analysis.plain.angles) > 1 else "axis"
    if angle < SMALL_ANGLE:
        result = f"nearly the same {what}, {angle:.1f} degrees away"
    else:
        degree = "a different" if angle >= LARGE_ANGLE else "a somewhat different"
        result = f"{degree} {what}, turned by {angle:.0f} degrees"
    column = analysis.most_shifted
    size = np.sqrt(float(analysis.model._total_variance) / len(analysis.names))
    if abs(analysis.plain.shift[column]) <= ROUNDING * size:
        return f"Plain PCA would find {result}; its mean is the same."
    return (
        f"Plain PCA would find {result}; its mean moves most in "
        f"{analysis.names[column]}, by {analysis.shift[column]:+.3g}."
    )


def reason(analysis: Analysis, row: int, kind: str | None = None) -> str:
    """Return why a row is an outlier: the column to correct, and a fitting value.

    If cells were replaced or filled before the row was judged, they are named, too.

    Parameters
    ----------
    analysis : Analysis
    row : int
    kind : str, optional
        Kind that the row has at another level; by default, at that of the model.
    """
    kind = str(analysis.diagnosis.kind[row]) if kind is None else kind
    wrong = wrong_in_row(analysis, row)
    also = [f"also {wrong}" if wrong else "", missing_note(analysis, row)]
    return "; ".join(filter(None, [_reason(analysis, row, kind), *also]))


def wrong_in_row(analysis: Analysis, row: int) -> str:
    """Return the wrong cells of a row, with fitted values; empty if there are none.

    The column that is the reason why the row is an outlier is left out.
    """
    if not analysis.finds_wrong_cells:
        return ""
    cells, d = analysis.wrong_cells, analysis.diagnosis
    some = slice(*np.searchsorted(cells["position"], [row, row + 1]))
    blamed = d.column[row] if d.flagged[row] else -1
    parts = [
        f"{analysis.names[j]} is {value:.4g}, {fitted:.4g} would fit"
        for j, value, fitted in zip(
            *(cells[name][some] for name in ("column", "value", "fitted")), strict=True
        )
        if j != blamed
    ]
    return f"{counted(len(parts), 'wrong cell')}: {_first(parts)}" if parts else ""


def missing_note(analysis: Analysis, row: int) -> str:
    """Return which cells of a row are missing; empty if there are none."""
    missing = np.isnan(analysis.raw[row])
    return f"missing: {_first(analysis.names[missing])}" if missing.any() else ""


def _first(parts: Sequence[Any]) -> str:
    """Return the first few parts, and how many there are besides."""
    more = f" and {len(parts) - FEW_CELLS:,} more" if len(parts) > FEW_CELLS else ""
    return f"{', '.join(parts[:FEW_CELLS])}{more}"


def _reason(analysis: Analysis, row: int, kind: str) -> str:
    d = analysis.diagnosis
    name, share = d.names[d.column[row]], d.share[row]
    if kind in ("regular", "group"):  # no distance that a column could explain
        return KIND_MEANINGS[kind]
    if share >= MAIN_SHARE:
        value, fits = d.value[row], d.fitted[row]
        return f"{name} is {value:.4g}, {fits:.4g} would fit ({percent(share)})"
    if kind == "inside":
        return "extreme but consistent, no single column stands out"
    return f"several columns, mostly {name} ({percent(share)})"


def hints(analysis: Analysis) -> list[str]:
    """Return advice on what to check before relying on the numbers."""
    model, n, found = analysis.model, len(analysis.raw), []
    if not model.converged_:
        found.append(
            f"The fit stopped after {counted(model.n_iter_, 'iteration')} without "
            "converging: raise max_iter."
        )
    if analysis.uneven:
        wide, narrow, ratio = analysis.uneven
        found.append(
            f"Column {analysis.names[wide]} varies {ratio:,.0f} times as much as "
            f"{analysis.names[narrow]}, so columns that vary little hardly count. If "
            "the columns have different units, scale them (--scale robust, or "
            "ColumnScaler in Python)."
        )
    if len(analysis.flagged) > MANY_FLAGGED * n:
        found.append(
            f"{percent(len(analysis.flagged) / n)} of the rows are flagged: they may "
            "be groups of their own rather than bad rows, or there are too few "
            "components."
        )
    if n < FEW_ROWS:
        found.append(f"With only {n} rows, outliers are hard to tell from chance.")
    return found


def fit_sentence(model: Any, seconds: float | None) -> str:
    """Return what was fitted, whether it converged, and how long it took."""
    k = model.n_components_
    end = counted(model.n_iter_, "iteration")
    end = f"converged after {end}" if model.converged_ else f"did not converge in {end}"
    time = "" if seconds is None else f" It took {seconds:.3g} seconds."
    return (
        f"The fit of {type(model).__name__} with {counted(k, 'component')} "
        f"({explained(model.explained_variance_ratio_.sum())} of the regular variance) "
        f"{end}.{time}"
    )


def plural(n: int, words: str) -> str:
    """Return a count with its word, from "one/many"."""
    one, many = words.split("/")
    return f"1 {one}" if n == 1 else f"{n:,} {many}"


def enumerate_parts(parts: list[str]) -> str:
    """Join parts by commas and a final "and"."""
    return " and ".join(filter(None, [", ".join(parts[:-1]), parts[-1]]))


def about_cells(analysis: Analysis) -> list[str]:
    """Return how many cells are wrong and missing, and in which columns."""
    cells, wrong = analysis.cells, analysis.finds_wrong_cells
    if cells is None:
        return []
    found = []
    if not wrong:
        found.append(
            "Wrong cells were not looked for: fit with DSWL(cells=True) to find them."
        )
    elif not cells.wrong.any():
        found.append(f"None of the {cells.wrong.size:,} cells is wrong.")
    else:
        bad = int(analysis.wrong_cells["outlier"].sum())
        found.append(
            f"{_share_of_cells(analysis, cells.wrong, 'wrong')}: "
            f"{cells.wrong.sum() - bad:,} in rows that are good otherwise, {bad:,} in "
            "outliers."
        )
    if cells.missing.any():
        found.append(
            f"{_share_of_cells(analysis, cells.missing, 'missing')}. What the other "
            "cells of a row say takes their place."
        )
    return found


def _share_of_cells(analysis: Analysis, some: NDArray[np.bool_], what: str) -> str:
    n, size, (_, column) = some.sum(), some.size, np.nonzero(some)
    return (
        f"{n:,} of {size:,} cells ({percent(n / size)}) {'is' if n == 1 else 'are'} "
        f"{what}, {_most_frequent(analysis, column)}"
    )


def _most_frequent(analysis: Analysis, column: NDArray[np.intp]) -> str:
    """Return the columns that occur most often, with counts."""
    count = np.bincount(column, minlength=len(analysis.names))
    if np.count_nonzero(count) == 1:
        return f"all in {analysis.names[column[0]]}"
    order = np.argsort(-count, kind="stable")[:FEW_CELLS]
    names = [f"{analysis.names[j]} ({count[j]:,})" for j in order if count[j]]
    return f"most in {enumerate_parts(names)}"
