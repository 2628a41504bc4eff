"""Images of a fold, damaged for training and clean for testing; error and PSNR."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from studies.data import FACES, load
from studies.faces.damage import WHITE, occlude


class Fold(NamedTuple):
    """Images of one fold, as rows of pixels.

    train : training images, some of them occluded
    occluded : which of them are occluded
    intact : the training images before the damage, for the ideals only
    test : test images, never occluded
    """

    train: NDArray[np.float64]
    occluded: NDArray[np.bool_]
    intact: NDArray[np.float64]
    test: NDArray[np.float64]


@lru_cache(maxsize=4)
def pictures(name: str, data_home: str | None = None) -> NDArray[np.float64]:
    """Return the images of a set, of shape (n, height, width), without duplicates.

    Otherwise, a test image might have a copy among the training images.
    """
    data = load(name, data_home=data_home)
    return data.images[~data.is_repeat]


def parts(n: int, folds: int, seed: int, name: str) -> list[NDArray[np.intp]]:
    """Return the test rows of every fold: a shuffled partition."""
    rng = np.random.default_rng([seed, FACES.index(name)])
    return np.array_split(rng.permutation(n), folds)


def fold_of(
    images: NDArray[Any], name: str, fold: int, *, folds: int, seed: int, share: float
) -> Fold:
    """Split the images, and occlude a share of the training images.

    Parameters
    ----------
    images : ndarray of shape (n, height, width)
    name : str
        Data set, which is part of the seed.
    fold : int
        Index of the fold that is tested.
    folds, seed : int
    share : float
        Share of the training images that are occluded.

    Returns
    -------
    Fold
    """
    tested = parts(len(images), folds, seed, name)[fold]
    trained = np.delete(np.arange(len(images)), tested)
    rng = np.random.default_rng([seed, FACES.index(name), fold])
    damaged, occluded = occlude(images[trained], share=share, random_state=rng)
    return Fold(
        train=_flat(damaged),
        occluded=occluded,
        intact=_flat(images[trained]),
        test=_flat(images[tested]),
    )


def _flat(images: NDArray[Any]) -> NDArray[np.float64]:
    return images.reshape(len(images), -1).astype(np.float64)


def fewest_clean(n: int, folds: int, share: float) -> int:
    """Return the smallest number of clean training images in any fold."""
    train = n - -(-n // folds)
    return train - round(share * train)


def rebuilt(
    rows: NDArray[Any], mean: NDArray[Any], components: NDArray[Any]
) -> NDArray[np.float64]:
    """Return the reconstructions m + PP'(x - m) of rows.

    The paper writes PP'x, for rows that are already centered. The center m is that of
    the method: the sample mean, or the one that it learned.
    """
    centered = rows - mean
    images: NDArray[np.float64] = mean + (centered @ components.T) @ components
    return images


def mean_error(rows: NDArray[Any], shown: NDArray[Any]) -> float:
    """Return the paper's error: mean length (not squared) of x - PP'x over images."""
    return float(np.linalg.norm(rows - shown, axis=1).mean())


def psnr(rows: NDArray[Any], shown: NDArray[Any]) -> NDArray[np.float64]:
    """Return the peak signal-to-noise ratio of every image in dB; the peak is white."""
    ratio: NDArray[np.float64] = WHITE**2 / np.mean((rows - shown) ** 2, axis=1)
    return 10 * np.log10(ratio)
