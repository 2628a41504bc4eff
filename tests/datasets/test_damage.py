"""Occluded images."""

import numpy as np
import pytest

from trueaxis.datasets import occlude


@pytest.mark.parametrize(
    "grey, white", [(np.uint8(100), 255), (100.5, 255), (0.5, 1), (np.int64(1), 255)]
)
def test_occlude_covers_a_quarter_of_a_fifth_of_the_images(grey, white):
    images = np.full((55, 32, 32), grey)
    damaged, is_outlier = occlude(images, random_state=4)
    assert (images == grey).all() and damaged.dtype == images.dtype
    assert is_outlier.sum() == 11
    assert (damaged[~is_outlier] == grey).all()
    places = set()
    for picture in damaged[is_outlier]:
        changed = np.argwhere(picture != grey)
        (top, left), (bottom, right) = changed.min(axis=0), changed.max(axis=0)
        assert (bottom - top, right - left) == (15, 15) and len(changed) == 256
        block = picture[top : bottom + 1, left : right + 1]
        assert set(np.unique(block)) == {0, white}
        assert 0.35 < (block == white).mean() < 0.65
        places.add((top, left))
    assert len(places) > 5


def test_occlude_obeys_its_parameters_and_seed():
    images = np.full((10, 20, 40), 9, dtype=np.uint8)
    damaged, bad = occlude(images, share=1, area=0.04)
    assert bad.all() and ((damaged != 9).sum(axis=(1, 2)) == 4 * 8).all()
    assert np.array_equal(damaged, occlude(images, share=1, area=0.04)[0])
    other, _ = occlude(images, share=1, area=0.04, random_state=1)
    assert not np.array_equal(damaged, other)
    whole, _ = occlude(images, share=1, area=1)
    assert (whole != 9).all()
    for wrong, message in (
        (images[0], r"reshape\(len\(X\), height, width\)"),
        (images - 9.5, "from -9.5 to -0.5|from -0.5"),
        (np.full((2, 4, 4), np.nan), "from nan"),
        (images.astype(np.int8), "int8, which cannot hold white"),
    ):
        with pytest.raises(ValueError, match=message):
            occlude(wrong)
