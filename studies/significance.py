"""Significance tests, ranks, verdicts on claims, and Markdown tables of them."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

HOLDS, FAILS, UNCLEAR = "holds", "does not hold", "undecided"
LEVEL = 0.05


@dataclass(frozen=True)
class ClaimVerdict:
    """A claim and the verdict on it.

    Attributes
    ----------
    claim : str
        The claim in words.
    verdict : {"holds", "does not hold", "undecided"}
    because : str
        The numbers behind the verdict.
    """

    claim: str
    verdict: str
    because: str


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Format a Markdown table: text in the first column, numbers in the others."""
    marks = ["---"] + ["--:"] * (len(head) - 1)
    lines = [head, marks, *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def verdict_table(verdicts: Sequence[ClaimVerdict]) -> str:
    """Format a Markdown table of claims and verdicts."""
    lines = ["| claim | verdict | because |", "|---|---|---|"]
    lines += [f"| {v.claim} | **{v.verdict}** | {v.because} |" for v in verdicts]
    return "\n".join(lines) + "\n"


def paired(one: NDArray[Any], other: NDArray[Any]) -> float:
    """Return the two-sided p-value of Wilcoxon's signed-rank test.

    The p-value is 1 if no pair differs.
    """
    difference = np.round(np.asarray(one) - np.asarray(other), 12)
    if not difference.any():
        return 1.0
    # Tied ranks have no exact distribution, so the normal approximation is used.
    ranked = np.abs(difference[difference != 0])
    tied = len(np.unique(ranked)) < len(difference)
    method = "approx" if tied or len(difference) > 50 else "exact"
    with warnings.catch_warnings():
        # SciPy 1.13 calls fewer than ten rows too few for it; newer ones do not.
        warnings.filterwarnings("ignore", "Sample size too small for normal")
        return float(stats.wilcoxon(difference, method=method).pvalue)


def holm(p: Mapping[str, float]) -> dict[str, float]:
    """Return p-values of several tests, corrected by Holm's method."""
    corrected, worst = {}, 0.0
    for i, name in enumerate(sorted(p, key=lambda name: p[name])):
        worst = max(worst, min(1.0, (len(p) - i) * p[name]))
        corrected[name] = worst
    return {name: corrected[name] for name in p}


def is_best(
    claim: str,
    values: Mapping[str, NDArray[Any]],
    ours: str,
    *,
    unit: str = "",
    more: bool = False,
) -> ClaimVerdict:
    """Judge the claim that one method is better than each of the others.

    The claim holds if the median is the best and every paired test, corrected by
    Holm's method, agrees. It does not hold if another method has a better median and
    its test agrees. Otherwise it is undecided.

    Parameters
    ----------
    claim : str
    values : mapping of str to ndarray
        One number per seed, by method, with seeds in the same order.
    ours : str
        The method that is claimed to be best.
    unit : str
        Appended to numbers.
    more : bool
        Whether large numbers are better.

    Returns
    -------
    ClaimVerdict
    """
    sign = -1 if more else 1
    middle = {name: float(np.median(x)) for name, x in values.items()}
    p = holm({m: paired(values[ours], values[m]) for m in values if m != ours})
    rivals = sorted(p, key=lambda name: sign * middle[name])
    better = [m for m in rivals if sign * middle[m] < sign * middle[ours]]
    listed = ", ".join(
        f"{m} {middle[m]:.3g}{unit} ({_format_p(p[m])})" for m in better or rivals[:1]
    )
    because = (
        f"median {middle[ours]:.3g}{unit}; {'better: ' if better else 'next: '}{listed}"
    )
    if any(p[m] < LEVEL for m in better):
        return ClaimVerdict(claim, FAILS, because)
    best = not better and all(p[m] < LEVEL for m in rivals)
    return ClaimVerdict(claim, HOLDS if best else UNCLEAR, because)


def _format_p(value: float) -> str:
    return "p < 0.001" if value < 1e-3 else f"p = {value:.2g}"


@dataclass(frozen=True)
class Ranking:
    """Average ranks of methods over blocks, where rank 1 is the best.

    Attributes
    ----------
    ranks : dict of float
        Average rank by method.
    statistic, p : float
        Friedman's test of the hypothesis that all methods are equal.
    critical : float
        Nemenyi's critical difference: methods whose ranks are farther apart differ
        (level 0.05).
    n : int
        Number of blocks.
    against : dict of float
        p-values of Wilcoxon's test of each method against the last one, corrected by
        Holm's method.
    """

    ranks: dict[str, float]
    statistic: float
    p: float
    critical: float
    n: int
    against: dict[str, float]


def average_ranks(
    values: Mapping[str, NDArray[Any]], *, more: bool
) -> dict[str, float]:
    """Return the mean rank of each method over the blocks; ties get average ranks."""
    scores = np.round(np.column_stack(list(values.values())), 12)
    ranks = stats.rankdata(-scores if more else scores, axis=1)
    return dict(zip(values, ranks.mean(axis=0).tolist(), strict=True))


def ranking(values: Mapping[str, NDArray[Any]], *, more: bool) -> Ranking:
    """Rank methods in every block and test whether they differ.

    Parameters
    ----------
    values : mapping of str to ndarray
        One number per block (data set), by method.
    more : bool
        Whether large numbers are better.

    Returns
    -------
    Ranking
    """
    names = list(values)
    scores = np.round(np.column_stack([values[name] for name in names]), 12)
    n, m = scores.shape
    statistic, p = 0.0, 1.0
    if n > 1 and np.ptp(scores, axis=1).any():
        statistic, p = map(float, stats.friedmanchisquare(*scores.T))
    q = stats.studentized_range.ppf(1 - LEVEL, m, np.inf) / np.sqrt(2)
    tests = {name: paired(values[name], values[names[-1]]) for name in names[:-1]}
    return Ranking(
        average_ranks(values, more=more),
        statistic,
        p,
        float(q * np.sqrt(m * (m + 1) / (6 * n))),
        n,
        holm(tests),
    )
