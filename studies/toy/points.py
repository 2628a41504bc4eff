"""Generate the paper's toy data: 200 points in the plane and a few outliers."""

from __future__ import annotations

import numpy as np

from trueaxis.datasets import Planted

COVARIANCE = 0.95
ALONG = np.array([1.0, 1.0]) / np.sqrt(2)
OFF = np.array([-1.0, 1.0]) / np.sqrt(2)

# Positions of outliers: units along the true axis and off it. The regular points have
# standard deviations 1.40 along it and 0.22 off it.
PLACES = {
    "none": (0.0, 0.0),
    "pcs": (10.0, 0.0),
    "ocs": (0.0, 10.0),
    "both": (5.0, 5.0),
}


def toy(
    kind: str = "both",
    *,
    n: int = 200,
    share: float = 0.05,
    random_state: int | np.random.Generator = 0,
) -> Planted:
    """Draw the paper's toy data: correlated points in the plane, and outliers.

    The paper has 200 regular points, whose coordinates are standard normal with
    covariance 0.95 (so the true axis is the diagonal), and three kinds of outliers. It
    does not say how many outliers there are, where they are, or how much they scatter;
    a remark in its source mentions 10.

    Here the outliers are 5 % of the regular points (10). They are one group on one
    side, so that they pull the mean as well: 10 units along the axis ("pcs"), 10 off it
    ("ocs"), or 5 along and 5 off it ("both", which the paper calls intermediate in
    both). In every direction they scatter as regular points do off the axis (standard
    deviation 0.22), so that those of kind "pcs" are outliers only along the axis. Plain
    PCA finds the axis with "pcs", turns to the outliers with "ocs", and is about 25
    degrees off with "both".

    Parameters
    ----------
    kind : {"none", "pcs", "ocs", "both"}
        Outliers: none, in the principal subspace, off it, or both at once.
    n : int
        Number of regular points.
    share : float
        Outliers per regular point: share * n of them are added, rounded.
    random_state : int or numpy Generator
        Seed. The regular points of a seed are the same for all kinds.

    Returns
    -------
    Planted
        The points, outliers last, and the truth about them.

    Examples
    --------
    >>> from studies.toy.points import toy
    >>> points = toy("pcs")
    >>> points.X.shape, int(points.is_outlier.sum())
    ((210, 2), 10)
    """
    if kind not in PLACES:
        raise ValueError(
            f"kind={kind!r} is not known: choose one of {', '.join(PLACES)}."
        )
    if n < 1 or not 0 <= share <= 1:
        raise ValueError(
            f"n={n} and share={share} are not possible: n must be at least 1 and share "
            "from 0 to 1."
        )
    rng = np.random.default_rng(random_state)
    frame = np.array([ALONG, OFF])
    sd = np.sqrt([1 + COVARIANCE, 1 - COVARIANCE])
    regular = (rng.standard_normal((n, 2)) * sd) @ frame
    n_bad = 0 if kind == "none" else round(share * n)
    bad = PLACES[kind] @ frame + sd[1] * rng.standard_normal((n_bad, 2))
    is_outlier = np.arange(n + n_bad) >= n
    return Planted(np.vstack([regular, bad]), is_outlier, np.zeros(2), frame[:1])
