"""Data and helpers for the tests of the estimators."""

import numpy as np
import pytest
from scipy.linalg import subspace_angles

from trueaxis.datasets import planted
from trueaxis.methods import METHODS

GOOD = planted("none", n=30, n_features=4, n_components=2).X
TIGHT = {"tol": 1e-10, "max_iter": 2000}
OTHERS = {name: cls for name, cls in METHODS.items() if name != "dswl"}
EVERY = pytest.mark.parametrize("name", METHODS)


def angle(one, two):
    """Return the largest angle between two subspaces, arrays or models, in degrees."""
    A, B = (getattr(x, "components_", x) for x in (one, two))
    return float(np.degrees(subspace_angles(A.T, B.T)[0]))


def assert_same_span(one, two, tolerance=1e-4):
    assert angle(one, two) < tolerance
