"""Damage images of your own: cover blocks of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray


def occlude(
    images: ArrayLike,
    *,
    share: float = 0.2,
    area: float = 0.25,
    random_state: int | np.random.Generator = 0,
) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Cover a block of some images with black and white noise.

    In the paper, 20 % of the training images have a square block of a quarter of the
    image, anywhere inside it, filled with black and white noise. Here "a quarter" means
    a quarter of the area: 16 x 16 pixels of 32 x 32. The pixels of the noise are black
    or white with equal probability. Black is 0. White is 255, or 1 if the images are
    floats of at most 1.

    Parameters
    ----------
    images : array-like of shape (n, height, width)
        Gray levels from 0 to 255 or from 0 to 1; not modified.
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
        Damaged copy, of the same type.
    is_outlier : ndarray of shape (n,)
        True for the images with a block.

    Examples
    --------
    >>> import numpy as np
    >>> from trueaxis.datasets import occlude
    >>> images, is_outlier = occlude(np.full((10, 32, 32), 128, dtype=np.uint8))
    >>> int(is_outlier.sum()), (images != 128).sum(axis=(1, 2))[is_outlier].tolist()
    (2, [256, 256])
    """
    pictures = np.array(images)
    if pictures.ndim != 3 or pictures.size == 0:
        raise ValueError(
            f"images has shape {pictures.shape}: occlude needs (n, height, width). "
            "Reshape rows of pixels with X.reshape(len(X), height, width)."
        )
    for name, value in (("share", share), ("area", area)):
        if not 0 <= value <= 1:
            raise ValueError(f"{name}={value} is not a share: 0 to 1 is possible.")
    low, high = pictures.min(), pictures.max()
    if not (low >= 0 and high <= 255):  # negated, so that NaN is refused as well
        raise ValueError(
            f"images has values from {low} to {high}: occlude needs gray levels from 0 "
            "to 255 or from 0 to 1. Damage images before you center or scale them."
        )
    whole = np.issubdtype(pictures.dtype, np.integer)
    white = 255 if whole or high > 1 else 1
    if whole and np.iinfo(pictures.dtype).max < white:
        raise ValueError(
            f"images has type {pictures.dtype}, which cannot hold white, {white}: "
            "convert it to uint8 or float."
        )
    rng = np.random.default_rng(random_state)
    n, height, width = pictures.shape
    is_outlier = np.zeros(n, dtype=np.bool_)
    is_outlier[rng.choice(n, size=round(share * n), replace=False)] = True
    tall, wide = round(height * area**0.5), round(width * area**0.5)
    for i in np.flatnonzero(is_outlier):
        top = rng.integers(height - tall + 1)
        left = rng.integers(width - wide + 1)
        noise = white * rng.integers(2, size=(tall, wide))
        pictures[i, top : top + tall, left : left + wide] = noise
    return pictures, is_outlier
