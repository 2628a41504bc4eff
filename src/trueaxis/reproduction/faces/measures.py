"""Images of a fold, damaged for training and clean for tests; errors and PSNR."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trueaxis.datasets import FACES, load, occlude

WHITE = 255.0


class Fold(NamedTuple):
    """One of the folds: rows of pixels.

    train : training images, some of them occluded
    occluded : which of them
    intact : the same images before the damage, which only the ideals may see
    test : test images, never occluded
    """

    train: NDArray[np.float64]
    occluded: NDArray[np.bool_]
    intact: NDArray[np.float64]
    test: NDArray[np.float64]


@lru_cache(maxsize=4)
def pictures(name: str, data_home: str | None = None) -> NDArray[np.float64]:
    """Images of a set, (n, height, width), without those that occur twice.

    A copy in a training fold would give its twin in the test fold away.
    """
    found = load(name, data_home=data_home)
    return found.images[~found.is_repeat]


def parts(n: int, folds: int, seed: int, name: str) -> list[NDArray[np.intp]]:
    """Test rows of every fold: a shuffled partition, the same for all methods."""
    rng = np.random.default_rng([seed, FACES.index(name)])
    return np.array_split(rng.permutation(n), folds)


def fold_of(
    images: NDArray[Any], name: str, fold: int, *, folds: int, seed: int, share: float
) -> Fold:
    """Split the images, and occlude a share of those for training.

    Parameters
    ----------
    images : ndarray of shape (n, height, width)
    name : str
        Data set, part of the seed.
    fold : int
        Which fold is tested.
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
    """Training images that are not occluded, in the fold that has fewest."""
    trained = n - -(-n // folds)
    return trained - round(share * trained)


def rebuilt(
    rows: NDArray[Any], mean: NDArray[Any], components: NDArray[Any]
) -> NDArray[np.float64]:
    """Rows as the subspace shows them: m + PP'(x - m).

    The paper writes PP'x for rows that were centred before. Each method brings its own
    centre: the sample mean, or the one that it learnt.
    """
    centred = rows - mean
    return mean + (centred @ components.T) @ components


def mean_error(rows: NDArray[Any], shown: NDArray[Any]) -> float:
    """The paper's error: mean over images of the length (not squared) of x - PP'x."""
    return float(np.linalg.norm(rows - shown, axis=1).mean())


def psnr(rows: NDArray[Any], shown: NDArray[Any]) -> NDArray[np.float64]:
    """Peak signal-to-noise ratio of every image in dB, the peak being white."""
    return 10 * np.log10(WHITE**2 / np.mean((rows - shown) ** 2, axis=1))
