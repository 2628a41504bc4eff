"""From a fit to a sample to the answer for all rows: weights, subspace, verdicts.

Rows that were all in the sample are judged without their own leverage; of larger data
each row has next to none, and one fused pass is enough.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from trueaxis.engine.cutoffs import Cloud, flag_cuts
from trueaxis.engine.hull import Hull
from trueaxis.engine.moments import Weighing
from trueaxis.engine.quantiles import n_different
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


@dataclass(frozen=True)
class Finish:
    """All rows, and the rows of the sample that a fit kept.

    Attributes
    ----------
    hull : Hull
        All rows, in the coordinates of the fit.
    counts : ndarray or None
        How often each row counts; 0 for rows that were set aside as a group apart.
    index : ndarray
        Numbers of the kept rows among all rows.
    table : ndarray
        The kept rows with the columns as given.
    large : bool
        Whether there are more rows than the sample had.
    """

    hull: Hull
    counts: NDArray[np.float64] | None
    index: NDArray[np.intp]
    table: NDArray
    large: bool

    def weights(self, state: Subspace, rule: Rule) -> tuple[NDArray, float]:
        """Weights of all rows as learned at `state` (sum 1), and the objective."""
        log_weights = rule.weigh(look(self.hull.rows, state)).log_weights
        objective = float(logsumexp(log_weights, b=self.counts))
        w = np.exp(log_weights - objective)
        return (w if self.counts is None else w * self.counts), objective

    def per_copy(self, weights: NDArray) -> NDArray[np.float64]:
        """Weights of one copy of every row."""
        return (
            weights
            if self.counts is None
            else weights / np.maximum(self.counts, 1e-300)
        )

    def reweighted(self, core: Core, k: int, need: int) -> Judged:
        """Span from rows within cut-offs, centre and variances from regular rows."""
        turn = core.trimmed.turn
        state, kept = turn.next, self._kept_rows()
        seen = _seen(kept, state, turn.copy_weights())
        rule, flags = TrimRule(need).cut_rule(seen), self._flags(seen, state)
        rule = replace(rule, core=Cuts(min(flags.e, rule.span_e), flags.s))
        if self.large:
            last = ReweightedStep(self.hull.rows, rule, k, self.counts)(state)
            cuts = self._flags(look(kept, last.next), last.next)
            return Judged(last.next, cuts, self._regular(last.view, flags))
        carried = np.zeros(self.hull.rows.shape[0])
        carried[self.index] = turn.copy_weights()
        weighing = rule.weigh(_seen(self.hull.rows, state, carried))
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
        regular = ArrayRows(self.hull.rows.take(self.index[judged.support[self.index]]))
        weighing = Weighing(np.zeros(regular.shape[0]))
        sums = gather(regular, judged.subspace.mean, weighing)
        return spectrum(sums.span()), n_different_rows(regular.array)

    def _kept_rows(self) -> ArrayRows:
        return ArrayRows(self.hull.rows.take(self.index))

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
    kept: NDArray[np.intp],
) -> Finish:
    """Set aside the rows of the sample that were not kept, where all rows are in it."""
    if not sample.large and len(kept) < len(sample.S):
        aside = np.delete(sample.index, kept)
        counts = np.ones(hull.rows.shape[0]) if counts is None else counts.copy()
        counts[aside] = 0.0
    return Finish(hull, counts, sample.index[kept], table[kept], sample.large)


def n_different_rows(S: NDArray) -> int:
    """Number of different rows, told apart by their distance from the centre."""
    y = (S - np.median(S, axis=0)).astype(float)
    return n_different(np.einsum("ij,ij->i", y, y))


def _seen(rows: Rows, subspace: Subspace, carried: NDArray) -> View:
    return without_leverage(look(rows, subspace)._replace(carried=carried))
