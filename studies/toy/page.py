"""Section of the page on toy data: medians over the seeds, and verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from studies.methods import AUTOMATIC, NAMES, OTHERS, PUBLISHED
from studies.significance import (
    FAILS,
    HOLDS,
    ClaimVerdict,
    is_best,
    table,
    verdict_table,
)
from studies.study import Results
from studies.toy.study import IN_WORDS, KINDS, WEIGHTED, ToyStudy

# In degrees: axes that are closer overlap in a figure; axes farther off count as
# affected.
OVERLAP, AFFECTED = 1.0, 5.0


def measured(
    results: Results, kind: str, measure: str, names: Sequence[str] = NAMES
) -> dict[str, NDArray[Any]]:
    """Return one measure by method, in the order of the seeds."""
    return {
        name: np.array([r[measure] for r in results.where(kind=kind, method=name)])
        for name in names
    }


def verdicts(results: Results) -> list[ClaimVerdict]:
    """Judge the paper's claims about toy data, for both versions of DSWL."""
    verdicts = [_all_overlap(results), *_inside(results)]
    for ours in (PUBLISHED, AUTOMATIC):
        for kind in ("ocs", "both"):
            for measure, word, unit in (
                ("angle", "axis", "°"),
                ("mean_error", "mean", ""),
            ):
                claim = f"{IN_WORDS[kind]}: {ours} has the best {word}"
                values = measured(results, kind, measure, (*OTHERS, ours))
                verdicts.append(is_best(claim, values, ours, unit=unit))
    verdicts += [_second(results, kind) for kind in ("ocs", "both")]
    verdicts += [_affected(results, kind) for kind in ("ocs", "both")]
    for ours in (PUBLISHED, AUTOMATIC):
        names = (*WEIGHTED[:3], ours)
        claim = f"weights of {ours} separate outliers from regular points best"
        values = measured(results, "both", "margin", names)
        verdicts.append(is_best(claim, values, ours, unit=" decades", more=True))
        claim = f"weights of {ours} vary least among regular points"
        values = measured(results, "both", "spread", names)
        verdicts.append(is_best(claim, values, ours))
    return verdicts


def _medians(results: Results, kind: str, measure: str) -> dict[str, float]:
    values = measured(results, kind, measure)
    return {name: float(np.median(x)) for name, x in values.items()}


def _all_overlap(results: Results) -> ClaimVerdict:
    middle = _medians(results, "none", "angle")
    worst, best = max(middle, key=middle.__getitem__), min(middle.values())
    apart = middle[worst] - best
    return ClaimVerdict(
        f"no outliers: all axes overlap (medians within {OVERLAP:g}°)",
        HOLDS if apart <= OVERLAP else FAILS,
        f"median angles from {best:.2f}° to {middle[worst]:.2f}° ({worst})",
    )


def _inside(results: Results) -> list[ClaimVerdict]:
    middle = _medians(results, "pcs", "angle")
    bent = middle.pop("PCA-L1")
    worst, best = max(middle, key=middle.__getitem__), min(middle.values())
    alike = ClaimVerdict(
        f"{IN_WORDS['pcs']}: all but PCA-L1 find the axis equally well (medians within "
        f"{OVERLAP:g}°)",
        HOLDS if middle[worst] - best <= OVERLAP else FAILS,
        f"from {best:.2f}° to {middle[worst]:.2f}° ({worst})",
    )
    deviated = ClaimVerdict(
        f"{IN_WORDS['pcs']}: PCA-L1 deviates (by more than {OVERLAP:g}° from the worst "
        "of the others)",
        HOLDS if bent > middle[worst] + OVERLAP else FAILS,
        f"PCA-L1 {bent:.2f}°, {worst} {middle[worst]:.2f}°",
    )
    values = measured(results, "pcs", "mean_error", ("RPCA-OM", AUTOMATIC, PUBLISHED))
    means = [
        is_best(f"{IN_WORDS['pcs']}: mean of {ours} better than RPCA-OM's", pair, ours)
        for ours in (PUBLISHED, AUTOMATIC)
        for pair in [{"RPCA-OM": values["RPCA-OM"], ours: values[ours]}]
    ]
    return [alike, deviated, *means]


