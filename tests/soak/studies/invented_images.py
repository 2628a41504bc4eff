"""Images for tests of the study of faces."""

import numpy as np


def invented(n=150, side=16, seed=0):
    """Smooth images from 0 to 255: random waves, a little noise."""
    rng = np.random.default_rng(seed)
    x = np.linspace(0, np.pi, side)
    waves = np.cos(np.outer(np.arange(6), x))
    sizes = rng.standard_normal((n, 6, 6)) / (1 + np.add.outer(range(6), range(6)))
    images = np.einsum("nab,ai,bj->nij", sizes, waves, waves)
    images += 0.05 * rng.standard_normal(images.shape)
    low, high = images.min(), images.max()
    return np.round(255 * (images - low) / (high - low))
