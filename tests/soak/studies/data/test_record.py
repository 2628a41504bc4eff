"""Records of data sets."""

import numpy as np

from studies.data import load


def test_repeated_rows_of_umist_are_marked(home):
    data = load("umist", data_home=home)
    assert np.flatnonzero(data.is_repeat).tolist() == list(range(63, 73))
    assert len(np.unique(data.X[~data.is_repeat], axis=0)) == 565
    assert "575" in data.description and "564" in data.description
