"""Summary of the UCI study: means over folds, gains, comparisons, verdicts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from studies.methods import AUTOMATIC, NAMES, PUBLISHED
from studies.significance import (
    FAILS,
    HOLDS,
    UNCLEAR,
    ClaimVerdict,
    Ranking,
    average_ranks,
    ranking,
)
from studies.study import Results
from studies.uci.printed import KS, METHODS, accuracies
from studies.uci.study import LEAK, ORACLE

ALL = (*NAMES, ORACLE)
MEASURES = ("accuracy", "accuracy_training_only", "angle", "lost", "mean_error")
MORE = MEASURES[:2]  # larger is better
# Smallest number of seeds for an interval, and number of bootstrap samples.
FEW_SEEDS, DRAWS = 3, 500


@dataclass(frozen=True)
class UciSummary:
    """Measures of all methods, averaged over the folds.

    Attributes
    ----------
    sets : tuple of str
    values : dict of ndarray of shape (sets, ks, methods, seeds)
        Values by measure. Methods are `NAMES`, followed by PCA on clean rows.
    """

    sets: tuple[str, ...]
    values: dict[str, NDArray[np.float64]]

    @classmethod
    def of(cls, results: Results, *, leak: bool = False) -> UciSummary:
        """Summarize the measurements of `LEAK`, or of all other data sets."""
        rows = [row for row in results.rows if (row["set"] == LEAK) == leak]
        sets = list(dict.fromkeys(row["set"] for row in rows))
        n_seeds, n_folds = (1 + max((r[x] for r in rows), default=0) for x in _DRAWN)
        places = {m: i for i, m in enumerate(ALL)}
        shape = (len(sets), len(KS), len(ALL), n_seeds, n_folds)
        full = {measure: np.full(shape, np.nan) for measure in MEASURES}
        for row in rows:
            place = (
                sets.index(row["set"]),
                KS.index(row["k"]),
                places[row["method"]],
                row["seed"],
                row["fold"],
            )
            for measure, array in full.items():
                array[place] = row[measure]
        means = {measure: array.mean(axis=-1) for measure, array in full.items()}
        return cls(tuple(sets), means)

    @property
    def n_seeds(self) -> int:
        """Number of seeds."""
        return int(self.values["accuracy"].shape[-1])

    def of_method(self, measure: str, method: str) -> NDArray[Any]:
        """Return one measure of one method, of shape (sets, ks, seeds)."""
        return self.values[measure][:, :, ALL.index(method)]

    def mean(self, measure: str, method: str) -> NDArray[Any]:
        """Return the mean over the seeds, of shape (sets, ks)."""
        means: NDArray[Any] = self.of_method(measure, method).mean(axis=-1)
        return means

    def error(self, measure: str, method: str) -> NDArray[Any]:
        """Return the standard error over the seeds, of shape (sets, ks)."""
        return standard_error(self.of_method(measure, method))

    def without(self, name: str) -> UciSummary:
        """Return the summary without one data set."""
        keep = [i for i, other in enumerate(self.sets) if other != name]
        values = {measure: array[keep] for measure, array in self.values.items()}
        return replace(self, sets=tuple(self.sets[i] for i in keep), values=values)

    def drawn(self, seeds: NDArray[Any]) -> UciSummary:
        """Return the summary of a bootstrap sample of the seeds."""
        values = {measure: array[..., seeds] for measure, array in self.values.items()}
        return replace(self, values=values)

    def blocks(self, measure: str, k: int | None = None) -> dict[str, NDArray[Any]]:
        """Return one number per data set, by method; with k=None, means over all k."""
        all_means = {name: self.mean(measure, name) for name in NAMES}
        return {
            name: means.mean(axis=1) if k is None else means[:, KS.index(k)]
            for name, means in all_means.items()
        }

    def ranking(self, measure: str, k: int | None = None) -> Ranking:
        """Rank all methods over the data sets; with k=None, by the mean over all k."""
        return ranking(self.blocks(measure, k), more=measure in MORE)

    def gain(self, method: str, measure: str = "accuracy") -> NDArray[Any]:
        """Return the mean gain over plain PCA, without BUPA, for each k."""
        nine = self.without("bupa")
        gain = nine.mean(measure, method) - nine.mean(measure, "PCA")
        means: NDArray[Any] = gain.mean(axis=0)
        return means

    def interval(self, of: Callable[[UciSummary], float]) -> tuple[float, float, float]:
        """Return a number and its 95 % bootstrap interval over the seeds."""
        rng = np.random.default_rng(0)
        draws = [
            of(self.drawn(rng.integers(self.n_seeds, size=self.n_seeds)))
            for _ in range(DRAWS)
        ]
        low, high = np.quantile(draws, [0.025, 0.975])
        return of(self), float(low), float(high)


_DRAWN = ("seed", "fold")


def standard_error(values: NDArray[Any]) -> NDArray[Any]:
    """Return the standard error of means over the last axis; 0 for a single value."""
    n = values.shape[-1]
    if n < 2:
        return np.zeros(values.shape[:-1])
    error: NDArray[Any] = values.std(axis=-1, ddof=1) / np.sqrt(n)
    return error


def printed_gain(sets: Sequence[str]) -> NDArray[Any]:
    """Return the gain of DSWL over plain PCA in the paper's table, without BUPA."""
    table = accuracies([name for name in sets if name != "bupa"])
    gain = table[:, METHODS.index(PUBLISHED)] - table[:, METHODS.index("PCA")]
    means: NDArray[Any] = gain.mean(axis=0)
    return means


