"""The data sets that `load` returns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from studies.data.checks import check
from studies.data.registry import SHAPE, Facts


@dataclass(frozen=True)
class Dataset:
    """One of the paper's data sets.

    Attributes
    ----------
    name : str
    X : ndarray of shape (n, D)
        Features. For images, gray levels from 0 to 255, pixels row by row.
    target : ndarray of shape (n,)
        Class of each row: an integer or a name.
    feature_names : tuple of str
    image_shape : tuple of int or None
        Height and width, if rows are images.
    is_repeat : ndarray of shape (n,)
        True for rows that repeat an earlier row of the same class. In cross-validation
        such copies leak between folds: ``X[~is_repeat]`` leaves them out.
    exact : bool
        Whether the values are bit for bit those of our study, in the same order. If
        not, the copy has the same sizes, classes and column sums, but is rounded,
        resized or in another order.
    origin : str
        Where this copy was read from: a file, scikit-learn or a URL.
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
        """Rows as images of shape (n, height, width)."""
        if self.image_shape is None:
            raise AttributeError(f"{self.name} is a table: its rows are not images.")
        return self.X.reshape(-1, *self.image_shape)


def make_dataset(
    facts: Facts, X: NDArray[Any], labels: Sequence[str], origin: str
) -> Dataset:
    """Check rows and classes, and return them with the facts about the data set."""
    exact = check(facts, X, labels, origin)
    integers = all(name.isdigit() for name in facts.class_counts)
    seen: set[bytes] = set()
    repeats = []
    for row, label in zip(X, labels, strict=True):
        key = row.tobytes() + label.encode()
        repeats.append(key in seen)
        seen.add(key)
    sentences = [f"{facts.title}.", facts.notes]
    if not exact:
        change = "resized differently" if facts.is_faces else "rounded"
        sentences.append(
            "This copy is not bit for bit the one used in our study: it is "
            f"{change}, or in another order."
        )
    return Dataset(
        name=facts.name,
        X=np.ascontiguousarray(X),
        target=np.array([int(name) for name in labels] if integers else labels),
        feature_names=facts.features,
        image_shape=SHAPE if facts.is_faces else None,
        is_repeat=np.array(repeats),
        exact=exact,
        origin=origin,
        source=facts.identifiers,
        licence=facts.licence,
        description=" ".join(sentences),
    )
