"""Single values as cells of text and in JSON."""

from __future__ import annotations

import datetime
import json
import math
from collections.abc import Sequence
from typing import Any

import numpy as np


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
