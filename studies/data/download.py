"""Download data sets from public registries: OpenML and the UCI repository.

The identifiers were written down without network access. So every download is checked
against the known facts about the data set, and refused if it does not match.
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

from studies.data.checks import check, upright_images
from studies.data.parsing import (
    arff_cells,
    csv_cells,
    decode,
    find_images,
    find_table,
)
from studies.data.registry import Facts

OPENML = "https://www.openml.org"
UCI = "https://archive.ics.uci.edu"
TIMEOUT = 30.0  # seconds without a response


def fetch(
    facts: Facts, *, _openml: str | None = None, _uci: str | None = None
) -> tuple[NDArray[np.float64], list[str], str]:
    """Download rows and classes from the first registry that has them.

    Parameters
    ----------
    facts : Facts
        Facts about the data set.

    Returns
    -------
    X : ndarray of shape (n, D)
    labels : list of str
    origin : str
        The address they came from.

    Raises
    ------
    ConnectionError
        If no registry has them; the message lists all attempts.
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
    raise ConnectionError("; ".join(failures) or "no known public registry has it")


def _from_openml(facts: Facts, base: str) -> tuple[NDArray[Any], list[str], str]:
    assert facts.openml is not None
    address = f"{base}/api/v1/json/data/{facts.openml['id']}"
    try:
        entry = json.loads(_get(address))["data_set_description"]
        # The number of the file instead of its URL, so that only OpenML is contacted.
        number = int(entry["file_id"])
    except (ValueError, KeyError, TypeError):
        raise ValueError(f"{address} returned no data set description") from None
    address = f"{base}/data/v1/download/{number}"
    raw = _get(address)
    expected = entry.get("md5_checksum")
    md5 = hashlib.md5(raw, usedforsecurity=False).hexdigest()
    if expected and md5 != expected:
        raise ValueError(f"{address} has md5 {md5}, but OpenML announced {expected}")
    try:
        cells = arff_cells(decode(raw))
        if not facts.is_faces:
            return *find_table(facts, cells), address
        flat, labels = find_images(facts, cells)
        return _resize_faces(flat, facts, address), labels, address
    except ValueError as error:
        raise ValueError(f"{address} is not the data set: {error}") from None


def _from_uci(facts: Facts, base: str) -> tuple[NDArray[Any], list[str], str]:
    address = f"{base}/static/public/{facts.uci}/data.csv"
    try:
        return *find_table(facts, csv_cells(decode(_get(address)))), address
    except ValueError as error:
        raise ValueError(f"{address} is not the data set: {error}") from None


def _resize_faces(flat: NDArray[Any], facts: Facts, where: str) -> NDArray[np.float64]:
    shape = facts.openml_shape
    assert shape is not None
    if flat.shape[1] != math.prod(shape):
        tall, wide = shape
        raise ValueError(
            f"images have {flat.shape[1]} pixels, but {tall} x {wide} = "
            f"{tall * wide} are expected"
        )
    gray = flat if flat.max() > 1 else 255 * flat
    images = upright_images(gray, shape, facts, where)
    return images.round().clip(0, 255).reshape(len(images), -1)


def _get(address: str) -> bytes:
    # Registries refuse clients without a User-Agent.
    request = Request(address, headers={"User-Agent": "trueaxis"})
    with urlopen(request, timeout=TIMEOUT) as response:
        body: bytes = response.read()
    return body


def _reason(error: Exception) -> str:
    if isinstance(error, HTTPError):
        error.close()
        return f"{error.url} answered {error.code} ({error.reason})"
    if isinstance(error, URLError):
        return f"no connection ({error.reason})"
    if isinstance(error, HTTPException):
        return f"the response was incomplete ({error!r})"
    return str(error)
