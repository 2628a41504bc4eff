"""Generate spectra of mixtures: peaks, a baseline, and noise between neighbors.

Unlike in `planted`, the noise is correlated, so that it has large variances of its own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trueaxis.datasets.clouds import Planted

__all__ = ["Spectra", "spectra"]

PEAKS = 4  # per substance


@dataclass(frozen=True)
class Spectra(Planted):
    """Spectra of mixtures, and the truth about them.

    The outliers are mixtures with a foreign substance.

    Attributes
    ----------
    X, is_outlier, mean, components
        See `Planted`.
    clean : ndarray of shape (n, D)
        The same spectra without noise.
    """

    clean: NDArray[np.float64]


def spectra(
    *,
    n: int = 100,
    n_features: int = 200,
    n_components: int = 4,
    share: float = 0.0,
    noise: float = 0.03,
    length: float = 0.02,
    white: float = 0.2,
    random_state: int = 0,
) -> Spectra:
    """Draw spectra of mixtures of a few substances, on a baseline that drifts.

    Each substance has four Gaussian peaks. The amounts of the substances vary
    independently, the last of them 0.3 times as much as the first. The baseline is a
    line that moves up and down. The noise has a smooth part and a white part.

    Parameters
    ----------
    n, n_features : int
        Number of spectra, and of wavelengths.
    n_components : int
        Dimension of the true subspace: the baseline and `n_components - 1` substances.
    share : float
        Share of outliers: spectra with a foreign substance, and otherwise regular.
    noise : float
        Standard deviation of the smooth noise, relative to that of the signal.
    length : float
        Length over which the smooth noise is correlated, as a share of the spectrum.
    white : float
        Standard deviation of the white noise, relative to that of the smooth noise.
    random_state : int
        Seed.

    Returns
    -------
    Spectra
        The spectra and the truth about them.

    Examples
    --------
    >>> from trueaxis.datasets import spectra
    >>> cloud = spectra(n=50, n_components=3)
    >>> cloud.X.shape, cloud.components.shape
    ((50, 200), (3, 200))
    """
    if n_components < 1:
        raise ValueError(
            f"n_components={n_components}, but the baseline is one: ask for at least 1."
        )
    rng = np.random.default_rng(random_state)
    x = np.linspace(0.0, 1.0, n_features)
    baseline = 1.0 + rng.uniform(-1.0, 1.0) * (x - 0.5)
    substances = [_substance(x, rng) for _ in range(n_components - 1)]
    shapes = np.array([_scaled(shape) for shape in [*substances, baseline]])
    spread = np.append(np.geomspace(1.0, 0.3, n_components - 1), 1.0)
    signal = (rng.standard_normal((n, n_components)) * spread) @ shapes
    mean = 5.0 * shapes.sum(axis=0)
    is_outlier = np.arange(n) >= n - round(share * n)
    scale = np.sqrt((spread**2).sum())
    clean = mean + signal
    clean[is_outlier] += 3.0 * scale * _scaled(_substance(x, rng))
    smooth = _smooth_noise(n, n_features, length * n_features, rng)
    rough = white * rng.standard_normal((n, n_features))
    components = np.linalg.qr(shapes.T)[0].T
    X = clean + noise * scale * (smooth + rough)
    return Spectra(X, is_outlier, mean, components, clean)


def _substance(x: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
    """Draw a spectrum of a few peaks."""
    center = rng.random((PEAKS, 1))
    width = rng.uniform(0.02, 0.08, size=(PEAKS, 1))
    height = rng.uniform(0.3, 1.0, size=PEAKS)
    peaks: NDArray[np.float64] = height @ np.exp(-0.5 * ((x - center) / width) ** 2)
    return peaks


def _scaled(shape: NDArray[np.float64]) -> NDArray[np.float64]:
    """Scale a shape to a mean square of 1."""
    scaled: NDArray[np.float64] = shape / np.sqrt((shape**2).mean())
    return scaled


def _smooth_noise(
    n: int, D: int, length: float, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Average white noise over neighbors, with variance 1."""
    reach = int(np.ceil(4 * length))
    lags = np.arange(-reach, reach + 1)
    kernel = np.exp(-0.5 * (lags / max(length, 1e-9)) ** 2)
    kernel /= np.linalg.norm(kernel)
    E = rng.standard_normal((n, D + 2 * reach))
    return np.apply_along_axis(np.convolve, 1, E, kernel, mode="valid")
