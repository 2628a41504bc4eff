"""READ data sets from public registries, OpenML and the UCI repository.

None of the identifiers could be tried where this was written: whatever comes is checked
against what we know about the data set, and refused if it does not fit.
"""

from __future__ import annotations

import hashlib
import json
import math
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

import numpy as np
from numpy.typing import NDArray

from trueaxis.datasets.checks import check, upright
from trueaxis.datasets.parsing import arff_cells, csv_cells, decoded, pictures, table
from trueaxis.datasets.registry import Facts

OPENML = "https://www.openml.org"
UCI = "https://archive.ics.uci.edu"
PATIENCE = 30.0  # seconds without an answer


def fetch(
    facts: Facts, *, _openml: str | None = None, _uci: str | None = None
) -> tuple[NDArray[np.float64], list[str], str]:
    """Rows and classes from the first registry that has them.

    Parameters
    ----------
    facts : Facts
        What to get.

    Returns
    -------
    X : ndarray of shape (n, D)
    labels : list of str
    origin : str
        The address they came from.

    Raises
    ------
    ConnectionError
        If no registry has them; the message tells of every attempt.
    """
    attempts: list[tuple[str, Any, str]] = []
    if facts.openml is not None:
        base = _openml or OPENML
        attempts.append((f"OpenML {facts.openml['id']}", _from_openml, base))
    if facts.uci is not None:
        attempts.append((f"UCI {facts.uci}", _from_uci, _uci or UCI))
    failures = []
    for registry, read, base in attempts:
        try:
            X, labels, address = read(facts, base)
            check(facts, X, labels, address)
        except (OSError, HTTPException, ValueError) as error:
            failures.append(f"{registry}: {_reason(error)}")
        else:
            return X, labels, address
    raise ConnectionError(
        "; ".join(failures) or "no public registry that we know of has it"
    )


def _from_openml(facts: Facts, base: str) -> tuple[NDArray[Any], list[str], str]:
    assert facts.openml is not None
    address = f"{base}/api/v1/json/data/{facts.openml['id']}"
    try:
        entry = json.loads(_answer(address))["data_set_description"]
        # The file's number, not the address given there: we go nowhere else.
        number = int(entry["file_id"])
    except (ValueError, KeyError, TypeError):
        raise ValueError(f"{address} gave no description of a data set") from None
    address = f"{base}/data/v1/download/{number}"
    raw = _answer(address)
    expected = entry.get("md5_checksum")
    found = hashlib.md5(raw, usedforsecurity=False).hexdigest()
    if expected and found != expected:
        raise ValueError(f"{address} came with md5 {found}, announced was {expected}")
    try:
        cells = arff_cells(decoded(raw))
        if not facts.is_faces:
            return *table(facts, cells), address
        flat, labels = pictures(facts, cells)
        return _resized(flat, facts, address), labels, address
    except ValueError as error:
        raise ValueError(f"{address} does not fit: {error}") from None


def _from_uci(facts: Facts, base: str) -> tuple[NDArray[Any], list[str], str]:
    address = f"{base}/static/public/{facts.uci}/data.csv"
    try:
        return *table(facts, csv_cells(decoded(_answer(address)))), address
    except ValueError as error:
        raise ValueError(f"{address} does not fit: {error}") from None


def _resized(flat: NDArray[Any], facts: Facts, where: str) -> NDArray[np.float64]:
    shape = facts.openml_shape
    assert shape is not None
    if flat.shape[1] != math.prod(shape):
        tall, wide = shape
        raise ValueError(
            f"images have {flat.shape[1]} pixels, expected {tall} x {wide} = "
            f"{tall * wide}"
        )
    grey = flat if flat.max() > 1 else 255 * flat
    images = upright(grey, shape, facts, where)
    return images.round().clip(0, 255).reshape(len(images), -1)


def _answer(address: str) -> bytes:
    # Registries turn away clients that do not say who they are.
    request = Request(address, headers={"User-Agent": "trueaxis"})
    with urlopen(request, timeout=PATIENCE) as response:
        return response.read()


def _reason(error: Exception) -> str:
    if isinstance(error, HTTPError):
        error.close()
        return f"{error.url} answered {error.code} ({error.reason})"
    if isinstance(error, URLError):
        return f"no connection ({error.reason})"
    if isinstance(error, HTTPException):
        return f"the answer broke off ({error!r})"
    return str(error)
