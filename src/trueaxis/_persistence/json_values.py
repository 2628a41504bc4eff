"""Encode parameters and numbers as JSON, so that types and bits survive.

`model_state` stores what `encode` returns. Types that JSON lacks become tagged objects.
"""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np

from trueaxis.base import Distances
from trueaxis.core.law import Cuts
from trueaxis.core.rules import PowerRule, UniformRule
from trueaxis.core.verdicts import CoreRule, CutRule, HalfRule
from trueaxis.dswl.plan import EntropyRule, TrustRule
from trueaxis.methods.residual import CauchyRule, HuberRule
from trueaxis.methods.retained import AngleRule, LengthRule, MembershipRule
from trueaxis.methods.selection import NearestRule, NeighborRule, RatioRule
from trueaxis.methods.sparse import AdaptiveRule

RULES = {
    rule.__name__: rule
    for rule in (
        UniformRule,
        EntropyRule,
        TrustRule,
        PowerRule,
        HuberRule,
        CauchyRule,
        AdaptiveRule,
        LengthRule,
        AngleRule,
        MembershipRule,
        NearestRule,
        NeighborRule,
        RatioRule,
        CoreRule,
        CutRule,
        HalfRule,
    )
}
RECORDS: dict[str, Any] = {"Distances": Distances, "Cuts": Cuts}
# Numbers and text, but no objects, which would have to be unpickled.
NUMPY = re.compile(r"[<>|][biufU][0-9]{1,4}")


def encode(value: Any) -> Any:
    """Return a value in a form that `json` can write.

    Raises
    ------
    TypeError
        If a file cannot hold the value: functions, generators, user-defined classes.

    Examples
    --------
    >>> from trueaxis._persistence.json_values import decode, encode
    >>> encode((1, float("inf")))
    {'tuple': [1, {'float': 'inf'}]}
    >>> decode(encode((1, float("inf"))))
    (1, inf)
    """
    # Compare exact types: np.float64 and np.str_ are subclasses of Python's types.
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
        parameters = value.get_params(deep=False)
        encoded = {key: encode(item) for key, item in parameters.items()}
        return {"rule": name, "parameters": encoded}
    raise TypeError(f"{value!r} is a {name}")


def decode(value: Any) -> Any:
    """Return the value that `encode` was given.

    Raises
    ------
    ValueError
        If `encode` cannot have returned this.
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
            return _construct(RECORDS[name], name, [decode(item) for item in items], {})
        case {"rule": str(name), "parameters": dict(parameters)} if name in RULES:
            # The constructors of rules only store their parameters.
            decoded = {key: decode(item) for key, item in parameters.items()}
            return _construct(RULES[name], name, [], decoded)
    raise ValueError(f"the value {value!r:.80} is of an unknown kind")


def _encode_numpy(value: Any) -> dict[str, Any]:
    if not NUMPY.fullmatch(value.dtype.str):
        raise TypeError(f"{value!r} is a NumPy value of dtype {value.dtype}")
    shape = list(value.shape) if isinstance(value, np.ndarray) else None
    return {"numpy": value.dtype.str, "shape": shape, "hex": value.tobytes().hex()}


def _decode_numpy(dtype: str, shape: Any, digits: str) -> Any:
    if not NUMPY.fullmatch(dtype):
        raise ValueError(f"the dtype {dtype!r:.80} is neither of numbers nor of text")
    try:
        flat = np.frombuffer(bytearray.fromhex(digits), dtype=dtype)
        return flat.reshape(())[()] if shape is None else flat.reshape(shape)
    except (TypeError, ValueError) as error:
        raise ValueError(f"a value of dtype {dtype} is invalid ({error})") from None


def _construct(
    cls: Any, name: str, values: list[Any], parameters: dict[str, Any]
) -> Any:
    try:
        return cls(*values, **parameters)
    except TypeError as error:
        raise ValueError(f"{name} does not accept its values ({error})") from None
