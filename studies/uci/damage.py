"""Damage tables as in the paper: amplify cells."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray


def contaminate(
    X: ArrayLike,
    *,
    share: float = 0.25,
    features: float = 0.5,
    factors: Sequence[float] = (5, 10, 20),
    random_state: int | np.random.Generator = 0,
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Multiply some features of some rows by large factors.

    In the paper, half of the features of 25 % of the rows are multiplied by 5, 10 or
    20, at random. It does not say whether the features and the factor are the same for
    all rows. Here every damaged row has its own features and its own factor. Half of 7
    features means 3. A cell that is 0 stays 0, so a damaged row of a table with many
    zeros may look regular.

    Parameters
    ----------
    X : array-like of shape (n, D)
        Data; not modified.
    share : float
        Share of rows to damage, rounded to a whole number of rows.
    features : float
        Share of features to damage in such a row, rounded down, but at least one.
    factors : sequence of float
        Factors; each damaged row draws one of them.
    random_state : int or numpy Generator
        Seed.

    Returns
    -------
    X : ndarray of shape (n, D)
        Damaged copy.
    is_outlier : ndarray of shape (n,)
        True for the damaged rows.

    Examples
    --------
    >>> import numpy as np
    >>> from studies.uci.damage import contaminate
    >>> X, is_outlier = contaminate(np.ones((8, 4)))
    >>> int(is_outlier.sum()), (X != 1).sum(axis=1)[is_outlier].tolist()
    (2, [2, 2])
    """
    rows = np.array(X, dtype=np.float64)
    if rows.ndim != 2 or rows.size == 0:
        raise ValueError(
            f"X has shape {rows.shape}: contaminate needs a table of rows and columns."
        )
    for name, value in (("share", share), ("features", features)):
        if not 0 <= value <= 1:
            raise ValueError(f"{name}={value} is not a share: 0 to 1 is possible.")
    if len(factors) == 0:
        raise ValueError("factors is empty: give at least one number.")
    rng = np.random.default_rng(random_state)
    n, D = rows.shape
    is_outlier = np.zeros(n, dtype=np.bool_)
    is_outlier[rng.choice(n, size=round(share * n), replace=False)] = True
    # The small addend is for 0.29 * 100, which is 28.999... in floating point.
    n_hit = max(1, int(features * D + 1e-9)) if features else 0
    order = rng.random((is_outlier.sum(), D)).argsort(axis=1).argsort(axis=1)
    factor = rng.choice(np.asarray(factors, dtype=np.float64), size=(len(order), 1))
    rows[is_outlier] *= np.where(order < n_hit, factor, 1.0)
    return rows, is_outlier
