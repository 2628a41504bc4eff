"""Put an analysis into sentences, for the report and the command line.

All numbers come from `analysis`; nothing is computed here.
"""

from __future__ import annotations

from typing import Any

from trueaxis.plots.canvas import percent
from trueaxis.report.analysis import Analysis, level_of

# What users read for the kinds of `diagnostics.KINDS`.
KIND_NAMES = {
    "regular": "regular",
    "inside": "inside the subspace",
    "off": "off the subspace",
    "both": "both",
    "group": "in a group apart",
}
KIND_MEANINGS = {
    "regular": "within both cut-offs",
    "inside": "far from the center, but its columns are consistent",
    "off": "its columns contradict each other",
    "both": "far from the center, and its columns contradict each other",
    "group": "within both cut-offs, but in a group that stands apart",
}
MAIN_SHARE = 0.5  # a column with this share of the distance is the only one named
MANY_FLAGGED = 0.35  # share of flagged rows above which a hint is given
FEW_ROWS = 15
LEAST_P = 1e-99  # smaller p-values are not written out
SMALL_ANGLE, LARGE_ANGLE = 3.0, 15.0  # degrees


def verdict(analysis: Analysis) -> str:
    """Return how many rows are outliers, of which kinds, and where the line is."""
    n, bad = len(analysis.ids), len(analysis.flagged)
    line = describe_line(analysis.model)
    if not bad:
        return f"None of the {n:,} rows is an outlier. {line}"
    kinds = [
        f"{analysis.counts[kind]:,} {name if kind != 'both' else 'in both ways'}"
        for kind, name in KIND_NAMES.items()
        if kind != "regular" and kind in analysis.counts
    ]
    are = "is an outlier" if bad == 1 else "are outliers"
    found = f"{bad:,} of {n:,} rows ({percent(bad / n)}) {are}: {_enumerate(kinds)}."
    return f"{found} {line}"


def describe_line(model: Any) -> str:
    """Return where a method draws the line between regular rows and outliers."""
    level = level_of(model)
    if model.contamination is None:
        return f"At level {level:g}, {percent(level)} of regular rows are flagged, too."
    return (
        f"Contamination {model.contamination:g} puts the line at a p-value of "
        f"{format_p(level)}."
    )


def format_p(p: float) -> str:
    """Return a p-value with two digits."""
    if p < LEAST_P:
        return f"<{LEAST_P:.0e}"
    return f"{p:.2g}" if p >= 1e-3 else f"{p:.1e}"


def change(analysis: Analysis) -> str:
    """Return how much plain PCA would differ from the model."""
    angle = analysis.effect.angle
    what = "subspace" if len(analysis.effect.angles) > 1 else "axis"
    if angle < SMALL_ANGLE:
        result = f"nearly the same {what}, {angle:.1f} degrees away"
    else:
        degree = "a different" if angle >= LARGE_ANGLE else "a somewhat different"
        result = f"{degree} {what}, turned by {angle:.0f} degrees"
    column = analysis.most_shifted[0]
    return (
        f"Plain PCA would find {result}; its mean moves most in "
        f"{analysis.names[column]}, by {analysis.shift[column]:+.3g}."
    )


def reason(analysis: Analysis, row: int) -> str:
    """Return why a row is an outlier: the column to correct, and what would fit."""
    d = analysis.diagnosis
    kind, name, share = d.kind[row], d.names[d.column[row]], d.share[row]
    if kind in ("regular", "group"):  # no distance that a column could explain
        return KIND_MEANINGS[kind]
    if share >= MAIN_SHARE:
        value, fits = analysis.value[row], analysis.fitting[row]
        return f"{name} is {value:.4g}, {fits:.4g} would fit ({percent(share)})"
    if kind == "inside":
        return "extreme but consistent, no single column stands out"
    return f"several columns, mostly {name} ({percent(share)})"


def hints(analysis: Analysis) -> list[str]:
    """Return what to check before relying on the numbers."""
    model, n, found = analysis.model, len(analysis.ids), []
    if not model.converged_:
        found.append(
            f"The fit stopped after {_iterations(model.n_iter_)} without converging: "
            "raise max_iter."
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


def fit_sentence(analysis: Analysis, seconds: float | None) -> str:
    """Return what was fitted, whether it converged, and how long it took."""
    model, k = analysis.model, analysis.model.n_components_
    end = _iterations(model.n_iter_)
    end = f"converged after {end}" if model.converged_ else f"did not converge in {end}"
    time = "" if seconds is None else f" It took {seconds:.3g} seconds."
    return (
        f"The fit of {type(model).__name__} with {k} component{'s' if k > 1 else ''} "
        f"({percent(model.explained_variance_ratio_.sum())} of the regular variance) "
        f"{end}.{time}"
    )


def _iterations(n: int) -> str:
    return "1 iteration" if n == 1 else f"{n:,} iterations"


def _enumerate(parts: list[str]) -> str:
    return " and ".join(filter(None, [", ".join(parts[:-1]), parts[-1]]))
