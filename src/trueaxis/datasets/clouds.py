"""Generate data with known outliers, for the demo, the tests and the benchmarks.

Every generator is seeded, and returns the truth along with the data.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["KINDS", "Planted", "Sensors", "planted", "sensors"]

KINDS = ("none", "pcs", "ocs", "both", "scatter", "amp")


@dataclass(frozen=True)
class Planted:
    """Rows with known outliers and the subspace they were drawn from.

    Attributes
    ----------
    X : ndarray of shape (n, D)
        The rows, outliers last.
    is_outlier : ndarray of shape (n,)
        True for the planted rows.
    mean : ndarray of shape (D,)
        Center of the distribution of the regular rows.
    components : ndarray of shape (k, D)
        Orthonormal basis of the true subspace, one row per component.
    """

    X: NDArray[np.float64]
    is_outlier: NDArray[np.bool_]
    mean: NDArray[np.float64]
    components: NDArray[np.float64]


def planted(
    kind: str = "ocs",
    *,
    n: int = 500,
    n_features: int = 20,
    n_components: int = 3,
    share: float = 0.25,
    noise: float = 0.3,
    cluster_sd: float = 0.1,
    df: float | None = None,
    random_state: int = 0,
) -> Planted:
    """Draw rows near a subspace, and replace a share of them by outliers.

    Regular rows have scores with standard deviations 3 down to 1.5 inside a random
    subspace, and isotropic noise around it.

    Parameters
    ----------
    kind : {"none", "pcs", "ocs", "both", "scatter", "amp"}
        "pcs": a far cluster inside the subspace (20 units along the first axis);
        "ocs": a far cluster orthogonal to it (20 units); "both": a tight near cluster
        in between (4 units along the first axis and 4 orthogonal to the subspace);
        "scatter": a wide cloud around the center (standard deviation 10); "amp":
        regular rows with half of their features multiplied by 5, 10 or 20.
    n, n_features, n_components : int
        Number of rows and columns, and dimension of the true subspace.
    share : float
        Share of outliers among the n rows.
    noise : float
        Standard deviation of the noise in every direction.
    cluster_sd : float
        Standard deviation of a cluster of outliers in every direction.
    df : float, optional
        Degrees of freedom, if the regular rows are to follow a multivariate t
        distribution instead of a Gaussian one.
    random_state : int
        Seed.

    Returns
    -------
    Planted
        The rows and the truth about them.

    Examples
    --------
    >>> from trueaxis.datasets import planted
    >>> cloud = planted("ocs", n=100, share=0.2)
    >>> cloud.X.shape, int(cloud.is_outlier.sum())
    ((100, 20), 20)
    """
    if kind not in KINDS:
        raise ValueError(
            f"kind={kind!r} is not known: choose one of {', '.join(KINDS)}."
        )
    rng = np.random.default_rng(random_state)
    D, k = n_features, n_components
    frame = np.linalg.qr(rng.standard_normal((D, D)))[0].T
    axes, off = frame[:k], frame[k % D]
    sd = np.linspace(3.0, 1.5, k)
    scores = rng.standard_normal((n, k)) * sd
    centered = scores @ axes + noise * rng.standard_normal((n, D))
    if df is not None:
        centered *= np.sqrt(df / rng.chisquare(df, size=n))[:, None]
    mean = rng.standard_normal(D)
    X = centered + mean
    n_bad = 0 if kind == "none" else round(share * n)
    is_outlier = np.arange(n) >= n - n_bad
    if n_bad:
        X[is_outlier] = _outliers(
            kind, X[is_outlier], mean, axes[0], off, cluster_sd, rng
        )
    return Planted(X, is_outlier, mean, axes)


def _outliers(
    kind: str,
    rows: NDArray[np.float64],
    mean: NDArray[np.float64],
    axis: NDArray[np.float64],
    off: NDArray[np.float64],
    cluster_sd: float,
    rng: np.random.Generator,
) -> NDArray[np.float64]:
    """Draw outliers in place of rows; `off` is an axis orthogonal to the subspace."""
    jitter = rng.standard_normal(rows.shape)
    if kind == "scatter":
        return mean + 10.0 * jitter
    if kind == "amp":
        return _amplified(rows, rng)
    place = {"pcs": 20 * axis, "ocs": 20 * off, "both": 4 * axis + 4 * off}[kind]
    return mean + place + cluster_sd * jitter


def _amplified(
    rows: NDArray[np.float64], rng: np.random.Generator
) -> NDArray[np.float64]:
    """Multiply half of the features of each row by a large factor."""
    order = rng.random(rows.shape).argsort(axis=1)
    hit = order < rows.shape[1] // 2
    factor = rng.choice([5.0, 10.0, 20.0], size=(len(rows), 1))
    return np.where(hit, rows * factor, rows)


@dataclass(frozen=True)
class Sensors:
    """Sensor readings with faults in known rows.

    Attributes
    ----------
    X : ndarray of shape (200, 6)
    columns : tuple of str
    fault : ndarray of shape (200,)
        Fault of each row, "" for none.
    """

    X: NDArray[np.float64]
    columns: tuple[str, ...]
    fault: NDArray[np.str_]


def sensors(random_state: int = 0) -> Sensors:
    """Draw readings of a pump: two causes (load, weather) drive six columns.

    Some rows have faults: over-run (extreme load, consistent columns), a flow meter in
    another unit, a loose vibration sensor, or a bad thermocouple during over-run.

    Parameters
    ----------
    random_state : int
        Seed.

    Returns
    -------
    Sensors
        The table and the truth about it.

    Examples
    --------
    >>> from trueaxis.datasets import sensors
    >>> table = sensors()
    >>> table.X.shape, int((table.fault != "").sum())
    ((200, 6), 30)
    """
    rng = np.random.default_rng(random_state)
    columns = ("inlet", "outlet", "pressure", "flow", "power", "vibration")
    effect = np.array([[0.2, 1.0, 1.4, 2.2, 2.4, 0.8], [1.6, 1.5, 0.1, -0.2, 0.3, 0.1]])
    fault = np.full(200, "", dtype="U32")
    fault[20:28] = "over-run"
    fault[60:66] = "loose sensor"
    fault[90:100] = "flow unit wrong"
    fault[150:156] = "over-run + outlet"
    causes = rng.standard_normal((200, 2))
    causes[20:28, 0] = rng.uniform(6, 8, 8)
    causes[150:156, 0] = rng.uniform(5, 6, 6)
    X = causes @ effect + 0.25 * rng.standard_normal((200, 6))
    X += [18.0, 41.0, 12.0, 30.0, 55.0, 4.0]
    X[60:66, columns.index("vibration")] += rng.uniform(2.5, 4, 6)
    X[90:100, columns.index("flow")] /= 3.6
    X[150:156, columns.index("outlet")] -= rng.uniform(12, 16, 6)
    return Sensors(X, columns, fault)
