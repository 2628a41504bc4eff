"""Low rank plus sparse plus noise: stable pursuits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from trueaxis._engine.lowrank.noise import noise_level
from trueaxis._engine.lowrank.pursuit import Decomposition, PenalisedPursuit
from trueaxis._validation import number_or_none
from trueaxis.estimators.lowrank import Pursuit


@dataclass(eq=False, repr=False, kw_only=True)
class Noisy(Pursuit):
    """Base of methods that leave room for noise.

    Parameters
    ----------
    sigma : float or "auto", default="auto"
        Standard deviation of the noise in a cell; "auto" estimates it from X.
    """

    sigma: float | Literal["auto"] = "auto"

    def _check(self) -> None:
        super()._check()
        number_or_none("sigma", self.sigma, 0, 1e150)

    def _penalised(self, X: NDArray[Any], gam: float) -> PenalisedPursuit:
        sigma, root = number_or_none("sigma", self.sigma, 0, 1e150), _root(X)
        if sigma is None:
            # Of no noise at all a little is assumed, without any it would never end; of
            # much at most what leaves half of the largest singular value.
            low, high = 1e-3 * float(X.std()), 0.5 * float(np.linalg.norm(X, 2)) / root
            sigma = min(max(noise_level(X), low), high)
        return PenalisedPursuit(X, sigma * root, self._price(), gam)

    def _learnt(self, step: PenalisedPursuit, split: Decomposition) -> dict[str, Any]:
        return {"sigma_": step.mu / _root(step.X)}


def _root(X: NDArray[Any]) -> float:
    return float(np.sqrt(2 * max(X.shape)))


@dataclass(eq=False, repr=False, kw_only=True)
class SPCP(Noisy):
    """Stable principal component pursuit: X = low rank + sparse + noise.

    Minimises |L|_* + lam |S|_1 + |X - L - S|^2 / (2 mu), mu = sigma sqrt(2 max(n, D)),
    by exact steps in L and S in turns, accelerated. Components and mean are those of
    L, variances those of X - S; `n_components` does not enter the split.

    The objective falls at every iteration.

    Confidence: as published in this penalised form, defaults from third-party codes;
    how sigma is estimated is ours.

    Parameters
    ----------
    sigma : float or "auto", default="auto"
        Standard deviation of the noise in a cell; "auto" estimates it from X.
    lam : float or "auto", default="auto"
        Price of sparse entries; "auto" is 1 / sqrt(max(n, D)).
    centre : {"none", "median"}, default="none"
        What is taken off X before it is split; the paper takes off nothing, and far
        from the origin "median" is better.
    n_components, max_iter, tol, random_state
        See `Method`.

    Attributes
    ----------
    low_rank_, sparse_ : ndarray of shape (n, D)
        The low rank part has the centre added again.
    lam_ : float
    sigma_ : float

    References
    ----------
    Z. Zhou, X. Li, J. Wright, E. Candes, Y. Ma (2010): Stable principal component
    pursuit.

    Examples
    --------
    >>> from trueaxis import SPCP
    >>> from trueaxis.datasets import planted
    >>> round(SPCP(3).fit(planted("none").X).sigma_, 1)
    0.3
    """

    def _step(self, X: NDArray[Any]) -> PenalisedPursuit:
        return self._penalised(X, np.inf)


@dataclass(eq=False, repr=False, kw_only=True)
class RRPCP(Noisy):
    """Robust PCP with outlying rows: X = low rank + sparse + a few whole rows + noise.

    Minimises |L|_* + lam |S|_1 + gam sum |o_i| + |X - L - S - O|^2 / (2 mu), with o_i
    the rows of O, most of them zero; mu as for SPCP.

    The objective falls at every iteration.

    Confidence: reconstructed. Known are the two kinds of outliers, cells and rows off
    the subspace; the surrogate and its constants are ours.

    Parameters
    ----------
    gam : float or "auto", default="auto"
        Price of the length of an outlying row. Above sqrt(D / max(n, D)) there are none
        (sparse cells are cheaper), below half of it they swallow everything; "auto" is
        0.85 of it. Infinity gives SPCP.
    sigma : float or "auto", default="auto"
        Standard deviation of the noise in a cell; "auto" estimates it from X.
    lam : float or "auto", default="auto"
        Price of sparse entries; "auto" is 1 / sqrt(max(n, D)).
    centre : {"none", "median"}, default="none"
        What is taken off X before it is split; the paper takes off nothing, and far
        from the origin "median" is better.
    n_components, max_iter, tol, random_state
        See `Method`.

    Attributes
    ----------
    low_rank_, sparse_, outlying_ : ndarray of shape (n, D)
        The low rank part has the centre added again.
    lam_ : float
    sigma_, gam_ : float

    References
    ----------
    P. P. Brahma, Y. She, S. Li, J. Li, D. Wu (2017): Reinforced robust principal
    component pursuit.

    Examples
    --------
    >>> from trueaxis import RRPCP
    >>> from trueaxis.datasets import planted
    >>> cloud = planted("scatter", share=0.1)
    >>> found = (RRPCP(3).fit(cloud.X).outlying_ != 0).any(axis=1)
    >>> bool(found[cloud.is_outlier].all())
    True
    """

    gam: float | Literal["auto"] = "auto"

    def _check(self) -> None:
        super()._check()
        number_or_none("gam", self.gam, 0, np.inf)

    def _step(self, X: NDArray[Any]) -> PenalisedPursuit:
        gam = number_or_none("gam", self.gam, 0, np.inf)
        if gam is None:
            gam = 0.85 * float(np.sqrt(X.shape[1] / max(X.shape)))
        return self._penalised(X, gam)

    def _learnt(self, step: PenalisedPursuit, split: Decomposition) -> dict[str, Any]:
        rows = {"outlying_": split.rows, "gam_": step.gam}
        return rows | super()._learnt(step, split)
