"""Refuse columns that vary by little more than rounding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

ROUNDED = 64  # units of rounding; smaller differences carry no information


def refuse_rounded(
    X: NDArray[Any], dtype: np.dtype[Any], names: Sequence[Any] | None
) -> None:
    """Raise if a column varies, but hardly more than its values are rounded.

    Parameters
    ----------
    X : ndarray of shape (n, D)
        NaN for missing cells.
    dtype : dtype
        Type in which the values were stored.
    names : sequence or None
        Names of the columns, for error messages.
    """
    low, high = np.fmin.reduce(X), np.fmax.reduce(X)
    # Use halves, because the difference of two values may overflow.
    spread, size = high / 2 - low / 2, np.maximum(np.abs(low), np.abs(high)) / 2
    rounded = (spread > 0) & (spread <= ROUNDED * np.finfo(dtype).eps * size)
    if not rounded.any():
        return
    first = int(rounded.argmax())
    name = first if names is None else repr(str(names[first]))
    raise ValueError(
        f"The values of column {name} of X are about {2 * size[first]:.1e}, and differ "
        f"by at most {2 * spread[first]:.1e}, hardly more than {dtype} values of this "
        f"size are rounded (such columns: {rounded.sum()} of {len(rounded)}). Subtract "
        "an offset before values are rounded, or drop such columns."
    )
