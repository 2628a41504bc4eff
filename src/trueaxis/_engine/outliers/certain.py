"""Verdicts that follow from distances from a subspace nearby.

A pass over large data measures all rows from the subspace of the sample, just before
the final subspace is known. How far the two are apart bounds how much the distances of
a row differ; most rows are so far from the line that their verdict follows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueaxis._engine.row_kernels import SupportKernel
from trueaxis._engine.subspace import Subspace
from trueaxis.data.rows import ArrayRows, Rows

BATCH = 1 << 15  # rows whose verdicts are found while their distances are in cache
SLACK = 1e4  # roundings by which recorded distances may be wrong


@dataclass(frozen=True)
class NearDistances:
    """Distances of all rows from a subspace.

    Attributes
    ----------
    subspace : Subspace
    e, s : ndarray
        Squared distances off it, and score distances.
    beyond : ndarray
        Places of the rows towards groups that stand apart.
    """

    subspace: Subspace
    e: NDArray[np.float64]
    s: NDArray[np.float64]
    beyond: NDArray[np.float64]

    def support(self, rows: Rows, kernel: SupportKernel) -> NDArray[np.bool_]:
        """Return what the kernel records, with few rows measured again."""
        with np.errstate(over="ignore", invalid="ignore"):  # then nothing is certain
            bounds = _Bounds(self.subspace, kernel, float(np.finfo(rows.dtype).eps))
        within, sure = np.empty((2, len(self.e)), dtype=bool)
        for first in range(0, len(within), BATCH):
            some = slice(first, first + BATCH)
            near, far = bounds.verdicts(self.e[some], self.s[some], self.beyond[some])
            within[some], sure[some] = near, near | far
        (unsure,) = np.nonzero(~sure)
        if len(unsure):
            within[unsure] = ArrayRows(rows.take(unsure)).scan(kernel)[0][0]
        return within


class _Bounds:
    """How much distances from two subspaces may differ.

    Roots of squared distances are lengths of vectors, so that their differences are
    bounded by norms: of the turn between both subspaces, and of the shift between their
    centers.
    """

    def __init__(self, near: Subspace, kernel: SupportKernel, eps: float) -> None:
        final, self.cuts = kernel.measuring.subspace, kernel.cuts
        self.grouped = kernel.sides is not None
        turn = final.basis @ near.basis.T
        shift = near.mean - final.mean
        scale = 1 / np.sqrt(final.floored_variances())
        lengths = np.sqrt(near.floored_variances())
        stretch = scale[:, None] * turn * lengths
        # From scores to residuals, from scores to scores, from residuals to scores.
        self.off_by_score = _norm(
            lengths[:, None] * (near.basis - turn.T @ final.basis)
        )
        self.largest = _norm(stretch)
        self.least = float(np.linalg.svd(stretch)[1].min(initial=np.inf))
        self.score_by_off = _norm(scale[:, None] * (final.basis - turn @ near.basis))
        sine = _norm(near.basis - turn.T @ final.basis)
        self.cosine = float(np.sqrt(max(0.0, 1 - sine**2)))
        inside = final.basis @ shift
        self.off_shift = float(np.linalg.norm(shift - inside @ final.basis))
        self.score_shift = float(np.linalg.norm(scale * inside))
        self.slack = SLACK * eps

    def verdicts(
        self, e: NDArray[Any], s: NDArray[Any], beyond: NDArray[Any]
    ) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Mark rows that are certainly within the cuts, and certainly beyond them."""
        cut_off, cut_score = np.sqrt(self.cuts.e), np.sqrt(self.cuts.s)
        with np.errstate(invalid="ignore"):  # infinity minus infinity: not certain
            off, score = np.sqrt(e), np.sqrt(s)
            off_error = self.off_by_score * score
            off_error += self.off_shift
            score_error = self.score_by_off * off
            score_error += self.score_shift
            near = (1 + self.slack) * off + off_error <= cut_off
            near &= (self.largest + self.slack) * score + score_error <= cut_score
            far = (self.cosine - self.slack) * off - off_error > cut_off
            far |= (self.least - self.slack) * score - score_error > cut_score
            if self.grouped:
                reach = self.slack * (1.0 + beyond)
                near &= beyond + reach <= self.cuts.beyond
                far |= beyond - reach > self.cuts.beyond
        return near, far


def _norm(matrix: NDArray[Any]) -> float:
    """Return the spectral norm."""
    return float(np.linalg.norm(matrix, 2)) if matrix.size else 0.0
