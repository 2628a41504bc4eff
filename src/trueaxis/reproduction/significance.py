"""JUDGE results: tests and ranks, verdicts by rule, tables in Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

HOLDS, FAILS, UNCLEAR = "holds", "does not hold", "cannot be told"
LEVEL = 0.05


@dataclass(frozen=True)
class ClaimVerdict:
    """What became of a claim.

    Attributes
    ----------
    claim : str
        In words.
    verdict : {"holds", "does not hold", "cannot be told"}
    because : str
        The numbers that decide.
    """

    claim: str
    verdict: str
    because: str


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Make a table in Markdown: the first column in words, the others in numbers."""
    marks = ["---"] + ["--:"] * (len(head) - 1)
    lines = [head, marks, *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def verdict_table(verdicts: Sequence[ClaimVerdict]) -> str:
    """Make a table of claims and what became of them."""
    lines = ["| claim | verdict | because |", "|---|---|---|"]
    lines += [f"| {v.claim} | **{v.verdict}** | {v.because} |" for v in verdicts]
    return "\n".join(lines) + "\n"


def paired(one: NDArray[Any], other: NDArray[Any]) -> float:
    """p-value of Wilcoxon's signed-rank test, two-sided; 1 if nothing differs."""
    difference = np.round(np.asarray(one) - np.asarray(other), 12)
    if not difference.any():
        return 1.0
    # Without an exact distribution where ranks are tied, the normal one is used.
    ranked = np.abs(difference[difference != 0])
    tied = len(np.unique(ranked)) < len(difference)
    method = "approx" if tied or len(difference) > 50 else "exact"
    return float(stats.wilcoxon(difference, method=method).pvalue)


def holm(p: Mapping[str, float]) -> dict[str, float]:
    """p-values of several tests, raised by the rule of Holm."""
    raised, worst = {}, 0.0
    for i, name in enumerate(sorted(p, key=lambda name: p[name])):
        worst = max(worst, min(1.0, (len(p) - i) * p[name]))
        raised[name] = worst
    return {name: raised[name] for name in p}


def is_best(
    claim: str,
    values: Mapping[str, NDArray[Any]],
    ours: str,
    *,
    unit: str = "",
    more: bool = False,
) -> ClaimVerdict:
    """Judge whether one method is better than each of the others, seed by seed.

    It holds if the median is the best and every paired test, corrected by Holm, agrees;
    it does not if another method has the better median and its test agrees; otherwise
    it cannot be told.

    Parameters
    ----------
    claim : str
    values : mapping of str to ndarray
        A number for each seed, by method, in the same order of seeds.
    ours : str
        The method that is claimed to be best.
    unit : str
        Said after numbers.
    more : bool
        Whether large numbers are good.

    Returns
    -------
    ClaimVerdict
    """
    sign = -1 if more else 1
    middle = {name: float(np.median(x)) for name, x in values.items()}
    p = holm({m: paired(values[ours], values[m]) for m in values if m != ours})
    rivals = sorted(p, key=lambda name: sign * middle[name])
    better = [m for m in rivals if sign * middle[m] < sign * middle[ours]]
    sure = [m for m in better if p[m] < LEVEL]
    shown = better or rivals[:1]
    said = ", ".join(f"{m} {middle[m]:.3g}{unit} ({_p(p[m])})" for m in shown)
    because = (
        f"median {middle[ours]:.3g}{unit}; {'better: ' if better else 'next: '}{said}"
    )
    if sure:
        return ClaimVerdict(claim, FAILS, because)
    best = not better and all(p[m] < LEVEL for m in rivals)
    return ClaimVerdict(claim, HOLDS if best else UNCLEAR, because)


def _p(value: float) -> str:
    return "p < 0.001" if value < 1e-3 else f"p = {value:.2g}"


@dataclass(frozen=True)
class Ranking:
    """Average ranks of methods over blocks, 1 the best.

    Attributes
    ----------
    ranks : dict of float
        By method.
    statistic, p : float
        Friedman's test of "all are alike".
    critical : float
        Nemenyi: two methods differ if their ranks are further apart (level 0.05).
    n : int
        Number of blocks.
    against : dict of float
        p-values of Wilcoxon's test of each method against the last one, by Holm.
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
    """Mean over the blocks of each method's rank in them; equals share their ranks."""
    scores = np.round(np.column_stack(list(values.values())), 12)
    ranks = stats.rankdata(-scores if more else scores, axis=1)
    return dict(zip(values, ranks.mean(axis=0).tolist(), strict=True))


def ranking(values: Mapping[str, NDArray[Any]], *, more: bool) -> Ranking:
    """Rank methods in every block, and test whether they differ.

    Parameters
    ----------
    values : mapping of str to ndarray
        A number for each block (data set), by method.
    more : bool
        Whether large numbers are good.

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
