"""Check rows and classes against the known facts about a data set."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from studies.data.registry import SHAPE, Facts

# Relative difference of column sums that rounding of the last decimals can cause.
ROUNDING = 1e-4

# Minimum correlation with the known mean image. Other crops of a data set exceed it;
# our data sets, turned on their side, reach at most 0.27.
LEAST_CORRELATION = 0.3


def digest(X: NDArray[Any], labels: Sequence[str]) -> str:
    """Return the checksum of the values, which does not depend on the file format."""
    sha = hashlib.sha256(np.ascontiguousarray(X, dtype="<f8").tobytes())
    sha.update("\n".join(labels).encode())
    return sha.hexdigest()


def check(
    facts: Facts, X: NDArray[Any], labels: Sequence[str], where: str | Path
) -> bool:
    """Raise if the rows are not the data set; return whether the copy is exact.

    Parameters
    ----------
    facts : Facts
    X : ndarray of shape (n, D)
    labels : sequence of str
        Names of the classes.
    where : str or Path
        Where they were read from, for error messages.

    Returns
    -------
    bool
        True if values and order are the known ones. False if only the sizes and sums
        are: the copy is rounded, resized or in another order.
    """
    if X.shape != (facts.n, facts.d) or len(labels) != facts.n:
        rows, columns = X.shape
        raise ValueError(
            f"{where} has {rows} rows of {columns} features and {len(labels)} classes, "
            f"but {facts.name} has {facts.n} rows of {facts.d}: the file is truncated, "
            "or of another data set. Get a new copy."
        )
    if not np.isfinite(X).all():
        n_bad = int((~np.isfinite(X)).sum())
        raise ValueError(
            f"{where} has {n_bad} cells that are not numbers, but {facts.name} has "
            "none: the file was edited or is damaged. Get a new copy."
        )
    counts = Counter(labels)
    if counts != facts.class_counts:
        raise ValueError(
            f"{where} has classes {_list_counts(counts)}, but {facts.name} has "
            f"{_list_counts(facts.class_counts)}: the file was edited, or is of "
            "another version. Get a new copy."
        )
    for j, expected in enumerate(facts.column_sums):
        total = X[:, j].sum()
        if abs(total - expected) > ROUNDING * abs(expected):
            raise ValueError(
                f"{where}: column {facts.features[j]} adds up to {total:.10g}, but in "
                f"{facts.name} it adds up to {expected:.10g}: the file was edited, or "
                "is of another version. Get a new copy."
            )
    return digest(X, labels) == facts.values_sha256


def _list_counts(counts: dict[str, int]) -> str:
    listed = [f"{name} ({count})" for name, count in list(counts.items())[:10]]
    return ", ".join(listed) + (", ..." if len(counts) > 10 else "")


def rename_classes(labels: Sequence[str], counts: dict[str, int]) -> list[str] | None:
    """Return the classes under our names, or None if they cannot be the same classes.

    Registries may number the classes differently, or give them names. Classes are the
    same if they have the same order and sizes, or if all sizes differ.
    """
    their_counts = Counter(labels)
    if their_counts == counts:
        return list(labels)
    if sorted(their_counts.values()) != sorted(counts.values()):
        return None
    ours = list(counts)
    if all(name.lstrip("-").isdigit() for name in their_counts):
        theirs = sorted(their_counts, key=int)
        if [their_counts[name] for name in theirs] == [counts[name] for name in ours]:
            names = dict(zip(theirs, ours, strict=True))
            return [names[label] for label in labels]
    by_size = {size: name for name, size in counts.items()}
    if len(by_size) < len(counts):
        return None
    return [by_size[their_counts[label]] for label in labels]


def upright_images(
    flat: NDArray[Any], shape: tuple[int, ...], facts: Facts, where: str | Path
) -> NDArray[np.float64]:
    """Return images of 32 x 32 from pixels stored row by row or column by column.

    Files do not say which order they use. The one that gives a mean image more like
    ours is chosen.
    """
    tall, wide = shape
    stored = np.asarray(flat, dtype=np.float64)
    by_rows = stored.reshape(-1, tall, wide)
    by_columns = stored.reshape(-1, wide, tall).transpose(0, 2, 1)
    choices = [resize(images, SHAPE) for images in (by_rows, by_columns)]
    correlations = [_correlation(images, facts) for images in choices]
    best = int(np.argmax(correlations))
    if not correlations[best] >= LEAST_CORRELATION:
        raise ValueError(
            f"{where}: the mean of its images does not look like that of {facts.name} "
            f"(correlation {correlations[best]:.2f}, at least {LEAST_CORRELATION} "
            "expected): the pixels are in an unknown order, or the file is of another "
            "data set."
        )
    return choices[best]


def _correlation(images: NDArray[Any], facts: Facts) -> float:
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


def resize(images: NDArray[Any], shape: tuple[int, int]) -> NDArray[np.float64]:
    """Resize images by averaging over the area that each new pixel covers."""
    tall, wide = (_averages(n, m) for n, m in zip(images.shape[1:], shape, strict=True))
    resized: NDArray[np.float64] = tall @ images @ wide.T
    return resized


def _averages(n: int, m: int) -> NDArray[np.float64]:
    """Return the matrix that averages n pixels into m."""
    if n == m:
        return np.eye(n)
    edges = np.linspace(0, n, m + 1)
    pixel = np.arange(n)
    end = np.minimum(edges[1:, None], pixel + 1)
    start = np.maximum(edges[:-1, None], pixel)
    overlap: NDArray[np.float64] = np.maximum(end - start, 0)
    return overlap * (m / n)
