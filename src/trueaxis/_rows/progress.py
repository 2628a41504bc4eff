"""TELL how far a pass over the rows is, to whoever listens.

Sources of rows report their passes; `bars` shows them. Where nobody listens, nothing is
counted. A listener hears only what its own thread does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar

Advance = Callable[[int], None]  # so many rows more are done
Listener = Callable[[str, int], AbstractContextManager[Advance]]

_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)
_stage: ContextVar[str] = ContextVar("stage", default="")


def _unheard(rows: int) -> None:
    pass


SILENT: AbstractContextManager[Advance] = nullcontext(_unheard)


def passing(title: str, total: int) -> AbstractContextManager[Advance]:
    """A pass over `total` rows, for a `with` statement; what it gives counts them.

    Examples
    --------
    >>> from contextlib import contextmanager
    >>> from trueaxis._rows.progress import heard_by, passing
    >>> @contextmanager
    ... def listener(title, total):
    ...     yield lambda rows: print(f"{title}: {rows} more of {total}")
    >>> with heard_by(listener), passing("verdicts", 500) as advance:
    ...     advance(300)
    verdicts: 300 more of 500
    """
    listener = _listener.get()
    if listener is None:
        return SILENT
    stage = _stage.get()
    return listener(f"{title}, {stage}" if stage else title, total)


def heard() -> bool:
    """Whether anybody listens."""
    return _listener.get() is not None


@contextmanager
def heard_by(listener: Listener | None) -> Iterator[None]:
    """Let a listener hear of the passes that are made meanwhile."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


@contextmanager
def during(stage: str) -> Iterator[None]:
    """Let passes say of which larger piece of work they are a part."""
    token = _stage.set(stage)
    try:
        yield
    finally:
        _stage.reset(token)
