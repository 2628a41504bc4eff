"""The floating-point settings under which everything public computes.

Distances of far rows overflow to infinity, and weights underflow to 0, by design. What
becomes of a calculation must not depend on the caller's `numpy.errstate`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

Function = TypeVar("Function", bound=Callable[..., Any])


def own_floats(function: Function) -> Function:
    """Let a public function ignore the caller's `numpy.errstate`.

    Examples
    --------
    >>> import numpy as np
    >>> from trueaxis._arithmetic import own_floats
    >>> with np.errstate(all="raise"):
    ...     own_floats(np.exp)(np.array([-1e9, 1e9]))
    array([ 0., inf])
    """

    @functools.wraps(function)
    def with_own_floats(*args: Any, **options: Any) -> Any:
        with np.errstate(all="ignore"):
            return function(*args, **options)

    return with_own_floats  # type: ignore[return-value]
