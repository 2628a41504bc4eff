"""The recipe of the pursuits: split X, and take the components of its low-rank part."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from trueaxis._engine.fit import Recipe, SearchResult
from trueaxis._engine.iterate import IterationResult, iterate
from trueaxis._engine.lowrank.noise import noise_level
from trueaxis._engine.lowrank.pursuit import PenalisedPursuit, PrincipalPursuit
from trueaxis._engine.problem import Problem, affine_hull
from trueaxis._engine.starts.subspaces import equal_weights, plain_moments
from trueaxis._engine.subspace import Subspace, spanned
from trueaxis.data.rows import ArrayRows, Rows


@dataclass(frozen=True)
class ExactSplitting:
    """X = low rank + sparse.

    Attributes
    ----------
    lam : float or None
        Penalty of sparse entries; None for the default.
    rho, balance : float
        Parameters of the augmented Lagrangian.
    """

    lam: float | None
    rho: float = 1.5
    balance: float = 10.0

    def step(self, X: NDArray[np.float64]) -> PrincipalPursuit:
        """Return the step that splits X."""
        return PrincipalPursuit(X, self.lam, self.rho, self.balance)

    def attributes(self, step: PrincipalPursuit, split: Any) -> dict[str, Any]:
        """Return the attributes of the fitted estimator that this splitting adds."""
        return {"lam_": step.lam}

    def penalties(self) -> dict[str, float | None]:
        """Return the parameters that decide how much is of low rank; None is auto."""
        return {"lam": self.lam}


@dataclass(frozen=True)
class StableSplitting:
    """X = low rank + sparse + noise and, if asked for, + outlying rows.

    Attributes
    ----------
    lam : float or None
        Penalty of sparse entries; None for the default.
    sigma : float or None
        Standard deviation of the noise in a cell; None to estimate it.
    with_rows : bool
        Whether whole rows may be outlying.
    gam : float or None
        Penalty of the length of an outlying row; None for the default.
    """

    lam: float | None
    sigma: float | None = None
    with_rows: bool = False
    gam: float | None = None

    def step(self, X: NDArray[np.float64]) -> PenalisedPursuit:
        """Return the step that splits X."""
        gam, sigma, root = self.gam, self.sigma, _noise_root(X)
        if gam is None:
            gam = 0.85 * float(np.sqrt(X.shape[1] / max(X.shape)))
        if sigma is None:
            # Assume a little noise even if there is none, or the iteration would never
            # end; and at most so much that half of the largest singular value is left.
            low, high = 1e-3 * float(X.std()), 0.5 * float(np.linalg.norm(X, 2)) / root
            sigma = min(max(noise_level(X), low), high)
        return PenalisedPursuit(
            X, sigma * root, self.lam, gam if self.with_rows else np.inf
        )

    def attributes(self, step: PenalisedPursuit, split: Any) -> dict[str, Any]:
        """Return the attributes of the fitted estimator that this splitting adds."""
        common = {"lam_": step.lam, "sigma_": step.mu / _noise_root(step.X)}
        if not self.with_rows:
            return common
        return common | {"outlying_": split.rows, "gam_": step.gam}

    def penalties(self) -> dict[str, float | None]:
        """Return the parameters that decide how much is of low rank; None is auto."""
        return {"lam": self.lam, "sigma": self.sigma, "gam": self.gam}


Splitting = ExactSplitting | StableSplitting


def _noise_root(X: NDArray[Any]) -> float:
    return float(np.sqrt(2 * max(X.shape)))


def _plain(rows: Rows, k: int) -> Subspace:
    hull = affine_hull(rows)
    return hull.lift(equal_weights(hull.rows, k))


@dataclass(frozen=True)
class PursuitRecipe(Recipe):
    """X split into low rank and sparse; the low-rank part gives the components.

    If nothing of low rank is found (in small tables), they are those of plain PCA.

    Attributes
    ----------
    splitting : Splitting
    center : {"none", "median"}
        What is subtracted from X before it is split.
    max_iter, tol
    """

    splitting: Splitting
    center: Literal["none", "median"]
    max_iter: int
    tol: float
    rotatable: bool = False

    def search(self, problem: Problem, k: int) -> SearchResult:
        """Split X, and solve for the components of its low-rank part."""
        X = problem.rows.read().astype(float)
        center = np.zeros(X.shape[1])
        if self.center == "median":
            center = np.median(X, axis=0)
        step: Any = self.splitting.step(X - center)
        tol = problem.reachable(self.tol)
        found: IterationResult[Any] = iterate(
            step, step.start(), max_iter=self.max_iter, tol=tol
        )
        split = found.last.next
        low_rank = center + split.low_rank
        # Mean and axes are those of the low-rank part, variances exclude gross errors.
        subspace = _plain(ArrayRows(low_rank), k)
        hull = affine_hull(ArrayRows(X - split.gross()))
        spread = hull.about(plain_moments(hull.rows, None), subspace.mean)
        plain = _plain(problem.rows, k)
        warnings: list[str] = []
        if subspace.total > 1e-12 * plain.total:
            subspace = spanned(subspace.basis, spread)
        elif plain.total > 0:
            subspace, warnings = plain, self._warn_of_nothing()
        attributes = {
            "low_rank_": low_rank,
            "sparse_": split.sparse,
            **self.splitting.attributes(step, split),
        }
        return SearchResult(
            subspace, found, tol, attributes=attributes, warnings=warnings
        )

    def _warn_of_nothing(self) -> list[str]:
        # By design, the default penalties may find nothing of low rank in small tables:
        # warn only of penalties that the user chose.
        penalties = self.splitting.penalties()
        chosen = {name: x for name, x in penalties.items() if x is not None}
        if not chosen:
            return []
        return [
            f"nothing of low rank was found in X with {chosen}: the components are "
            "those of plain PCA. Choose a larger lam or gam, or a smaller sigma."
        ]