def _second(results: Results, kind: str) -> ClaimVerdict:
    claim = f"{IN_WORDS[kind]}: RPCA-DI has the second-best axis, after DSWL"
    values = measured(results, kind, "angle", OTHERS)
    return is_best(claim, values, "RPCA-DI", unit="°")


def _affected(results: Results, kind: str) -> ClaimVerdict:
    middle = _medians(results, kind, "angle")
    rest = [name for name in OTHERS if name != "RPCA-DI"]
    spared = [name for name in rest if middle[name] < AFFECTED]
    listed = ", ".join(f"{name} {middle[name]:.1f}°" for name in rest)
    return ClaimVerdict(
        f"{IN_WORDS[kind]}: all other methods are badly affected (medians above "
        f"{AFFECTED:g}°)",
        HOLDS if not spared else FAILS,
        listed,
    )


# ---------------------------------------------------------------- the page


def section(study: ToyStudy, results: Results) -> str:
    """Return the section in Markdown."""
    lines = [
        "## Toy data",
        "",
        f"{study.n_seeds} data sets of each kind ({len(NAMES)} methods, k = 1): 200 "
        "points in the plane with covariance 0.95, and 10 outliers. The paper shows "
        "one data set and prints no numbers. It does not say where the outliers lie, "
        "so we chose their positions (see `studies.toy.points`). The temperatures "
        "of DSWL as published are chosen once for each kind, on a separate data set, "
        "by `studies.methods.temperatures`.",
        "",
        "Angle to the true axis in degrees, median (90 % quantile):",
        "",
        _table(results, "angle", 2),
        "Distance between the estimated and the true mean, median (90 % quantile):",
        "",
        _table(results, "mean_error", 3),
        "RPCA-OM does not determine where in its subspace the mean lies, so its error "
        "is mostly along the axis, even without outliers.",
        "",
        "Weights with outliers in both: decades between the medians of regular points "
        "and outliers (a weight of 0 counts as 300 decades below 1), and variation "
        "(standard deviation over mean) among regular points; medians over the data "
        "sets:",
        "",
        _weights_table(results),
        "The claim that a method is best holds if its median is best and paired "
        "Wilcoxon tests over the seeds (Holm, 5 %) agree for every other method. It "
        "does not hold if another method is better and the test agrees. Otherwise it "
        "is undecided. DSWL as published and automatic DSWL are each compared with the "
        "six other methods.",
        "",
        verdict_table(verdicts(results)),
    ]
    stuck = {
        name: sum(not r["converged"] for r in results.where(method=name))
        for name in NAMES
    }
    total = len(results.rows) // len(NAMES)
    listed = ", ".join(f"{name} {n}" for name, n in stuck.items() if n)
    lines.append(f"Fits that did not converge, of {total}: {listed or 'none'}.\n")
    return "\n".join(lines)


def _table(results: Results, measure: str, digits: int) -> str:
    columns = [measured(results, kind, measure) for kind in KINDS]
    rows = []
    for name in NAMES:
        cells = [name]
        for values in columns:
            middle, high = np.quantile(values[name], [0.5, 0.9])
            cells.append(f"{middle:.{digits}f} ({high:.{digits}f})")
        rows.append(cells)
    return table(["", *(IN_WORDS[kind] for kind in KINDS)], rows)


def _weights_table(results: Results) -> str:
    margin = measured(results, "both", "margin", WEIGHTED)
    spread = measured(results, "both", "spread", WEIGHTED)
    rows = [
        [name, f"{np.median(margin[name]):.2f}", f"{np.median(spread[name]):.2f}"]
        for name in WEIGHTED
    ]
    return table(["", "decades", "variation"], rows)