# ---------------------------------------------------------------- comparisons


@dataclass(frozen=True)
class MethodComparison:
    """One method against automatic DSWL, over all data sets and components.

    Attributes
    ----------
    better, worse : int
        Number of cases in which the method is better or worse by more than two
        standard errors of the difference over the seeds.
    mean : float
        Mean advantage of the method; negative if automatic DSWL is better.
    most : float
        Largest advantage of the method.
    where : str
        Data set and number of components of the largest advantage.
    """

    better: int
    worse: int
    mean: float
    most: float
    where: str


def compare_with_automatic(
    summary: UciSummary, measure: str, method: str
) -> MethodComparison:
    """Compare one method with automatic DSWL in all cases."""
    sign = 1 if measure in MORE else -1
    ahead = sign * (
        summary.of_method(measure, method) - summary.of_method(measure, AUTOMATIC)
    )
    mean, error = ahead.mean(axis=-1), standard_error(ahead)
    i, j = np.unravel_index(int(mean.argmax()), mean.shape)
    return MethodComparison(
        int((mean > 2 * error).sum()),
        int((mean < -2 * error).sum()),
        float(mean.mean()),
        float(mean[i, j]),
        f"{summary.sets[i]}, k = {KS[j]}",
    )


# ---------------------------------------------------------------- verdicts


def cases(summary: UciSummary, ours: str) -> tuple[int, int]:
    """Count the cases in which a method is best, and in which it is third or worse.

    It is compared with the paper's four other methods; ties for the best count as best.
    """
    rivals = np.array([summary.mean("accuracy", m) for m in METHODS[:-1]])
    better = (rivals > summary.mean("accuracy", ours) + 1e-9).sum(axis=0)
    return int((better == 0).sum()), int((better > 1).sum())


def printed_cases(sets: Sequence[str]) -> tuple[int, int]:
    """Count the same cases in the paper's table."""
    table = accuracies(list(sets))
    better = (table[:, :-1] > table[:, -1:]).sum(axis=1)
    return int((better == 0).sum()), int((better > 1).sum())


def decide(
    summary: UciSummary,
    of: Callable[[UciSummary], float],
    bound: float,
    *,
    most: bool = False,
) -> tuple[str, str]:
    """Judge by its interval whether a number is at least, or at most, a bound."""
    if summary.n_seeds < FEW_SEEDS:
        return UNCLEAR, f"{of(summary):.3g}; too few seeds ({summary.n_seeds})"
    value, low, high = summary.interval(of)
    inside = high <= bound if most else low >= bound
    outside = low > bound if most else high < bound
    verdict = HOLDS if inside else FAILS if outside else UNCLEAR
    return verdict, f"{value:.3g} (95 % interval {low:.3g} to {high:.3g})"


def _wins(method: str, summary: UciSummary) -> float:
    return cases(summary, method)[0]


def _exceptions(method: str, summary: UciSummary) -> float:
    return cases(summary, method)[1]


def _gain(method: str, j: int, summary: UciSummary) -> float:
    return float(summary.gain(method)[j])


def verdicts(summary: UciSummary) -> list[ClaimVerdict]:
    """Judge the paper's claims, for both versions of DSWL."""
    n = len(summary.sets) * len(KS)
    best, third = printed_cases(summary.sets)
    verdicts = []
    for ours in (PUBLISHED, AUTOMATIC):
        verdict, numbers = decide(summary, partial(_wins, ours), n / 2 + 0.5)
        claim = f"{ours} has the best accuracy in most cases"
        because = f"cases of {n}: {numbers}; in the printed table {best}"
        verdicts.append(ClaimVerdict(claim, verdict, because))
        verdict, numbers = decide(summary, partial(_exceptions, ours), 2, most=True)
        claim = f"otherwise {ours} is second-best, except in two cases"
        because = f"exceptions: {numbers}; in the printed table {third}"
        verdicts.append(ClaimVerdict(claim, verdict, because))
    for ours in (PUBLISHED, AUTOMATIC):
        for j, (k, least) in enumerate(
            zip(KS, printed_gain(summary.sets), strict=True)
        ):
            verdict, numbers = decide(summary, partial(_gain, ours, j), least)
            claim = f"k = {k}: {ours} gains at least the printed {least:.1f} over PCA"
            verdicts.append(ClaimVerdict(claim, verdict, f"points: {numbers}"))
    for measure, words in (
        ("accuracy", "accuracy, all rows contaminated"),
        ("accuracy_training_only", "accuracy, training folds only"),
        ("angle", "angle to PCA on clean rows"),
        ("lost", "clean variance kept"),
    ):
        verdicts.append(_leads(summary, measure, words))
    return verdicts


def _leads(summary: UciSummary, measure: str, words: str) -> ClaimVerdict:
    claim = f"{AUTOMATIC} has the best average rank by {words}"
    ranking = summary.ranking(measure)
    rival = min(NAMES[:-1], key=lambda name: ranking.ranks[name])

    def lead(some: UciSummary) -> float:
        ranks = average_ranks(some.blocks(measure), more=measure in MORE)
        return min(ranks[name] for name in NAMES[:-1]) - ranks[AUTOMATIC]

    verdict, numbers = decide(summary, lead, 1e-9)
    return ClaimVerdict(
        claim,
        verdict,
        f"rank {ranking.ranks[AUTOMATIC]:.2f}, best other {rival} "
        f"{ranking.ranks[rival]:.2f} (critical difference {ranking.critical:.2f}); "
        f"lead {numbers}",
    )
