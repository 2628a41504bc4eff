"""From a fit to a sample to the answer for all rows: weights, subspace, verdicts.

Rows that were all in the sample are judged without their own leverage. Of larger data
each row has next to none: one fused pass gives the subspace, one look the verdicts.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2

from trueaxis.engine.cutoffs import Cloud, flag_cuts
from trueaxis.engine.ground import Ground
from trueaxis.engine.judge import Judged, Jury, seen_without_leverage
from trueaxis.engine.kernels import NOTHING, Sweep, Together, Weighing
from trueaxis.engine.peel import OtherSides, other_sides
from trueaxis.engine.quantiles import n_different_rows
from trueaxis.engine.reweighted import EXACT, block_weigher, gather, look
from trueaxis.engine.roll import Roll
from trueaxis.engine.rules import Rule, View
from trueaxis.engine.stages import Core
from trueaxis.engine.subspace import Subspace, solve, spectrum
from trueaxis.engine.tallies import LogSum, LogWeights, Marks, Within
from trueaxis.engine.trim import Cuts, TrimRule
from trueaxis.rows import ArrayRows


class Learned(NamedTuple):
    """Weights of all rows, repetitions included (they sum to 1), and what they tell.

    objective : logarithm of their sum before scaling
    perplexity : exp(entropy), the number of rows that carry them
    """

    weights: NDArray[np.float64]
    objective: float
    perplexity: float


@dataclass(frozen=True)
class Finish(Jury):
    """A jury of the rows of the sample that a fit kept.

    `counts` is 0 for rows that were set aside as a group apart.

    Attributes
    ----------
    kept : Rows
        The rows of the sample that the fit kept, in the coordinates of the fit.
    large : bool
        Whether there are more rows than the sample had.
    apart : callable, or None
        Of more rows, marks those of a block that belong to a group apart.
    """

    kept: ArrayRows
    large: bool
    apart: OtherSides | None

    def weights(self, state: Subspace, rule: Rule) -> Learned:
        """What all rows weigh at `state`."""
        kernel = LogWeights(state, rule, Roll(self.counts))
        (x,), (_, total) = self.hull.rows.scan(kernel)
        return _learned(x, total)

    def per_copy(self, weights: NDArray) -> NDArray[np.float64]:
        """Weights of one copy of every row."""
        if self.counts is None:
            return weights
        return weights / np.where(self.counts > 0, self.counts, 1.0)

    def reweighted(
        self, core: Core, need: int, k: int, state: Subspace, rule: Rule
    ) -> tuple[Learned, Judged]:
        """What all rows weigh at `state`; and span, centre, variances and verdicts.

        The span comes from rows within cut-offs, centre and variances from regular
        rows. The core may have fewer components than k.
        """
        turn = core.trimmed.turn
        trimmed, carried = turn.next, turn.copy_weights()
        seen = seen_without_leverage(self.kept, trimmed, carried)
        cut, flags = TrimRule(need).cut_rule(seen), self.cuts(seen, trimmed)
        cut = replace(cut, core=Cuts(min(flags.e, cut.span_e), flags.s))
        rows = self.hull.rows
        if self.large:
            # Nothing that is as long as the data is kept but what is asked for.
            roll = Roll(self.counts, self.apart)
            solving = Sweep(trimmed, block_weigher(cut), roll, NOTHING)
            weighing_too = Together(LogWeights(state, rule, roll), solving)
            (x,), ((_, total), sums) = rows.scan_there(weighing_too)
            found = EXACT(sums.span(), sums.core(), trimmed)
            cuts = self.cuts(look(self.kept, found), found)
            (support,), (_, n) = rows.scan_there(Within(found, cuts, roll))
            return _learned(x, total), Judged(found, cuts, support, n)
        everyone = np.zeros(rows.shape[0])
        everyone[self.index] = carried
        weighing = cut.weigh(seen_without_leverage(rows, trimmed, everyone))
        moments = gather(rows, trimmed.mean, weighing, self.counts)
        carried = np.exp(weighing.log_weights - moments.span().log_weight())
        found = EXACT(moments.span(), moments.core(), trimmed)
        judged = self.judged(found, carried)
        if k > len(trimmed.basis):
            wide = solve(moments.span(), k, moments.core())
            judged = self.widened(judged, wide, carried)
        return self.weights(state, rule), judged

    def widened(self, judged: Judged, wide: Subspace, carried: NDArray) -> Judged:
        """The same verdicts, and cut-offs for a subspace with more components."""
        view = seen_without_leverage(self.hull.rows, wide, carried)
        some = judged.support[self.index]
        seen = View(*(d2[self.index][some] for d2 in view[:3]))
        cloud = Cloud(seen, self.table[some], self.hull.lift(wide))
        return replace(judged, subspace=wide, cuts=flag_cuts(cloud))

    def robust_spectrum(self, judged: Judged) -> tuple[NDArray, int]:
        """Variances of regular rows of the sample; how many of them differ."""
        if self.large:
            (regular,), _ = self.kept.scan(Within(judged.subspace, judged.cuts))
        else:
            regular = judged.support[self.index]
        weighing = Weighing(np.where(regular, 0.0, -np.inf))
        sums = gather(self.kept, judged.subspace.mean, weighing)
        return spectrum(sums.span()), n_different_rows(self.table[regular])


def finish_for(
    ground: Ground, core: Core, separable: NDArray[np.bool_], *, marked: bool
) -> Finish:
    """Leave out the rows that the core set apart, among all rows.

    They are marked at once, or (of many rows, unless `marked`) told apart as they come.
    """
    sample, counts, kept = ground.sample, ground.counts, core.kept
    apart = other_sides(core.splits, separable)
    if apart is not None and (marked or not sample.large):
        counts = np.ones(ground.rows.shape[0]) if counts is None else counts.copy()
        if sample.large:
            (others,), _ = ground.rows.scan(Marks(apart))
            counts[others] = 0.0
        else:
            counts[np.delete(sample.index, kept)] = 0.0
        apart = None
    return Finish(
        hull=ground.hull,
        counts=counts,
        index=sample.index[kept],
        table=ground.table[kept],
        kept=ArrayRows(sample.S[kept]),
        large=sample.large,
        apart=apart,
    )


def _learned(x: Any, total: LogSum) -> Learned:
    """Make weights of log-weights, which are overwritten if they are in memory."""
    log_total = total.log_total()
    if isinstance(x, np.ndarray):
        np.subtract(x, log_total, out=x)
        weights = np.exp(x, out=x)
    else:
        weights = np.exp(x - log_total)
    return Learned(weights, log_total, total.perplexity())


def consistent(judged: Judged, D: int) -> Judged:
    """Variances as they are without the cut-offs, if the rows are normal.

    The rows within cut-offs at 99 % have smaller variances than all, by a factor that
    depends on the number of dimensions; and n - 1 makes them unbiased.
    """
    sub, k, n = judged.subspace, len(judged.subspace.basis), judged.n_regular
    unbiased = n / max(n - 1.0, 1.0)
    inside = unbiased * truncation(k)
    off = unbiased * truncation(int(min(D, n)) - k)
    rest = max(sub.total - sub.variances.sum(), 0.0)
    variances = inside * sub.variances
    total = float(variances.sum() + off * rest)
    cuts = judged.cuts._replace(s=judged.cuts.s / inside)
    subspace = replace(sub, variances=variances, total=total)
    return replace(judged, subspace=subspace, cuts=cuts)


def truncation(dof: int) -> float:
    """Variance of a normal distribution over that of its innermost 99 %."""
    if dof < 1:
        return 1.0
    return float(0.99 / chi2.cdf(chi2.ppf(0.99, dof), dof + 2))
