"""Report the progress of passes over the rows to a listener, if there is one.

Sources of rows report their passes here; `progress_bars` displays them. Without a
listener, nothing is counted. A listener receives only the passes of its own thread.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar

Advance = Callable[[int], None]  # called with the number of rows just processed
Listener = Callable[[str, int], AbstractContextManager[Advance]]

_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)
_stage: ContextVar[str] = ContextVar("stage", default="")


def _ignore(rows: int) -> None:
    pass


SILENT: AbstractContextManager[Advance] = nullcontext(_ignore)


def passing(title: str, total: int) -> AbstractContextManager[Advance]:
    """Report a pass over `total` rows; yield a function that counts processed rows.

    Examples
    --------
    >>> from contextlib import contextmanager
    >>> from trueaxis.data.progress import report_to, passing
    >>> @contextmanager
    ... def listener(title, total):
    ...     yield lambda rows: print(f"{title}: {rows} more of {total}")
    >>> with report_to(listener), passing("verdicts", 500) as advance:
    ...     advance(300)
    verdicts: 300 more of 500
    """
    listener = _listener.get()
    if listener is None:
        return SILENT
    stage = _stage.get()
    return listener(f"{title}, {stage}" if stage else title, total)


def has_listener() -> bool:
    """Return whether passes are reported to a listener."""
    return _listener.get() is not None


@contextmanager
def report_to(listener: Listener | None) -> Iterator[None]:
    """Report the passes made inside the `with` statement to a listener."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


@contextmanager
def stage(stage: str) -> Iterator[None]:
    """Add the name of a stage, such as an iteration, to the titles of its passes."""
    token = _stage.set(stage)
    try:
        yield
    finally:
        _stage.reset(token)


heard_by = report_to  # old name, used in examples of earlier versions
