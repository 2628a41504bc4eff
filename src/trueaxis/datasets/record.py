"""What `load` gives back: one data set, and all there is to know about this copy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueaxis.datasets.checks import check
from trueaxis.datasets.registry import SHAPE, Facts


@dataclass(frozen=True)
class Dataset:
    """One of the paper's data sets.

    Attributes
    ----------
    name : str
    X : ndarray of shape (n, D)
        Features; grey levels from 0 to 255 for images, row by row.
    target : ndarray of shape (n,)
        Class of each row: whole numbers, or names.
    feature_names : tuple of str
    image_shape : tuple of int or None
        Height and width, if rows are images.
    is_repeat : ndarray of shape (n,)
        True for rows that repeat an earlier row, class included. In cross-validation
        copies leak between folds: ``X[~is_repeat]`` leaves them out.
    exact : bool
        Whether these are the values of our study, bit for bit and in the same order. If
        not, they come from a registry or a file with the same sizes, classes and column
        sums, but rounded, resized or ordered in another way.
    origin : str
        Where this copy was read: a file, scikit-learn or an address.
    source : str
        Where the data set is registered.
    licence, description : str
    """

    name: str
    X: NDArray[np.float64]
    target: NDArray[Any]
    feature_names: tuple[str, ...]
    image_shape: tuple[int, int] | None
    is_repeat: NDArray[np.bool_]
    exact: bool
    origin: str
    source: str
    licence: str
    description: str

    @property
    def images(self) -> NDArray[np.float64]:
        """The rows as images of shape (n, height, width)."""
        if self.image_shape is None:
            raise AttributeError(f"{self.name} is a table: its rows are no images.")
        return self.X.reshape(-1, *self.image_shape)


def record(
    facts: Facts, X: NDArray[Any], labels: Sequence[str], origin: str
) -> Dataset:
    """Check rows and classes, and put everything known beside them."""
    exact = check(facts, X, labels, origin)
    whole = all(name.isdigit() for name in facts.class_counts)
    seen: set[bytes] = set()
    repeats = []
    for row, label in zip(X, labels, strict=True):
        key = row.tobytes() + label.encode()
        repeats.append(key in seen)
        seen.add(key)
    words = [f"{facts.title}.", facts.notes]
    if not exact:
        change = "resized by another route" if facts.is_faces else "rounded"
        words.append(
            f"This copy is not bit for bit the one of our study: {change}, or in "
            "another order."
        )
    return Dataset(
        name=facts.name,
        X=np.ascontiguousarray(X),
        target=np.array([int(name) for name in labels] if whole else labels),
        feature_names=facts.features,
        image_shape=SHAPE if facts.is_faces else None,
        is_repeat=np.array(repeats),
        exact=exact,
        origin=origin,
        source=facts.identifiers,
        licence=facts.licence,
        description=" ".join(words),
    )
