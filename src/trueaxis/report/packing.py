"""Pack numbers and names into little space, for the script of the report."""

from __future__ import annotations

import base64
import math
from collections import Counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
LARGEST = 32767  # of two bytes
MISSING = -(2**31)  # of four bytes


def floats(values: ArrayLike) -> str:
    """Return numbers of four bytes each, in base 64; infinite ones become NaN."""
    with np.errstate(over="ignore"):
        small = np.asarray(values, dtype="<f4")
    return _base64(np.where(np.isfinite(small), small, np.float32(np.nan)))


def decimals(values: ArrayLike) -> str:
    """Return numbers with seven digits, in four bytes each, in base 64.

    The bytes are a whole number: 128 times the digits, plus the power of ten, plus 64.
    Numbers read from text with seven digits come back as they were, unlike those of
    `floats`. NaN, infinite and huge numbers become `MISSING`, tiny ones 0.
    """
    given = np.asarray(values, dtype=float).ravel()
    whole, sure = _most_decimals(given)
    for i in np.flatnonzero(~sure).tolist():
        whole[i] = _decimal(float(given[i]))
    return _base64(whole)


def _most_decimals(x: NDArray[np.float64]) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Return `_decimal` of many numbers, and of which ones it is certain."""
    size = np.abs(x)
    usual = (size > 1e-50) & (size < 1e50)
    size = np.where(usual, size, 1.0)
    power = np.floor(np.log10(size))
    digits = size * 10.0 ** (6 - power)
    rounded = np.rint(digits)
    # A product that is nearly halfway between two whole numbers may be rounded wrongly.
    clear = np.abs(digits - np.floor(digits) - 0.5) > 1e-6
    sure = usual & clear & (rounded >= 1e6) & (rounded < 1e7)
    whole = 128 * np.copysign(rounded, x) + power - 6 + 64
    return whole.astype("<i4"), sure


def _decimal(x: float) -> int:
    if x == 0:
        return 64
    if not abs(x) < 1e69:  # NaN as well
        return MISSING
    digits, power = f"{x:.6e}".split("e")
    place = int(power) - 6 + 64
    return 128 * int(digits.replace(".", "")) + place if place >= 0 else 64


def fractions(values: ArrayLike) -> str:
    """Return numbers between -1 and 1 in steps of 1/32767, in base 64."""
    whole = np.rint(np.clip(np.nan_to_num(values), -1.0, 1.0) * LARGEST)
    return _base64(whole.astype("<i2"))


class Bent(NamedTuple):
    """Numbers that may be near 0 or very far from it, with the same relative error.

    reach : inverse hyperbolic sine of the largest
    packed : inverse hyperbolic sines, as `fractions` of `reach`
    """

    reach: float
    packed: str


def bent(values: ArrayLike) -> Bent:
    """Pack numbers so that two bytes resolve small and very large ones; NaN becomes 0.

    The error is below 0.001 near 0, and below 0.1 % elsewhere up to 1e13.
    """
    sines = np.arcsinh(np.clip(np.nan_to_num(values), -1e100, 1e100))
    reach = float(np.abs(sines).max(initial=0.0)) or 1.0
    return Bent(reach, fractions(sines / reach))


def digits(values: NDArray[np.intp]) -> str:
    """Return numbers from 0 to 35 as one character each."""
    return "".join(np.array(list(DIGITS))[values])


def coded(texts: NDArray[np.str_]) -> tuple[list[str], list[int]]:
    """Return the different texts, most frequent first, and the place of each text."""
    counts = Counter(texts.tolist())
    names = sorted(counts, key=lambda name: (-counts[name], name))
    places = {name: i for i, name in enumerate(names)}
    return names, [places[text] for text in texts.tolist()]


def rounded(values: NDArray[Any], digits: int = 4) -> list[float | None]:
    """Round to some digits; None replaces infinite numbers, which JSON lacks."""
    return [
        float(f"{x:.{digits}g}") if math.isfinite(x) else None
        for x in np.asarray(values).tolist()
    ]


def _base64(values: NDArray[Any]) -> str:
    # Browsers read the bytes in the order of their machine: little-endian everywhere.
    return base64.b64encode(np.ascontiguousarray(values).tobytes()).decode("ascii")
