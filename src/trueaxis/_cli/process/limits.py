"""A limit of memory, as by `ulimit -v`, that is too low for the libraries."""

from __future__ import annotations

import sys

from trueaxis.data.memory import TooLarge

# Below it, a BLAS that is loaded ends the process, or waits for memory without end.
LEAST_BYTES = 1 << 29


def memory_limit() -> int | None:
    """Return how many bytes of memory this process may address; None for all."""
    if sys.platform == "win32":
        return None
    import resource

    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    return None if limit == resource.RLIM_INFINITY else limit


def refuse_low_limit() -> None:
    """Raise if libraries could not be loaded."""
    limit = memory_limit()
    if limit is not None and limit < LEAST_BYTES:
        raise TooLarge(low_limit(limit))


def low_limit(limit: int) -> str:
    """Return the message about a limit that is too low for the libraries."""
    return (
        f"This process may use {limit >> 20:,} MB of memory, which is too little for "
        "the libraries that it loads: raise the limit (ulimit -v) to at least "
        f"{2 * LEAST_BYTES >> 20:,} MB."
    )


def is_about_loading(error: ImportError) -> bool:
    """Return whether a library could not be loaded for want of memory."""
    words = ("failed to map segment", "annot allocate memory", "annot map zero-fill")
    return any(word in str(error) for word in words)
