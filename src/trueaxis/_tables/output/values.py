"""Single values as cells of text and in JSON."""

from __future__ import annotations

import datetime
import json
import math
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np

# Spreadsheets run text that begins with one of these signs as a formula, some of them
# after a control character.
_FORMULA = re.compile(r"[=+\-@\x00-\x1f]")
_NUMBER = re.compile(r"[+-]?\d+(\.\d*)?(e[+-]?\d+)?", re.IGNORECASE)
_guards: ContextVar[bool] = ContextVar("guards", default=False)


@contextmanager
def formulas_guarded() -> Iterator[None]:
    """Guard cells of text that are written in this context against spreadsheets.

    Examples
    --------
    >>> from trueaxis._tables.output.values import formulas_guarded, guarded
    >>> with formulas_guarded():
    ...     [guarded(cell) for cell in ("=1+1", "-5", "-x", 3.5)]
    ["'=1+1", '-5', "'-x", 3.5]
    """
    token = _guards.set(True)
    try:
        yield
    finally:
        _guards.reset(token)


def guarded(cell: Any) -> Any:
    """Return a cell of text with a ' before what a spreadsheet takes for a formula."""
    if not (_guards.get() and isinstance(cell, str) and _FORMULA.match(cell)):
        return cell
    return cell if _NUMBER.fullmatch(cell) else f"'{cell}"


def as_text(value: Any) -> Any:
    """Return a value as a cell of text; missing ones are empty."""
    if value is None or value != value:  # NaN and NaT differ from themselves
        return ""
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, (datetime.datetime, datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, (dict, list)):
        return json.dumps(as_json(value), ensure_ascii=False)
    return value


def items(values: Any) -> Sequence[Any]:
    """Return values of Python's own types."""
    items: Sequence[Any] = values if isinstance(values, list) else (
        np.asarray(values).tolist()
    )  # fmt: skip
    return items


def json_line(record: dict[str, Any]) -> bytes:
    """Return a record as one line of JSON; NaN and infinity are null."""
    text = json.dumps(as_json(record), ensure_ascii=False, allow_nan=False)
    return (text + "\n").encode("utf-8")


def as_json(value: Any) -> Any:
    """Return a value that JSON can hold: dates are text, NaN and infinity null."""
    if isinstance(value, dict):
        return {str(key): as_json(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [as_json(each) for each in value]
    if isinstance(value, (np.ndarray, np.generic)):
        return as_json(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    text = as_text(value)
    return None if text == "" else str(text)
