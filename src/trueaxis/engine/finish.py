"""From a fit to a sample to the answer for all rows: weights, subspace, verdicts.

Rows that were all in the sample are judged without their own leverage. Of larger data
each row has next to none: one fused pass gives the subspace, one look the verdicts.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2

from trueaxis.engine.cutoffs import Cloud, flag_cuts
from trueaxis.engine.hull import Hull
from trueaxis.engine.kernels import Weighing
from trueaxis.engine.peel import Split
from trueaxis.engine.reweighted import ReweightedStep, gather, look
from trueaxis.engine.rules import Rule, View
from trueaxis.engine.sample import Sample
from trueaxis.engine.stages import Core
from trueaxis.engine.subspace import Subspace, solve, spectrum
from trueaxis.engine.trim import Cuts, TrimRule, without_leverage
from trueaxis.rows import ArrayRows, Rows


@dataclass(frozen=True)
class Judged:
    """The answer, in the coordinates of the hull.

    Attributes
    ----------
    subspace : Subspace
    cuts : Cuts
        Squared distances beyond which a row is an outlier.
    support : ndarray of bool
        The regular rows.
    """

    subspace: Subspace
    cuts: Cuts
    support: NDArray[np.bool_]


class Learned(NamedTuple):
    """Weights of all rows, repetitions included (they sum to 1), and what they tell.

    objective : logarithm of their sum before scaling
    perplexity : exp(entropy), the number of rows that carry them
    """

    weights: NDArray[np.float64]
    objective: float
    perplexity: float


@dataclass(frozen=True)
class Finish:
    """All rows, and the rows of the sample that a fit kept.

    Attributes
    ----------
    hull : Hull
        All rows, in the coordinates of the fit.
    counts : ndarray or None
        How often each row counts; 0 for rows that were set aside as a group apart.
    kept : Rows
        The rows of the sample that the fit kept.
    index : ndarray
        Their numbers among all rows.
    table : ndarray
        The same rows with the columns as given.
    large : bool
        Whether there are more rows than the sample had.
    """

    hull: Hull
    counts: NDArray[np.float64] | None
    kept: ArrayRows
    index: NDArray[np.intp]
    table: NDArray
    large: bool

    def weights(self, state: Subspace, rule: Rule) -> Learned:
        """What all rows weigh at `state`."""
        x = rule.weigh(look(self.hull.rows, state)).log_weights
        top = x.max() if self.counts is None else x[self.counts > 0].max()
        x -= top
        np.minimum(x, 0.0, out=x)  # rows that do not count may weigh anything
        w = np.exp(x)
        if self.counts is not None:
            w *= self.counts
        total = w.sum()
        w /= total
        np.maximum(x, -1e6, out=x)  # where w = 0 anyhow
        perplexity = np.exp(np.log(total) - np.dot(w, x))
        return Learned(w, float(top + np.log(total)), float(perplexity))

    def per_copy(self, weights: NDArray) -> NDArray[np.float64]:
        """Weights of one copy of every row."""
        if self.counts is None:
            return weights
        return weights / np.where(self.counts > 0, self.counts, 1.0)

    def reweighted(self, core: Core, k: int, need: int) -> Judged:
        """Span from rows within cut-offs, centre and variances from regular rows."""
        turn = core.trimmed.turn
        state, carried = turn.next, turn.copy_weights()
        seen = _seen(self.kept, state, carried)
        rule, flags = TrimRule(need).cut_rule(seen), self._flags(seen, state)
        rule = replace(rule, core=Cuts(min(flags.e, rule.span_e), flags.s))
        if self.large:
            found = ReweightedStep(self.hull.rows, rule, k, self.counts)(state).next
            cuts = self._flags(look(self.kept, found), found)
            support = self._regular(look(self.hull.rows, found), cuts)
            return Judged(found, cuts, support)
        everyone = np.zeros(self.hull.rows.shape[0])
        everyone[self.index] = carried
        weighing = rule.weigh(_seen(self.hull.rows, state, everyone))
        sums = gather(self.hull.rows, state.mean, weighing, self.counts)
        carried = np.exp(weighing.log_weights - sums.span().log_weight())
        return self.judged(solve(sums.span(), k, sums.core()), carried)

    def judged(self, subspace: Subspace, carried: NDArray) -> Judged:
        """Verdicts on all rows, given the weight that each copy had in the fit."""
        if self.counts is not None:
            carried = np.where(self.counts > 0, carried, 0.0)
        view = _seen(self.hull.rows, subspace, carried)
        cuts = self._flags(View(*(d2[self.index] for d2 in view[:3])), subspace)
        return Judged(subspace, cuts, self._regular(view, cuts))

    def robust_spectrum(self, judged: Judged) -> tuple[NDArray, int]:
        """Variances of regular rows of the sample; how many of them differ."""
        regular = judged.support[self.index]
        weighing = Weighing(np.where(regular, 0.0, -np.inf))
        sums = gather(self.kept, judged.subspace.mean, weighing)
        return spectrum(sums.span()), n_different_rows(self.table[regular])

    def _flags(self, seen: View, subspace: Subspace) -> Cuts:
        return flag_cuts(Cloud(seen, self.table, self.hull.lift(subspace)))

    def _regular(self, view: View, cuts: Cuts) -> NDArray[np.bool_]:
        regular = (view.e <= cuts.e) & (view.s <= cuts.s)
        return regular if self.counts is None else regular & (self.counts > 0)


def finish_for(
    hull: Hull,
    counts: NDArray | None,
    sample: Sample,
    table: NDArray,
    core: Core,
    separable: NDArray[np.bool_],
) -> Finish:
    """Leave out the rows that the core set apart, among all rows."""
    apart = np.zeros(0, dtype=np.intp)
    if sample.large:
        apart = np.flatnonzero(~_kept_side(hull.rows, core, separable))
    elif core.splits:
        apart = np.delete(sample.index, core.kept)
    if len(apart):
        counts = np.ones(hull.rows.shape[0]) if counts is None else counts.copy()
        counts[apart] = 0.0
    kept = core.kept
    rows = ArrayRows(sample.S[kept])
    return Finish(hull, counts, rows, sample.index[kept], table[kept], sample.large)


def _kept_side(rows: Rows, core: Core, separable: NDArray) -> NDArray[np.bool_]:
    kept = np.ones(rows.shape[0], dtype=bool)
    for split in core.splits:
        side = rows.map(partial(_side, split=split, separable=separable), 1)
        kept &= side[:, 0] > 0
    return kept


def _side(block: NDArray, split: Split, separable: NDArray) -> NDArray[np.bool_]:
    return split.keeps(block[:, separable])[:, None]


def n_different_rows(table: NDArray) -> int:
    """Number of rows that are not copies of another."""
    return len({row.tobytes() for row in np.ascontiguousarray(table) + 0.0})


def consistent(judged: Judged, n: float, D: int) -> Judged:
    """Variances as they are without the cut-offs, if the rows are normal.

    The rows within cut-offs at 99 % have smaller variances than all, by a factor that
    depends on the number of dimensions; and n - 1 makes them unbiased.
    """
    sub, k = judged.subspace, len(judged.subspace.basis)
    unbiased = n / max(n - 1.0, 1.0)
    inside = unbiased * truncation(k)
    off = unbiased * truncation(int(min(D, n)) - k)
    rest = max(sub.total - sub.variances.sum(), 0.0)
    variances = inside * sub.variances
    total = float(variances.sum() + off * rest)
    cuts = judged.cuts._replace(s=judged.cuts.s / inside)
    subspace = replace(sub, variances=variances, total=total)
    return Judged(subspace, cuts, judged.support)


def truncation(dof: int) -> float:
    """Variance of a normal distribution over that of its innermost 99 %."""
    if dof < 1:
        return 1.0
    return float(0.99 / chi2.cdf(chi2.ppf(0.99, dof), dof + 2))


def _seen(rows: Rows, subspace: Subspace, carried: NDArray) -> View:
    return without_leverage(look(rows, subspace)._replace(carried=carried))
