"""Parameters and numbers as JSON, from which the same types and bits come back.

`files` writes what `encode` gives; what JSON lacks becomes an object with one tag.
"""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np

from trueaxis._engine.dswl import rules as dswl_rules
from trueaxis._engine.outliers import trim
from trueaxis._engine.rules import base as rules
from trueaxis._engine.rules import losses, retained, selection
from trueaxis.estimators.base import Distances

RULES = {
    rule.__name__: rule
    for rule in (
        rules.UniformRule,
        dswl_rules.EntropyRule,
        dswl_rules.TrustRule,
        losses.PowerRule,
        losses.HuberRule,
        losses.CauchyRule,
        losses.AdaptiveRule,
        retained.LengthRule,
        retained.AngleRule,
        retained.MembershipRule,
        selection.NearestRule,
        selection.NeighbourRule,
        selection.RatioRule,
        trim.CutRule,
        trim.TrimRule,
    )
}
RECORDS: dict[str, Any] = {"Distances": Distances, "Cuts": trim.Cuts}
# Numbers and text; never objects, which would have to be unpickled.
NUMPY = re.compile(r"[<>|][biufU][0-9]{1,4}")


def encode(value: Any) -> Any:
    """What `json` can write.

    Raises
    ------
    TypeError
        For what has no place in a file: functions, generators, classes of one's own.

    Examples
    --------
    >>> from trueaxis._persistence.json_values import decode, encode
    >>> encode((1, float("inf")))
    {'tuple': [1, {'float': 'inf'}]}
    >>> decode(encode((1, float("inf"))))
    (1, inf)
    """
    # By exact type: NumPy's floats and texts are Python's too, and would come back so.
    kind = type(value)
    if value is None or kind in (bool, int, str):
        return value
    if kind is float:
        return value if math.isfinite(value) else {"float": repr(value)}
    if kind is list:
        return [encode(item) for item in value]
    if kind is tuple:
        return {"tuple": [encode(item) for item in value]}
    if kind is np.ndarray or isinstance(value, np.generic):
        return _encode_numpy(value)
    name = kind.__name__
    if RECORDS.get(name) is kind:
        return {"record": name, "values": [encode(item) for item in value]}
    if RULES.get(name) is kind:
        given = value.get_params(deep=False).items()
        return {"rule": name, "parameters": {key: encode(item) for key, item in given}}
    raise TypeError(f"{value!r} is a {name}")


def decode(value: Any) -> Any:
    """The value that was encoded.

    Raises
    ------
    ValueError
        For what `encode` does not write.
    """
    match value:
        case None | bool() | int() | float() | str():
            return value
        case list():
            return [decode(item) for item in value]
        case {"float": "inf" | "-inf" | "nan" as text}:
            return float(text)
        case {"tuple": list(items)}:
            return tuple(decode(item) for item in items)
        case {"numpy": str(dtype), "shape": shape, "hex": str(digits)}:
            return _decode_numpy(dtype, shape, digits)
        case {"record": str(name), "values": list(items)} if name in RECORDS:
            return _made(RECORDS[name], name, [decode(item) for item in items], {})
        case {"rule": str(name), "parameters": dict(given)} if name in RULES:
            # Their constructors do nothing but keep what they get.
            decoded = {key: decode(item) for key, item in given.items()}
            return _made(RULES[name], name, [], decoded)
    raise ValueError(f"the value {value!r:.80} is of no known kind")


def _encode_numpy(value: Any) -> dict[str, Any]:
    if not NUMPY.fullmatch(value.dtype.str):
        raise TypeError(f"{value!r} is NumPy's {value.dtype}")
    shape = list(value.shape) if isinstance(value, np.ndarray) else None
    return {"numpy": value.dtype.str, "shape": shape, "hex": value.tobytes().hex()}


def _decode_numpy(dtype: str, shape: Any, digits: str) -> Any:
    if not NUMPY.fullmatch(dtype):
        raise ValueError(f"the type {dtype!r:.80} is neither a number nor text")
    try:
        flat = np.frombuffer(bytearray.fromhex(digits), dtype=dtype)
        return flat.reshape(())[()] if shape is None else flat.reshape(shape)
    except (TypeError, ValueError) as error:
        raise ValueError(f"a number of type {dtype} is garbled ({error})") from None


def _made(kind: Any, name: str, values: list[Any], given: dict[str, Any]) -> Any:
    try:
        return kind(*values, **given)
    except TypeError as error:
        raise ValueError(f"{name} does not take what is given ({error})") from None
