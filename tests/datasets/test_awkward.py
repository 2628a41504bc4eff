"""Tables without outliers: valid, seeded, and of different kinds."""

import numpy as np
import pytest

from trueaxis.datasets.awkward import FRESH, TABLES

ALL = TABLES | FRESH


def test_no_kind_is_in_both_dictionaries():
    assert len(ALL) == len(TABLES) + len(FRESH)


@pytest.mark.parametrize("name", ALL)
def test_tables_are_finite_floats_without_constant_columns(name):
    X = ALL[name](np.random.default_rng(0))
    assert X.ndim == 2 and X.dtype == float
    assert np.isfinite(X).all()
    assert (X.std(axis=0) > 0).all()


@pytest.mark.parametrize("name", ALL)
def test_the_generator_determines_the_table(name):
    first, again, other = (ALL[name](np.random.default_rng(s)) for s in (1, 1, 2))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)
