"""CHECK that rows and classes are the ones that a data set must have."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueaxis.datasets.registry import SHAPE, Facts

# Copies differ by rounding: the last decimals of a whole column weigh less than this.
ROUNDING = 1e-4

# Mean images of one data set in several crops are alike; on its side each of ours has a
# likeness of 0.27 or less to itself.
ALIKE = 0.3


def digest(X: NDArray[Any], labels: Sequence[str]) -> str:
    """Checksum of values, whatever the file they came in looks like."""
    sha = hashlib.sha256(np.ascontiguousarray(X, dtype="<f8").tobytes())
    sha.update("\n".join(labels).encode())
    return sha.hexdigest()


def check(
    facts: Facts, X: NDArray[Any], labels: Sequence[str], where: str | Path
) -> bool:
    """Refuse what cannot be the data set; tell whether it is so to the last bit.

    Parameters
    ----------
    facts : Facts
    X : ndarray of shape (n, D)
    labels : sequence of str
        Names of the classes.
    where : str or Path
        Where they were found, for the message.

    Returns
    -------
    bool
        True: the same values in the same order as those we know. False: the same
        sizes and sums, but rounded, resized or in another order.
    """
    if X.shape != (facts.n, facts.d) or len(labels) != facts.n:
        rows, columns = X.shape
        raise ValueError(
            f"{where} has {rows} rows of {columns} features and {len(labels)} classes, "
            f"but {facts.name} has {facts.n} rows of {facts.d}: the file is cut off or "
            "of another data set. Get it anew."
        )
    if not np.isfinite(X).all():
        n_bad = int((~np.isfinite(X)).sum())
        raise ValueError(
            f"{where} has {n_bad} cells that are no numbers, but {facts.name} has "
            "none: the file was edited or is damaged. Get it anew."
        )
    counts = Counter(labels)
    if counts != facts.class_counts:
        raise ValueError(
            f"{where} has classes {_shown(counts)}, but {facts.name} has "
            f"{_shown(facts.class_counts)}: the file was edited or is of another "
            "version. Get it anew."
        )
    for j, expected in enumerate(facts.column_sums):
        found = X[:, j].sum()
        if abs(found - expected) > ROUNDING * abs(expected):
            raise ValueError(
                f"{where}: column {facts.features[j]} adds up to {found:.10g}, but in "
                f"{facts.name} to {expected:.10g}: the file was edited or is of "
                "another version. Get it anew."
            )
    return digest(X, labels) == facts.values_sha256


def _shown(counts: dict[str, int]) -> str:
    shown = [f"{name} ({count})" for name, count in list(counts.items())[:10]]
    return ", ".join(shown) + (", ..." if len(counts) > 10 else "")


def renamed(labels: Sequence[str], counts: dict[str, int]) -> list[str] | None:
    """Classes under the names that we use, or None if they cannot be the same classes.

    Registries number the classes anew, or give them names. Classes are taken to be the
    same if they come in the same order and size, or if their sizes alone tell them
    apart.
    """
    found = Counter(labels)
    if found == counts:
        return list(labels)
    if sorted(found.values()) != sorted(counts.values()):
        return None
    ours = list(counts)
    if all(name.lstrip("-").isdigit() for name in found):
        theirs = sorted(found, key=int)
        if [found[name] for name in theirs] == [counts[name] for name in ours]:
            names = dict(zip(theirs, ours, strict=True))
            return [names[label] for label in labels]
    by_size = {size: name for name, size in counts.items()}
    if len(by_size) < len(counts):
        return None
    return [by_size[found[label]] for label in labels]


def upright(
    flat: NDArray[Any], shape: tuple[int, ...], facts: Facts, where: str | Path
) -> NDArray[np.float64]:
    """Images of 32 x 32 from rows of pixels, stored row by row or column by column.

    Nothing in a file says which: the one is chosen whose mean image has light and dark
    where ours has.
    """
    tall, wide = shape
    stored = np.asarray(flat, dtype=np.float64)
    by_rows = stored.reshape(-1, tall, wide)
    by_columns = stored.reshape(-1, wide, tall).transpose(0, 2, 1)
    choices = [shrunk(images, SHAPE) for images in (by_rows, by_columns)]
    likeness = [_likeness(images, facts) for images in choices]
    best = int(np.argmax(likeness))
    if not likeness[best] >= ALIKE:
        raise ValueError(
            f"{where}: the mean of its images does not look like that of {facts.name} "
            f"(correlation {likeness[best]:.2f}, at least {ALIKE} expected): the "
            "pixels are in an unknown order, or the file is of another data set."
        )
    return choices[best]


def _likeness(images: NDArray[Any], facts: Facts) -> float:
    mean = images.mean(axis=0)
    scores = []
    for ours, theirs in (
        (facts.row_means, mean.mean(axis=1)),
        (facts.column_means, mean.mean(axis=0)),
    ):
        if np.ptp(theirs) == 0:
            return 0.0
        scores.append(np.corrcoef(ours, theirs)[0, 1])
    return float(np.mean(scores))


def shrunk(images: NDArray[Any], shape: tuple[int, int]) -> NDArray[np.float64]:
    """Images resized by averaging over the area that each new pixel covers."""
    tall, wide = (_averages(n, m) for n, m in zip(images.shape[1:], shape, strict=True))
    return tall @ images @ wide.T


def _averages(n: int, m: int) -> NDArray[np.float64]:
    if n == m:
        return np.eye(n)
    edges: Any = np.linspace(0, n, m + 1)
    pixel = np.arange(n)
    end = np.minimum(edges[1:, None], pixel + 1)
    start = np.maximum(edges[:-1, None], pixel)
    return np.maximum(end - start, 0) * (m / n)
