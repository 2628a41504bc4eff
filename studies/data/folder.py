"""Read and write the paper's data sets in a folder: the data home or the cache."""

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

from studies.data.checks import upright_images
from studies.data.parsing import csv_cells, decode
from studies.data.record import Dataset, make_dataset
from studies.data.registry import SHAPE, Facts
from trueaxis._files import atomic_write

UNREADABLE = (ValueError, KeyError, OSError, EOFError, zipfile.BadZipFile, zlib.error)


def read_folder(facts: Facts, folder: Path, *, strict: bool) -> Dataset | None:
    """Read the data set from a folder; return None if it is not there.

    Parameters
    ----------
    facts : Facts
    folder : Path
    strict : bool
        Whether files in our layout must have exactly the known values. Downloaded
        files may differ by rounding.

    Returns
    -------
    Dataset or None
    """
    path = folder / facts.file
    if path.is_file():
        return _read_file(facts, path, strict)
    for name in (f"{facts.name}.mat", *facts.mat) if facts.is_faces else ():
        for path in (folder / "faces" / name, folder / name):
            if path.is_file():
                return _read_mat(facts, path)
    return None


def _read_file(facts: Facts, path: Path, strict: bool) -> Dataset:
    raw = path.read_bytes()
    try:
        X, labels = (_parse_npz if facts.is_faces else _parse_csv)(raw)
    except UNREADABLE as error:
        raise ValueError(
            f"{path} cannot be read ({error}): the file is truncated or damaged. Get a "
            "new copy."
        ) from None
    dataset = make_dataset(facts, X, labels, str(path))
    if strict and not dataset.exact:
        raise ValueError(
            f"{path} was edited: its sizes and sums are right, but not all of its "
            f"values. Its sha256 is {hashlib.sha256(raw).hexdigest()}, but "
            f"{facts.sha256} is expected. Get a new copy."
        )
    return dataset


def _parse_csv(raw: bytes) -> tuple[NDArray[Any], list[str]]:
    cells = csv_cells(decode(raw))
    X = np.array([row[:-1] for row in cells], dtype=np.float64)
    return X, [row[-1] for row in cells]


def _parse_npz(raw: bytes) -> tuple[NDArray[Any], list[str]]:
    with np.load(io.BytesIO(raw), allow_pickle=False) as arrays:
        images, target = arrays["images"], arrays["target"]
    if images.shape[1:] != SHAPE:
        raise ValueError(f"images has shape {images.shape}, not n x 32 x 32")
    return images.reshape(len(images), -1).astype(np.float64), class_names(target)


def _read_mat(facts: Facts, path: Path) -> Dataset:
    from scipy.io import loadmat

    try:
        arrays = loadmat(path, variable_names=["fea", "gnd"])
        flat, target = np.asarray(arrays["fea"], dtype=float), arrays["gnd"].ravel()
    except KeyError as error:
        raise ValueError(
            f"{path} has no array {error}: fea (n x 1024) and gnd are expected."
        ) from None
    except Exception as error:  # SciPy raises many kinds for damaged files
        raise ValueError(
            f"{path} cannot be read ({error}): the file is damaged, or of version 7.3. "
            "Get a new copy, or save it in MATLAB with the option -v7."
        ) from None
    if flat.ndim != 2 or flat.shape[1] != facts.d:
        raise ValueError(
            f"{path}: fea has shape {flat.shape}, but {facts.n} x {facts.d} is "
            "expected."
        )
    images = upright_images(flat, SHAPE, facts, path)
    X = images.reshape(len(images), -1)
    return make_dataset(facts, X, class_names(target), str(path))


def class_names(target: NDArray[Any]) -> list[str]:
    """Return integer classes as strings, which is how they are checked."""
    return [str(label) for label in target.astype(np.int64).tolist()]


def write_folder(
    facts: Facts, X: NDArray[Any], labels: Sequence[str], folder: Path
) -> None:
    """Write a data set into a folder, atomically."""
    path = folder / facts.file
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
