"""TELL: the sentences about an analysis that terminal and report share.

Nothing is computed here: numbers come from `analysis`, and become words.
"""

from __future__ import annotations

from trueaxis.plots.canvas import percent
from trueaxis.report.analysis import Analysis

# How the kinds of `diagnostics.KINDS` are called where people read.
CALLED = {
    "regular": "regular",
    "inside": "inside the subspace",
    "off": "off the subspace",
    "both": "both",
}
MEANS = {
    "regular": "within both cut-offs",
    "inside": "far from the centre, but consistent with the other columns",
    "off": "its columns contradict each other",
    "both": "far from the centre, and its columns contradict each other",
}
MAIN = 0.5  # a column that alone would take away this share is named alone
MANY = 0.35  # shares of flagged rows above this are worth a remark
FEW_ROWS = 15
SMALL_ANGLE, LARGE_ANGLE = 3.0, 15.0  # degrees


def verdict(found: Analysis) -> str:
    """How many rows are bad, and of which kinds."""
    n, bad = len(found.ids), len(found.flagged)
    if not bad:
        return f"None of {n:,} rows is an outlier."
    parts = [
        f"{found.counts[kind]:,} {CALLED[kind] if kind != 'both' else 'in both ways'}"
        for kind in ("inside", "off", "both")
        if kind in found.counts
    ]
    are = "is an outlier" if bad == 1 else "are outliers"
    return f"{bad:,} of {n:,} rows ({percent(bad / n)}) {are}: {_listed(parts)}."


def change(found: Analysis) -> str:
    """How different plain PCA would have been."""
    angle = found.effect.angle
    what = "subspace" if len(found.effect.angles) > 1 else "axis"
    if angle < SMALL_ANGLE:
        turned = f"nearly the same {what}, {angle:.1f} degrees away"
    else:
        much = "a different" if angle >= LARGE_ANGLE else "a somewhat different"
        turned = f"{much} {what}, turned by {angle:.0f} degrees"
    column = found.most_shifted[0]
    return (
        f"Plain PCA would find {turned}; its mean moves most in {found.names[column]}, "
        f"by {found.shift[column]:+.3g}."
    )


def because(found: Analysis, row: int) -> str:
    """Why a row is what it is: the column to put right, and what would fit there."""
    kind, d = found.diagnosis.kind[row], found.diagnosis
    if kind == "regular":
        return "within both cut-offs"
    if d.share[row] >= MAIN:
        name, value, fits = d.names[d.column[row]], found.value[row], found.fitting[row]
        return f"{name} is {value:.4g}, {fits:.4g} would fit ({percent(d.share[row])})"
    if kind == "inside":
        return "extreme, but consistent: no single column"
    return f"several columns, {d.names[d.column[row]]} most ({percent(d.share[row])})"


def hints(found: Analysis) -> list[str]:
    """What to look at before the numbers are believed."""
    model, n, said = found.model, len(found.ids), []
    if not model.converged_:
        said.append(
            f"The fit stopped after {model.n_iter_} iterations before it settled: "
            "raise max_iter."
        )
    if found.uneven:
        wide, narrow, ratio = found.uneven
        said.append(
            f"Column {found.names[wide]} varies {ratio:,.0f} times as much as "
            f"{found.names[narrow]}, so that the smaller columns hardly count. If the "
            "columns have different units, scale them (--scale robust, or ColumnScaler "
            "in Python)."
        )
    if len(found.flagged) > MANY * n:
        said.append(
            f"{percent(len(found.flagged) / n)} of the rows are flagged: perhaps these "
            "are groups of their own rather than bad rows, or there are too few "
            "components."
        )
    if n < FEW_ROWS:
        said.append(f"{n} rows are very few to tell outliers from chance.")
    return said


def how_it_went(found: Analysis, seconds: float | None) -> str:
    """Say what was fitted, whether it settled, and how long it took."""
    model, k = found.model, found.model.n_components_
    rounds = "1 iteration" if model.n_iter_ == 1 else f"{model.n_iter_:,} iterations"
    end = "settled after" if model.converged_ else "had not settled when it stopped at"
    time = "" if seconds is None else f" It took {seconds:.3g} seconds."
    return (
        f"The fit of {type(model).__name__} with {k} component{'s' if k > 1 else ''} "
        f"({percent(model.explained_variance_ratio_.sum())} of the regular variance) "
        f"{end} {rounds}.{time}"
    )


def _listed(parts: list[str]) -> str:
    return " and ".join(filter(None, [", ".join(parts[:-1]), parts[-1]]))
