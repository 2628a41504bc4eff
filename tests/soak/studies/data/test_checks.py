"""Checks of data sets: classes, sizes and the orientation of images."""

import numpy as np
import pytest

from studies.data import load
from studies.data.checks import rename_classes, resize, upright_images
from studies.data.registry import facts_of


def test_classes_are_renamed_only_if_they_are_unambiguous():
    assert rename_classes(["b", "a", "a"], {"x": 2, "y": 1}) == ["y", "x", "x"]
    assert rename_classes(["0", "1"], {"1": 1, "2": 1}) == ["1", "2"]
    assert rename_classes(["10", "9"], {"1": 1, "2": 1}) == ["2", "1"]
    assert rename_classes(["a", "b"], {"x": 1, "y": 1}) is None
    assert rename_classes(["a", "a"], {"x": 1, "y": 1}) is None


@pytest.mark.slow
def test_resizing_averages_over_areas():
    images = np.random.default_rng(0).random((3, 112, 92))
    small = resize(images, (32, 32))
    np.testing.assert_allclose(small.mean(axis=(1, 2)), images.mean(axis=(1, 2)))
    # 112 rows are 3.5 per new row: two of these are seven whole rows.
    fine = images.repeat(32, axis=1).repeat(32, axis=2)
    exact = fine.reshape(3, 32, 112, 32, 92).mean(axis=(2, 4))
    np.testing.assert_allclose(small, exact)


@pytest.mark.parametrize("by_columns", [False, True])
def test_faces_of_another_shape_are_put_upright(by_columns, home):
    known = load("umist", data_home=home)
    rows, columns = np.arange(112) * 32 // 112, np.arange(92) * 32 // 92
    large = known.images[:, rows][:, :, columns]
    flat = (large.transpose(0, 2, 1) if by_columns else large).reshape(575, -1)
    images = upright_images(flat, (112, 92), facts_of("umist"), "here")
    assert np.corrcoef(images.ravel(), known.X.ravel())[0, 1] > 0.98
