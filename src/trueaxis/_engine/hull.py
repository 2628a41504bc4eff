"""Fewer rows than columns: work in the affine hull of the rows.

The methods are orthogonally equivariant, so n rows in D > n dimensions lose nothing
when written in n orthonormal coordinates; the answer is mapped back at the end.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from trueaxis._engine.subspace import Subspace
from trueaxis._rows.base import ArrayRows, Rows


@dataclass(frozen=True)
class Hull:
    """Rows in coordinates of their affine hull.

    Attributes
    ----------
    rows : Rows
        The coordinates, n x n.
    origin : ndarray of shape (D,)
    frame : ndarray of shape (n, D), or None
        Orthonormal rows that span the hull; None where nothing was reduced.
    """

    rows: Rows
    origin: NDArray[np.float64]
    frame: NDArray[np.float64] | None

    def lift(self, subspace: Subspace) -> Subspace:
        """Map a subspace of the coordinates back to the columns of the data."""
        if self.frame is None:
            return subspace
        return replace(
            subspace,
            mean=self.origin + subspace.mean @ self.frame,
            basis=subspace.basis @ self.frame,
        )


def affine_hull(rows: Rows) -> Hull:
    """Coordinates of the rows in their affine hull, if they are fewer than columns."""
    n, D = rows.shape
    if n >= D:
        return Hull(rows, np.zeros(D), None)
    X = rows.read()
    origin = np.median(X, axis=0).astype(float)
    # QR keeps the digits of every row whatever the size of the others; an SVD would
    # lose those of regular rows beside a huge one.
    Q, R = scipy.linalg.qr(
        (X - origin).T.astype(X.dtype, copy=False), mode="economic", check_finite=False
    )
    coordinates = np.ascontiguousarray(R.T)
    return Hull(ArrayRows(coordinates), origin, Q.T.astype(float))
