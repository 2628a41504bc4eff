"""Methods that split X into a low-rank part, which gives the components, and errors.

Proximal maps of the norms that make a matrix sparse or of low rank map M to the
minimizer of the norm plus half the squared distance to M. Stable pursuit needs the
noise level; if the user gives none, rounds of a truncated singular value decomposition
that replace the entries that do not fit estimate it. Notation: X data (rows are
samples), L low rank, S sparse entries, O outlying rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trueaxis.base import IterativeMethod, choice, number, number_or_none
from trueaxis.core.iteration import IterationResult, StepResult, iterate
from trueaxis.core.problem import Problem, affine_hull, hard_threshold
from trueaxis.core.recipes import FitResult
from trueaxis.core.starts import equal_weights
from trueaxis.core.subspace import Subspace, spanned_about
from trueaxis.data.rows import ArrayRows, Rows

Matrix = NDArray[np.float64]
TINY = np.finfo(float).tiny
INACCURATE = 1e-3
PENALTIES = ("lam", "sigma", "gam")  # parameters that decide how much is of low rank


def soft_threshold(M: Matrix, t: float | Matrix) -> Matrix:
    """Shrink every entry by t: the proximal map of t |.|_1."""
    return np.asarray(M - np.clip(M, -t, t))


def row_threshold(M: Matrix, t: float) -> Matrix:
    """Shrink the length of every row by t: the proximal map of t times their sum."""
    length = np.linalg.norm(M, axis=1, keepdims=True)
    return np.asarray(M * np.maximum(1 - t / np.maximum(length, TINY), 0.0))


def singular_threshold(M: Matrix, t: float) -> tuple[Matrix, float]:
    """Shrink every singular value by t: the proximal map of t |.|_*.

    Also return the nuclear norm of the result.
    """
    wide = len(M) < M.shape[1]
    tall = M.T if wide else M
    s, axes = gram_spectrum(tall)
    if not t > INACCURATE * s.max(initial=0.0):
        s, axes = np.linalg.svd(tall, full_matrices=False)[1:]
    kept = s > t
    s, axes = s[kept], axes[kept]
    factors = [axes.T * (1 - t / s), axes]
    shrunk = np.linalg.multi_dot([*factors, M] if wide else [M, *factors])
    return np.asarray(shrunk), float((s - t).sum())


def gram_spectrum(M: Matrix) -> tuple[Matrix, Matrix]:
    """Return the singular values of M, descending, and its right singular vectors.

    Several times faster than the decomposition of a tall M, and as accurate (1e-13 of
    the largest singular value) unless values below `INACCURATE` times it matter.
    """
    values, V = np.linalg.eigh(M.T @ M)
    return np.sqrt(np.maximum(values[::-1], 0.0)), V.T[::-1]


def sparse_and_rows(M: Matrix, lam: float, gam: float) -> tuple[Matrix, Matrix]:
    """Minimize lam |S|_1 + gam sum_i |o_i| + |M - S - O|^2 / 2 jointly."""
    if gam == np.inf:
        return soft_threshold(M, lam), np.zeros_like(M)
    S = soft_threshold(M, lam * _stretch(M, lam, gam))
    return S, row_threshold(M - S, gam)


def _stretch(M: Matrix, lam: float, gam: float) -> Matrix:
    """Return factors f >= 1, one per row, by which lam is raised in outlying rows.

    The dual solution is the projection of a row on the intersection of a box of
    half-width lam and a ball of radius gam: clip(m / f, -lam, lam), where f = 1 or the
    norm is gam.
    """
    a = -np.sort(-np.abs(M), axis=1)
    lam = min(lam, max(float(a.max(initial=0.0)), TINY))
    tail = np.cumsum(a[:, ::-1] ** 2, axis=1)[:, ::-1]
    gam = min(
        gam, 2 * float(np.sqrt(tail.max(initial=TINY)))
    )  # its square may overflow
    room = gam**2 - lam**2 * np.arange(a.shape[1])
    f = np.sqrt(tail / np.where(room > 0, room, np.inf))
    # Entry j of a row of f assumes that its j largest values are clipped, and no more.
    valid = (a <= lam * f) & (room > 0)
    valid[:, -1] = True  # regardless of rounding errors
    first = valid.argmax(axis=1)[:, None]
    factor = np.take_along_axis(f, first, axis=1)
    outside = np.linalg.norm(np.minimum(a, lam), axis=1, keepdims=True) > gam
    return np.where(outside, np.maximum(factor, 1.0), 1.0)


MAD_TO_SIGMA = 1.4826

# Gross errors are entries farther than this many sigma from 0 (at first, because the
# structure may have heavy tails), and later from the fit.
FIRST_CUT, CUT = 5.0, 3.0

# The rank grows only while fewer entries than this share are judged differently than
# before: replaced entries look like structure.
SETTLED = 0.005
MAX_ROUNDS = 50


@dataclass(frozen=True)
class RepairedData:
    """The data with gross errors replaced by a low-rank fit.

    Attributes
    ----------
    filled : ndarray
        The data with gross errors replaced.
    sound : ndarray of bool
        Entries that are not gross errors.
    rank : int
        Rank of the fit.
    sigma : float
        Standard deviation of the noise.
    flipped : float
        Share of entries that were judged differently in the round before.
    """

    filled: NDArray[np.float64]
    sound: NDArray[np.bool_]
    rank: int
    sigma: float
    flipped: float = 0.0


def noise_level(X: NDArray[np.float64]) -> float:
    """Return the standard deviation of the noise in X = low rank + sparse + noise.

    Without noise, it is 0 up to rounding errors.
    """
    X = X if len(X) >= X.shape[1] else np.ascontiguousarray(X.T)
    sigma = MAD_TO_SIGMA * float(np.median(np.abs(X)))
    bound = FIRST_CUT * sigma
    start = RepairedData(np.clip(X, -bound, bound), np.abs(X) <= bound, 0, sigma)
    found = iterate(NoiseStep(X), start, max_iter=MAX_ROUNDS, tol=0.0)
    return float(found.last.next.sigma)


class NoiseStep:
    """Step that fits a low-rank matrix to the repaired data, and repairs them again.

    Parameters
    ----------
    X : ndarray of shape (n, D), n >= D
    """

    def __init__(self, X: NDArray[np.float64]) -> None:
        self.X = X
        self.threshold = hard_threshold(*X.shape)

    def __call__(
        self, state: RepairedData, previous: StepResult | None = None
    ) -> StepResult:
        """Take one step; the change is the share of entries reclassified."""
        n, D = self.X.shape
        s, Vt = gram_spectrum(state.filled)
        if not np.median(s[state.rank :]) > INACCURATE * s[0]:
            s, Vt = np.linalg.svd(state.filled, full_matrices=False)[1:]
        # The median of the singular values of noise: the first `rank` are structure.
        edge = self.threshold * np.median(s[state.rank :])
        most = D // 2 if state.flipped <= SETTLED else state.rank
        rank = min(int((s > edge).sum()), most)
        fit = state.filled @ Vt[:rank].T @ Vt[:rank]
        off = np.abs(self.X - fit)
        freedom = np.sqrt(n * D / ((n - rank) * (D - rank)))
        sigma = MAD_TO_SIGMA * float(np.median(off[state.sound]) * freedom)
        sound = off <= CUT * sigma
        flipped = float((sound != state.sound).mean())
        after = RepairedData(np.where(sound, self.X, fit), sound, rank, sigma, flipped)
        change = flipped + abs(rank - state.rank)
        return StepResult(after, state.sigma, change, float(sound.sum()) / D)


@dataclass(frozen=True)
class Split:
    """State of X = L + S, or of X = L + S + O + noise.

    Attributes
    ----------
    low_rank, sparse, rows : ndarray
        L, S and O.
    nuclear : float
        Nuclear norm of L.
    """

    low_rank: Matrix
    sparse: Matrix
    rows: Matrix
    nuclear: float


@dataclass(frozen=True)
class AugmentedSplit(Split):
    """State of an augmented Lagrangian.

    Attributes
    ----------
    multiplier : ndarray
        Lagrange multiplier; proves optimality at the end.
    mu : float
        Penalty of the constraint.
    """

    multiplier: Matrix
    mu: float


@dataclass(frozen=True)
class AcceleratedSplit(Split):
    """State of alternating steps that are extrapolated.

    Attributes
    ----------
    aim : ndarray
        Extrapolated S + O, from which the next step starts.
    pace : float
        Nesterov's sequence, on which the extrapolation depends.
    """

    aim: Matrix
    pace: float


class PrincipalPursuit:
    """Minimize |L|_* + lam |S|_1 subject to L + S = X: inexact augmented Lagrangian.

    Candes, Li, Ma, Wright (2011), solved as by Lin, Chen, Ma (2010), who raise mu by
    `rho` in every step. Unless recovery is exact, that stops short of the optimum (by
    1 % of the objective for tall X), because the constraint holds before the multiplier
    has converged. With a finite `balance`, mu stays as it is while the error of the
    multiplier is more than `balance` times that of the constraint, and the change is
    the larger of the two.
    """

    def __init__(
        self,
        X: Matrix,
        lam: float | None = None,
        rho: float = 1.5,
        balance: float = np.inf,
    ) -> None:
        self.X, self.rho, self.balance = X, rho, balance
        self.lam = default_lam(X) if lam is None else lam
        self.size = max(float(np.linalg.norm(X)), TINY)
        self.spectral = max(float(np.linalg.norm(X, 2)), TINY)
        self.mu_max = 1e7 * self._first_mu()

    def start(self) -> AugmentedSplit:
        """Return zeros, and the largest feasible multiple of X as the multiplier."""
        zeros = np.zeros_like(self.X)
        entry = float(np.abs(self.X).max(initial=0.0))
        multiplier = self.X / max(self.spectral, entry / self.lam)
        return AugmentedSplit(zeros, zeros, zeros, 0.0, multiplier, self._first_mu())

    def __call__(
        self, state: AugmentedSplit, previous: StepResult | None = None
    ) -> StepResult:
        """Update S, L and the multiplier; the change is the norm of X - L - S."""
        balanced = np.isfinite(self.balance)
        lifted = self.X + state.multiplier / state.mu
        S = soft_threshold(lifted - state.low_rank, self.lam / state.mu)
        L, nuclear = singular_threshold(lifted - S, 1 / state.mu)
        left = self.X - L - S
        multiplier = state.multiplier + state.mu * left
        primal = float(np.linalg.norm(left)) / self.size
        off = state.mu * float(np.linalg.norm(L - state.low_rank))
        dual = off / max(float(np.linalg.norm(multiplier)), TINY) if balanced else 0.0
        ready = not balanced or dual <= self.balance * primal
        mu = min(self.rho * state.mu, self.mu_max) if ready else state.mu
        after = AugmentedSplit(L, S, state.rows, nuclear, multiplier, mu)
        change = max(primal, dual)
        return StepResult(after, self.objective(state), change, float(len(self.X)))

    def objective(self, state: AugmentedSplit) -> float:
        """Return |L|_* + lam |S|_1, which may rise in a step."""
        if not np.isfinite(self.lam):  # S = 0 then
            return state.nuclear
        return state.nuclear + self.lam * float(np.abs(state.sparse).sum())

    def _first_mu(self) -> float:
        # The inverse of TINY, for X = 0, would overflow.
        return 1.25 / max(self.spectral, 1e-150)


class PenalizedPursuit:
    """Minimize |L|_* + lam |S|_1 + gam sum_i |o_i| + |X - L - S - O|^2 / (2 mu).

    Stable pursuit (Zhou et al. 2010) if `gam` is inf, otherwise with outlying rows o_i.
    L and (S, O) are solved for alternately and exactly. That is a proximal gradient
    step in S + O, of length one over the Lipschitz constant, so Nesterov's
    extrapolation applies. If it raises the objective, a plain step is taken instead.
    """

    def __init__(
        self,
        X: Matrix,
        mu: float,
        lam: float | None = None,
        gam: float = np.inf,
    ) -> None:
        self.X, self.gam = X, gam
        self.mu = max(mu, TINY)  # the noise level of X = 0 is 0
        self.lam = default_lam(X) if lam is None else lam
        self.size = max(float(np.linalg.norm(X)), TINY)

    def start(self) -> AcceleratedSplit:
        """Return zeros."""
        zeros = np.zeros_like(self.X)
        return AcceleratedSplit(zeros, zeros, zeros, 0.0, zeros, 1.0)

    def __call__(
        self, state: AcceleratedSplit, previous: StepResult | None = None
    ) -> StepResult:
        """Solve for L given the extrapolated S + O, then for S and O given L."""
        before = self.objective(state)
        after = self._round(state, state.aim, state.pace)
        if self.objective(after) > before:
            after = self._round(state, state.sparse + state.rows, 1.0)
        moved = (
            np.linalg.norm(after.low_rank - state.low_rank),
            np.linalg.norm(after.sparse - state.sparse),
            np.linalg.norm(after.rows - state.rows),
        )
        change = float(np.linalg.norm(moved)) / self.size
        return StepResult(after, before, change, float(len(self.X)))

    def objective(self, state: AcceleratedSplit) -> float:
        """Return the penalized objective."""
        left = self.X - state.low_rank - state.sparse - state.rows
        value = state.nuclear + float(np.vdot(left, left)) / (2 * self.mu)
        # A part that is 0 costs nothing, even with an infinite penalty.
        if np.isfinite(self.lam):
            value += self.lam * float(np.abs(state.sparse).sum())
        if np.isfinite(self.gam):
            value += self.gam * float(np.linalg.norm(state.rows, axis=1).sum())
        return value

    def _round(
        self, state: AcceleratedSplit, aim: Matrix, pace: float
    ) -> AcceleratedSplit:
        L, nuclear = singular_threshold(self.X - aim, self.mu)
        rest, mu = self.X - L, self.mu
        S, rows = sparse_and_rows(rest, self.lam * mu, self.gam * mu)
        following = (1 + np.sqrt(1 + 4 * pace**2)) / 2
        moved = S + rows - state.sparse - state.rows
        ahead = S + rows + (pace - 1) / following * moved
        return AcceleratedSplit(L, S, rows, nuclear, ahead, following)


def default_lam(X: Matrix) -> float:
    """Return the usual penalty of sparse entries, 1 / sqrt(max(n, D))."""
    lam: float = 1 / np.sqrt(max(X.shape))
    return lam


def _noise_root(X: NDArray[Any]) -> float:
    return float(np.sqrt(2 * max(X.shape)))


def stable_pursuit(
    X: Matrix, lam: float | None, sigma: float | None, gam: float | None
) -> PenalizedPursuit:
    """Return the step that splits X; None for a penalty or noise level of its own."""
    root = _noise_root(X)
    if gam is None:
        gam = 0.85 * float(np.sqrt(X.shape[1] / max(X.shape)))
    if sigma is None:
        # Assume a little noise even if there is none, or the iteration would never
        # end; and at most so much that half of the largest singular value is left.
        low, high = 1e-3 * float(X.std()), 0.5 * float(np.linalg.norm(X, 2)) / root
        sigma = min(max(noise_level(X), low), high)
    return PenalizedPursuit(X, sigma * root, lam, gam)


def _plain(rows: Rows, k: int) -> Subspace:
    hull = affine_hull(rows)
    return hull.lift(equal_weights(hull.rows, k))


@dataclass(eq=False, repr=False, kw_only=True)
class Pursuit(IterativeMethod):
    """Base class of methods that split X into a low-rank and a sparse matrix.

    If the low-rank part is zero (small tables), the components are those of plain PCA.

    Parameters
    ----------
    lam : float or "auto", default="auto"
        Penalty of sparse entries; "auto" is 1 / sqrt(max(n, D)).
    center : {"none", "median"}, default="none"
        Subtracted from X before it is split.
    """

    max_iter: int = number(5000, 1, whole=True)
    tol: float = number(1e-6, 0)
    lam: float | Literal["auto"] = number("auto", 0, auto=True)
    center: Literal["none", "median"] = choice("none", "median")

    _rotatable: ClassVar[bool] = False

    def fit(  # type: ignore[override]  # a split has no sample weights
        self, X: ArrayLike, y: Any = None, **unknown: Any
    ) -> Self:
        """Split X, and compute the components of its low-rank part.

        Parameters
        ----------
        X : array-like of shape (n, D)
        y : ignored
        **unknown
            Refused: a split has no sample weights.

        Returns
        -------
        self
        """
        # As a named parameter, scikit-learn would take it for supported.
        for name, value in unknown.items():
            if name != "sample_weight" or value is not None:
                raise TypeError(
                    f"{type(self).__name__} splits X cell by cell and cannot weight "
                    f"rows: leave out {name}, repeat rows (numpy.repeat), or use a "
                    "method that takes weights, such as DSWL."
                )
        return super().fit(X)

    def _pursuit(self, X: Matrix) -> PrincipalPursuit | PenalizedPursuit:
        """Return the step that splits X."""
        raise NotImplementedError

    def _attributes(self, step: Any, split: Any) -> dict[str, Any]:
        """Return the fitted attributes, without those that all pursuits have."""
        return {}

    def _search(self, problem: Problem, k: int) -> FitResult:
        X = problem.rows.read().astype(float)
        center = np.zeros(X.shape[1])
        if self.center == "median":
            center = np.median(X, axis=0)
        step: Any = self._pursuit(X - center)
        tol = problem.reachable(self.tol)
        found: IterationResult[Any] = iterate(
            step, step.start(), max_iter=self.max_iter, tol=tol
        )
        split = found.last.next
        low_rank = center + split.low_rank
        # Mean and axes are those of the low-rank part, variances exclude gross errors.
        subspace, plain = _plain(ArrayRows(low_rank), k), _plain(problem.rows, k)
        warnings: list[str] = []
        if subspace.total > 1e-12 * plain.total:
            rest = ArrayRows(X - split.sparse - split.rows)
            ones = np.ones(len(X))
            subspace = spanned_about(subspace.mean, subspace.basis, rest, ones)
        elif plain.total > 0:
            subspace, warnings = plain, self._warn_of_nothing()
        attributes = {
            "low_rank_": low_rank,
            "sparse_": split.sparse,
            "lam_": step.lam,
            **self._attributes(step, split),
        }
        return FitResult(subspace, found, tol, attributes=attributes, warnings=warnings)

    def _warn_of_nothing(self) -> list[str]:
        # By design, the default penalties may find nothing of low rank in small tables:
        # warn only of penalties that the user chose.
        penalties = {name: getattr(self, name, "auto") for name in PENALTIES}
        chosen = {name: float(x) for name, x in penalties.items() if x != "auto"}
        if not chosen:
            return []
        return [
            f"nothing of low rank was found in X with {chosen}: the components are "
            "those of plain PCA. Choose a larger lam or gam, or a smaller sigma."
        ]


@dataclass(eq=False, repr=False, kw_only=True)
class PCP(Pursuit):
    """Principal component pursuit: X = low rank + sparse, exactly.

    Minimizes ``|L|_* + lam |S|_1`` (sum of singular values, sum of absolute entries)
    subject to L + S = X, by the inexact augmented Lagrangian method. It is meant for
    gross errors in single cells rather than in whole rows. Components and mean are
    those of L, variances those of X - S; new rows are transformed as by any other
    method. The split does not depend on `n_components`.

    The objective is not monotone, but the result is the optimum of a convex problem.

    Confidence: as published with balance=inf, which ends 1 % short of the optimum on
    tall tables; the default waits for the multipliers and reaches it.

    Parameters
    ----------
    lam : float or "auto", default="auto"
        Penalty of sparse entries; "auto" is 1 / sqrt(max(n, D)).
    center : {"none", "median"}, default="none"
        Subtracted from X before it is split: nothing, as published, or the median of
        every column, which is better far from the origin.
    rho : float, default=1.5
        Growth factor of the penalty of L + S = X; above 1.
    balance : float, default=10.0
        The penalty does not grow while the error of the multipliers exceeds this
        multiple of the error of L + S = X. With infinity it always grows.
    n_components, max_iter, tol, random_state, level, contamination
        See `Method`.

    Attributes
    ----------
    low_rank_, sparse_ : ndarray of shape (n, D)
        The parts of X. The low-rank part includes the center.
    lam_ : float
        The value of lam used.

    References
    ----------
    J. Wright, A. Ganesh, S. Rao, Y. Peng, Y. Ma (2009): Robust principal component
    analysis: exact recovery of corrupted low-rank matrices by convex optimization.
    Z. Lin, M. Chen, Y. Ma (2010): The augmented Lagrange multiplier method for exact
    recovery of corrupted low-rank matrices.

    Examples
    --------
    >>> import numpy as np
    >>> from trueaxis.methods import PCP
    >>> truth = np.outer(np.arange(1.0, 31), np.arange(1.0, 21))
    >>> X = truth.copy()
    >>> X[3, 4] += 500
    >>> bool(np.abs(PCP(1).fit(X).low_rank_ - truth).max() < 0.01)
    True
    """

    rho: float = number(1.5, 1, 100)
    balance: float = number(10.0, 0)

    _own_attributes: ClassVar[frozenset[str]] = frozenset(
        {"low_rank_", "sparse_", "lam_"}
    )

    def _pursuit(self, X: Matrix) -> PrincipalPursuit:
        lam, rho, balance = number_or_none(self.lam), self.rho, self.balance
        return PrincipalPursuit(X, lam, float(rho), float(balance))


@dataclass(eq=False, repr=False, kw_only=True)
class SPCP(Pursuit):
    """Stable principal component pursuit: X = low rank + sparse + noise.

    Minimizes ``|L|_* + lam |S|_1 + |X - L - S|^2 / (2 mu)``, where mu is
    sigma sqrt(2 max(n, D)), by exact alternating steps in L and S, accelerated.
    Components and mean are those of L, variances those of X - S. The split does not
    depend on `n_components`.

    The objective falls at every iteration.

    Confidence: as published in this penalized form, with defaults from third-party
    code; the estimate of sigma is ours.

    Parameters
    ----------
    sigma : float or "auto", default="auto"
        Standard deviation of the noise in a cell; "auto" estimates it from X.
    lam : float or "auto", default="auto"
        Penalty of sparse entries; "auto" is 1 / sqrt(max(n, D)).
    center : {"none", "median"}, default="none"
        Subtracted from X before it is split: nothing, as published, or the median of
        every column, which is better far from the origin.
    n_components, max_iter, tol, random_state, level, contamination
        See `Method`.

    Attributes
    ----------
    low_rank_, sparse_ : ndarray of shape (n, D)
        The parts of X. The low-rank part includes the center.
    lam_ : float
        The value of lam used.
    sigma_ : float
        The value of sigma used.

    References
    ----------
    Z. Zhou, X. Li, J. Wright, E. Candes, Y. Ma (2010): Stable principal component
    pursuit.

    Examples
    --------
    >>> from trueaxis.methods import SPCP
    >>> from trueaxis.datasets import planted
    >>> round(SPCP(3).fit(planted("none").X).sigma_, 1)
    0.3
    """

    sigma: float | Literal["auto"] = number("auto", 0, 1e150, auto=True)

    _own_attributes: ClassVar[frozenset[str]] = frozenset(
        {"low_rank_", "sparse_", "lam_", "sigma_"}
    )

    def _pursuit(self, X: Matrix) -> PenalizedPursuit:
        lam, sigma = number_or_none(self.lam), number_or_none(self.sigma)
        return stable_pursuit(X, lam, sigma, np.inf)

    def _attributes(self, step: Any, split: Any) -> dict[str, Any]:
        return {"sigma_": step.mu / _noise_root(step.X)}


@dataclass(eq=False, repr=False, kw_only=True)
class RRPCP(Pursuit):
    """Robust PCP with outlying rows: X = low rank + sparse + a few whole rows + noise.

    Minimizes ``|L|_* + lam |S|_1 + gam sum |o_i| + |X - L - S - O|^2 / (2 mu)``, with
    o_i the rows of O, most of them zero, and mu as in `SPCP`.

    The objective falls at every iteration.

    Confidence: reconstructed. Known: two kinds of outliers, cells and rows off the
    subspace. The convex surrogate and its constants are ours.

    Parameters
    ----------
    gam : float or "auto", default="auto"
        Penalty of the length of an outlying row. Above sqrt(D / max(n, D)) no row is
        outlying (sparse cells cost less), below half of that, outlying rows explain
        everything; "auto" is 0.85 times that. Infinity gives SPCP.
    sigma : float or "auto", default="auto"
        Standard deviation of the noise in a cell; "auto" estimates it from X.
    lam : float or "auto", default="auto"
        Penalty of sparse entries; "auto" is 1 / sqrt(max(n, D)).
    center : {"none", "median"}, default="none"
        Subtracted from X before it is split: nothing, as published, or the median of
        every column, which is better far from the origin.
    n_components, max_iter, tol, random_state, level, contamination
        See `Method`.

    Attributes
    ----------
    low_rank_, sparse_, outlying_ : ndarray of shape (n, D)
        The parts of X. The low-rank part includes the center.
    lam_, sigma_, gam_ : float
        The values of lam, sigma and gam used.

    References
    ----------
    P. P. Brahma, Y. She, S. Li, J. Li, D. Wu (2017): Reinforced robust principal
    component pursuit.

    Examples
    --------
    >>> from trueaxis.methods import RRPCP
    >>> from trueaxis.datasets import planted
    >>> cloud = planted("scatter", share=0.1)
    >>> found = (RRPCP(3).fit(cloud.X).outlying_ != 0).any(axis=1)
    >>> bool(found[cloud.is_outlier].all())
    True
    """

    sigma: float | Literal["auto"] = number("auto", 0, 1e150, auto=True)
    gam: float | Literal["auto"] = number("auto", 0, auto=True)

    _own_attributes: ClassVar[frozenset[str]] = frozenset(
        {"low_rank_", "sparse_", "outlying_", "lam_", "sigma_", "gam_"}
    )

    def _pursuit(self, X: Matrix) -> PenalizedPursuit:
        lam, sigma = number_or_none(self.lam), number_or_none(self.sigma)
        return stable_pursuit(X, lam, sigma, number_or_none(self.gam))

    def _attributes(self, step: Any, split: Any) -> dict[str, Any]:
        sigma = step.mu / _noise_root(step.X)
        return {"sigma_": sigma, "outlying_": split.rows, "gam_": step.gam}
