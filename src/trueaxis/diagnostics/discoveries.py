"""Control of false discoveries: the p-value up to which rows are called outliers.

`outliers` draws its line there if a false discovery rate is asked for.
"""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
from numpy.typing import NDArray


def discovery_line(log_p: NDArray[Any], fdr: float) -> float:
    """Return the logarithm of the p-value up to which rows are discoveries.

    Benjamini and Hochberg (1995): of m p-values, sorted, the r smallest are discoveries
    for the largest r with p_(r) <= fdr r / m. If the regular rows are independent, at
    most a share `fdr` of the discoveries is expected to be regular.

    Parameters
    ----------
    log_p : ndarray of shape (m,)
        Natural logarithms of p-values.
    fdr : float in (0, 1)

    Returns
    -------
    float
        The logarithm of fdr r / m. Where there is no discovery, that of fdr / m, which
        no p-value reaches.

    Examples
    --------
    >>> import numpy as np
    >>> from trueaxis.diagnostics.discoveries import discovery_line
    >>> p = np.array([0.9, 0.001, 0.045, 0.5])
    >>> float(np.exp(discovery_line(np.log(p), 0.1)).round(3))  # 2 of 4
    0.05
    """
    _check_rate(fdr)
    m = max(len(log_p), 1)
    lines = np.log(fdr * np.arange(1, m + 1) / m)
    found = np.flatnonzero(np.sort(log_p) <= lines[: len(log_p)])
    return float(lines[found[-1] if len(found) else 0])


def _check_rate(fdr: Any) -> None:
    number = isinstance(fdr, numbers.Real) and not isinstance(fdr, bool)
    if not (number and 0 < fdr < 1):
        raise ValueError(
            f"fdr={fdr!r} is not a false discovery rate: pass the share of regular "
            "rows that you accept among the outliers, a number between 0 and 1."
        )
