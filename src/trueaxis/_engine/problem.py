"""What every fit stands on: coordinates, a sample, and the number of components.

`validation` gives rows and counts; a `Problem` is made of them once, whatever the
method and however many components are tried.
"""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueaxis._engine.dimension import choose_dimension
from trueaxis._engine.hull import Hull, affine_hull
from trueaxis._engine.outliers.judge import Judge, Verdicts
from trueaxis._engine.quantiles import n_different_rows, total_count
from trueaxis._engine.sample import draw_sample
from trueaxis._engine.starts import deep_moments, directions
from trueaxis._engine.subspace import Subspace, spectrum
from trueaxis._rows.base import Rows


class Problem:
    """Rows in the coordinates of a fit, and a sample of them.

    Parameters
    ----------
    rows : Rows
    counts : ndarray or None
        How often each row counts.
    rng : Generator
    rotatable : bool
        Whether the method gives the same answer in any orthonormal coordinates, so that
        fewer rows than columns can be written in as many.
    """

    def __init__(
        self,
        rows: Rows,
        counts: NDArray[Any] | None,
        rng: np.random.Generator,
        *,
        rotatable: bool = True,
    ) -> None:
        self.given = rows
        self.counts = counts
        n, D = rows.shape
        self.hull = affine_hull(rows) if rotatable else Hull(rows, np.zeros(D), None)
        self.sample = draw_sample(self.hull.rows, counts, rng)
        self.table = self.sample.S
        if self.hull.frame is not None:
            self.table = rows.take(self.sample.index)
        # Rows that count at all, and all their copies.
        self.n_rows = n if counts is None else int((counts > 0).sum())
        self.n_copies = total_count(n, counts)
        self.most = min(self.n_rows, D)
        self.seed = int(rng.integers(2**31))

    @property
    def rows(self) -> Rows:
        """All rows, in the coordinates of the fit."""
        return self.hull.rows

    def rng(self) -> np.random.Generator:
        """A generator, anew for every k: a number found equals the same one asked."""
        return np.random.default_rng(self.seed)

    def n_components(self, wanted: int | float | str | None) -> int:
        """The number of components that is asked for, directly or not.

        A share, or "auto", speaks of the variances of the deepest half of the rows.
        """
        if wanted is None:
            return self.most
        if isinstance(wanted, numbers.Integral):
            return int(wanted)
        wanted = wanted if isinstance(wanted, str) else float(wanted)
        S, D = self.sample.S, self.table.shape[1]
        moments = deep_moments(S, directions(S, self.rng()))
        n = (n_different_rows(self.table) + 1) // 2
        return min(choose_dimension(wanted, spectrum(moments), n, D), self.most)

    def judged(self, subspace: Subspace) -> Verdicts:
        """Verdicts on all rows."""
        jury = Judge(self.hull, self.counts, self.sample.index, self.table)
        return jury.judged(subspace)
