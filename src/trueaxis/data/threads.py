"""Threads for passes over many rows: how many there are, and results in order.

Each portion of the rows is computed by one thread, with one thread of the BLAS.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import wraps
from typing import Any, Generic, TypeVar

import numpy as np

Item = TypeVar("Item")
Result = TypeVar("Result")
Function = TypeVar("Function", bound=Callable[..., Any])


def n_threads() -> int:
    """Return the number of threads that a pass over many rows may use.

    It is the number of cores, or of threads of the BLAS if that is smaller: limits of
    the BLAS by `threadpool_limits`, joblib and Dask are meant for all threads.
    """
    import joblib  # type: ignore[import-untyped]

    return max(1, min(int(joblib.cpu_count()), _fewest_threads()))


class BlasLimit:
    """Limit of the BLAS to one thread, while at least one pass needs it.

    The limit holds for the whole process. If each of two passes that overlap set and
    restored it, the one that ends last would restore the limit of the other.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._passes = 0
        self._limits: Any = None

    def __enter__(self) -> None:
        with self._lock:
            if self._passes == 0:
                self._limits = _blas().limit(limits=1)
            self._passes += 1

    def __exit__(self, *raised: Any) -> None:
        with self._lock:
            self._passes -= 1
            if self._passes == 0:
                self._limits.restore_original_limits()


ONE_BLAS_THREAD = BlasLimit()
if hasattr(os, "register_at_fork"):  # a fork may happen during a pass of another thread
    os.register_at_fork(after_in_child=ONE_BLAS_THREAD.__init__)  # type: ignore[misc]

_controller: Any = None


def _blas() -> Any:
    # Looking for the libraries takes milliseconds; those of NumPy and SciPy are there
    # before the first pass.
    global _controller
    if _controller is None:
        import threadpoolctl

        _controller = threadpoolctl.ThreadpoolController().select(user_api="blas")
    return _controller


def _fewest_threads() -> int:
    found = [library.num_threads for library in _blas().lib_controllers]
    return min(found, default=os.cpu_count() or 1)


def in_order(
    function: Callable[[Item], Result], items: Iterable[Item], n: int
) -> Generator[Result, None, None]:
    """Apply a function in n threads; yield the results in the order of the items.

    At most twice as many items as threads are under way, so that none waits for a slow
    source.

    Examples
    --------
    >>> from trueaxis.data.threads import in_order
    >>> list(in_order(lambda i: i**2, range(5), 2))
    [0, 1, 4, 9, 16]
    """
    if n == 1:
        yield from map(function, items)
        return
    running: deque[Future[Result]] = deque()
    # Made for every pass: a forked process would inherit a pool without its threads.
    pool = ThreadPoolExecutor(n, thread_name_prefix="trueaxis")
    try:
        for item in items:
            # Before NumPy 2, each thread has its own setting for overflows.
            running.append(pool.submit(ignore_float_errors(function), item))
            if len(running) == 2 * n:
                yield running.popleft().result()
        while running:
            yield running.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)


class cached_property(Generic[Result]):
    """Property that is computed once for every object.

    Unlike that of `functools` in Python 3.11, it holds no lock that all objects of the
    class share: a process forked while another thread holds it would wait forever.
    """

    def __init__(self, function: Callable[[Any], Result]) -> None:
        self.function, self.__doc__ = function, function.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance: Any, owner: type | None = None) -> Result:
        if instance is None:
            return self  # type: ignore[return-value]
        value = instance.__dict__[self.name] = self.function(instance)
        return value


def ignore_float_errors(function: Function) -> Function:
    """Let a public function ignore the caller's `numpy.errstate`.

    Distances of far rows overflow to infinity, and weights underflow to 0, by design.

    Examples
    --------
    >>> import numpy as np
    >>> from trueaxis.data.threads import ignore_float_errors
    >>> with np.errstate(all="raise"):
    ...     ignore_float_errors(np.exp)(np.array([-1e9, 0.0]))
    array([0., 1.])
    """

    @wraps(function)
    def with_ignore_float_errors(*args: Any, **options: Any) -> Any:
        with np.errstate(all="ignore"):
            return function(*args, **options)

    return with_ignore_float_errors  # type: ignore[return-value]
