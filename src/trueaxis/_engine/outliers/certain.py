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
from trueaxis._rows.base import ArrayRows, Rows

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
        within, sure = self._verdicts(kernel, float(np.finfo(rows.dtype).eps))
        (unsure,) = np.nonzero(~sure)
        if len(unsure):
            again = ArrayRows(rows.take(unsure)).scan(kernel)[0]
            within[unsure] = again[0]
        return within

    def _verdicts(
        self, kernel: SupportKernel, eps: float
    ) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Return which rows are regular, and for which of them that is certain."""
        near, cuts = self.subspace, kernel.cuts
        final = kernel.measuring.subspace
        turn = final.basis @ near.basis.T
        sine = _norm(near.basis - turn.T @ final.basis)
        shift = near.mean - final.mean
        scale = 1 / np.sqrt(final.floored_variances())
        lengths = np.sqrt(near.floored_variances())
        stretch = scale[:, None] * turn * lengths
        largest, least = _norm(stretch), float(np.linalg.svd(stretch)[1].min())
        beside = scale[:, None] * (final.basis - turn @ near.basis)
        moved_off = float(np.linalg.norm(shift - (final.basis @ shift) @ final.basis))
        moved_in = float(np.linalg.norm(scale * (final.basis @ shift)))
        with np.errstate(invalid="ignore"):
            off, score = np.sqrt(self.e), np.sqrt(self.s)
            off_error = sine * lengths.max(initial=0.0) * score
            off_error += moved_off + SLACK * eps * off
            score_error = _norm(beside) * off
            score_error += moved_in + SLACK * eps * score
            # Residuals turn into scores, too, so that they may get shorter.
            shorter = np.sqrt(max(0.0, 1 - sine**2)) * off - off_error
            far = (shorter > np.sqrt(cuts.e)) | (
                least * score - score_error > np.sqrt(cuts.s)
            )
            within = (off + off_error <= np.sqrt(cuts.e)) & (
                largest * score + score_error <= np.sqrt(cuts.s)
            )
        if kernel.sides is not None:
            reach = SLACK * eps * (1.0 + self.beyond)
            far |= self.beyond - reach > cuts.beyond
            within &= self.beyond + reach <= cuts.beyond
        return within, within | far


def _norm(matrix: NDArray[Any]) -> float:
    """Return the spectral norm."""
    return float(np.linalg.norm(matrix, 2)) if matrix.size else 0.0
