"""READ and keep the paper's data sets in a folder, a data home or the cache."""

from __future__ import annotations

import hashlib
import io
import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueaxis._files import atomic_write
from trueaxis.datasets.checks import upright
from trueaxis.datasets.parsing import csv_cells, decoded
from trueaxis.datasets.record import Dataset, record
from trueaxis.datasets.registry import SHAPE, Facts

DAMAGED = (ValueError, KeyError, OSError, EOFError, zipfile.BadZipFile, zlib.error)


def in_folder(facts: Facts, place: Path, *, strict: bool) -> Dataset | None:
    """The data set from a folder, or None if it is not there.

    Parameters
    ----------
    facts : Facts
    place : Path
    strict : bool
        Refuse a file in our layout whose values are not the very ones that we know;
        what we downloaded ourselves may differ by rounding.

    Returns
    -------
    Dataset or None
    """
    path = place / facts.file
    if path.is_file():
        return _from_file(facts, path, strict)
    for name in (f"{facts.name}.mat", *facts.mat) if facts.is_faces else ():
        for folder in (place / "faces", place):
            if (folder / name).is_file():
                return _from_mat(facts, folder / name)
    return None


def _from_file(facts: Facts, path: Path, strict: bool) -> Dataset:
    raw = path.read_bytes()
    try:
        X, labels = (_npz if facts.is_faces else _csv)(raw)
    except DAMAGED as error:
        raise ValueError(
            f"{path} cannot be read ({error}): the file is cut off or damaged. Get it "
            "anew."
        ) from None
    found = record(facts, X, labels, str(path))
    if strict and not found.exact:
        raise ValueError(
            f"{path} was edited: its sizes and sums are right, but not all of its "
            f"values. Its sha256 is {hashlib.sha256(raw).hexdigest()}, expected is "
            f"{facts.sha256}. Get it anew."
        )
    return found


def _csv(raw: bytes) -> tuple[NDArray[Any], list[str]]:
    cells = csv_cells(decoded(raw))
    X = np.array([row[:-1] for row in cells], dtype=np.float64)
    return X, [row[-1] for row in cells]


def _npz(raw: bytes) -> tuple[NDArray[Any], list[str]]:
    with np.load(io.BytesIO(raw), allow_pickle=False) as arrays:
        images, target = arrays["images"], arrays["target"]
    if images.shape[1:] != SHAPE:
        raise ValueError(f"images has shape {images.shape}, expected n x 32 x 32")
    return images.reshape(len(images), -1).astype(np.float64), names(target)


def _from_mat(facts: Facts, path: Path) -> Dataset:
    from scipy.io import loadmat

    try:
        arrays = loadmat(path, variable_names=["fea", "gnd"])
        flat, target = np.asarray(arrays["fea"], dtype=float), arrays["gnd"].ravel()
    except KeyError as error:
        raise ValueError(
            f"{path} has no array {error}: expected are fea (n x 1024) and gnd."
        ) from None
    except Exception as error:  # damaged files fail in many ways inside scipy
        raise ValueError(
            f"{path} cannot be read ({error}): the file is damaged, or of version 7.3. "
            "Get it anew, or save it in MATLAB with the option -v7."
        ) from None
    if flat.ndim != 2 or flat.shape[1] != facts.d:
        raise ValueError(
            f"{path}: fea has shape {flat.shape}, expected {facts.n} x {facts.d}."
        )
    images = upright(flat, SHAPE, facts, path)
    X = images.reshape(len(images), -1)
    return record(facts, X, names(target), str(path))


def names(target: NDArray[Any]) -> list[str]:
    """Whole-numbered classes as the names by which they are checked."""
    return [str(label) for label in target.astype(np.int64).tolist()]


def keep(facts: Facts, X: NDArray[Any], labels: Sequence[str], place: Path) -> None:
    """Write a data set into a folder, whole or not at all."""
    path = place / facts.file
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(path) as file:
        if facts.is_faces:
            images = X.reshape(-1, *SHAPE).astype(np.uint8)
            target = np.array([int(label) for label in labels], dtype=np.int64)
            np.savez_compressed(file, images=images, target=target)
            return
        lines = [",".join([*facts.features, "target"])]
        for row, label in zip(X.tolist(), labels, strict=True):
            lines.append(",".join([*map(repr, row), label]))
        file.write(("\n".join(lines) + "\n").encode())
