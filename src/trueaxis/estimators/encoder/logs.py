"""Decide which columns are better analyzed as logarithms.

`TableEncoder` takes log10 of them; the command line only gives a hint.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from trueaxis._columns import Column, quote

# Skewness is measured between these quantiles and their mirror images, so that up to
# 3/16 of the rows can be anything. Several of them, because those of counts jump.
_LOW = np.array([3, 4, 5]) / 16
# Least gain that is worth it: that of a lognormal column with sigma = 0.35, whose
# middle half spans a factor of 1.6.
_LEAST_GAIN = 0.115
_NOISE = 0.75  # of the gain times the root of the number of rows
_FEWEST_DISTINCT = 10  # fewer are ratings or codes


def is_positive(values: NDArray[np.float64]) -> bool:
    """Return whether all known values are above zero, and there are any."""
    if len(values) and values[0] <= 0:  # a number that settles many columns
        return False
    known = values[~np.isnan(values)]
    return len(known) > 0 and bool((known > 0).all())


def log_helps(values: NDArray[np.float64]) -> bool:
    """Return whether the logarithm makes a column clearly more symmetric.

    The skewness of a column is (a + b - 2 m) / (b - a), for a quantile a, its mirror
    image b and the median m, averaged over three quantiles. The logarithm helps if the
    skewness falls by more than chance and usefulness ask for.

    Parameters
    ----------
    values : ndarray of shape (n,)
        NaN are left out.

    Examples
    --------
    >>> import numpy as np
    >>> from trueaxis.estimators.encoder.logs import log_helps
    >>> z = np.random.default_rng(0).standard_normal(500)
    >>> log_helps(np.exp(z)), log_helps(10 + z)
    (True, False)
    """
    if not is_positive(values):
        return False
    known = values[~np.isnan(values)]
    if len(np.unique(known)) < _FEWEST_DISTINCT:
        return False
    raw, log = _skewness(known), _skewness(np.log(known))
    gain = float((raw - np.abs(log)).mean())
    return gain > _LEAST_GAIN + _NOISE / float(np.sqrt(len(known)))


def columns_to_log(columns: Sequence[Column]) -> list[str]:
    """Return the names of the columns of numbers whose logarithm helps."""
    return [
        column.name
        for column in columns
        if column.kind == "number" and log_helps(column.values)
    ]


def log_hint(columns: Sequence[Column], option: str = "log") -> list[str]:
    """Return a sentence that suggests logarithms, if they would help any column.

    Parameters
    ----------
    columns : sequence of Column
        Columns that are analyzed as they are.
    option : str
        What the user calls the option: "log" or "--log".
    """
    names = columns_to_log(columns)
    if not names:
        return []
    one = len(names) == 1
    auto = "--log auto" if option.startswith("-") else f'{option}="auto"'
    return [
        f"{'Column' if one else 'Columns'} {quote(names)} {'is' if one else 'are'} "
        f"skewed towards large values, and {'its' if one else 'their'} "
        f"logarithm{'' if one else 's'} would be more symmetric: try {auto}."
    ]


def _skewness(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the skewness at each quantile; 0 where both quantiles are equal."""
    size = np.abs(values).max()
    # Sums of two values cannot overflow.
    a, m, b = np.quantile(
        values / size if size else values, [_LOW, 0 * _LOW + 0.5, 1 - _LOW]
    )
    skewness = np.zeros(len(_LOW))
    np.divide(a + b - 2 * m, b - a, out=skewness, where=b > a)
    return skewness
