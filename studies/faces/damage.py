"""Images with blocks of noise, as in the paper."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

WHITE = 255.0


def occlude(
    images: NDArray[np.float64],
    *,
    share: float = 0.2,
    area: float = 0.25,
    random_state: int | np.random.Generator = 0,
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Cover a block of some images with black and white noise.

    In the paper, 20 % of the training images have a square block of a quarter of the
    image, anywhere inside it, filled with black and white noise. Here "a quarter" means
    a quarter of the area: 16 x 16 pixels of 32 x 32.

    Parameters
    ----------
    images : ndarray of shape (n, height, width)
        Gray levels from 0 to 255; not modified.
    share : float
        Share of images to damage, rounded to a whole number of images.
    area : float
        Share of the image that the block covers. The block has the proportions of the
        image.
    random_state : int or numpy Generator
        Seed.

    Returns
    -------
    images : ndarray of shape (n, height, width)
        Damaged copy.
    is_outlier : ndarray of shape (n,)
        True for the images with a block.
    """
    pictures = np.array(images)
    rng = np.random.default_rng(random_state)
    n, height, width = pictures.shape
    is_outlier = np.zeros(n, dtype=np.bool_)
    is_outlier[rng.choice(n, size=round(share * n), replace=False)] = True
    tall, wide = round(height * area**0.5), round(width * area**0.5)
    for i in np.flatnonzero(is_outlier):
        top = rng.integers(height - tall + 1)
        left = rng.integers(width - wide + 1)
        noise = WHITE * rng.integers(2, size=(tall, wide))
        pictures[i, top : top + tall, left : left + wide] = noise
    return pictures, is_outlier
