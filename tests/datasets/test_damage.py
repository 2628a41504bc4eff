"""Amplified cells and occluded images."""

import numpy as np
import pytest

from trueaxis.datasets import contaminate, occlude


@pytest.mark.parametrize("n, D", [(178, 13), (100, 8), (7, 1)])
def test_contaminate_multiplies_half_of_the_features_of_a_quarter_of_the_rows(n, D):
    X = np.random.default_rng(1).uniform(1, 2, (n, D))
    before = X.copy()
    damaged, is_outlier = contaminate(X, random_state=2)
    assert np.array_equal(X, before) and is_outlier.sum() == round(n / 4)
    assert np.array_equal(damaged[~is_outlier], X[~is_outlier])
    ratio = damaged[is_outlier] / X[is_outlier]
    hit = ratio > 1.5
    assert (hit.sum(axis=1) == max(1, D // 2)).all()
    np.testing.assert_array_equal(ratio[~hit], 1)
    for row, cells in zip(ratio, hit, strict=True):  # one factor for each row
        assert np.ptp(row[cells]) < 1e-12 and round(row[cells][0]) in (5, 10, 20)


def test_contaminate_draws_rows_features_and_factors_alike():
    damaged, is_outlier = contaminate(np.ones((40_000, 4)), random_state=0)
    ratio = damaged[is_outlier]
    np.testing.assert_allclose((ratio > 1).mean(axis=0), 0.5, atol=0.02)
    for factor in (5, 10, 20):
        assert (ratio.max(axis=1) == factor).mean() == pytest.approx(1 / 3, abs=0.02)
    halves = is_outlier.reshape(2, -1).mean(axis=1)
    np.testing.assert_allclose(halves, 0.25, atol=0.01)


def test_contaminate_obeys_its_parameters_and_seed():
    X = np.ones((100, 100))
    damaged, bad = contaminate(X, share=0.1, features=0.29, factors=[3])
    assert bad.sum() == 10 and (damaged[bad] == 3).sum() == 290
    again, _ = contaminate(X, share=0.1, features=0.29, factors=[3])
    assert np.array_equal(damaged, again)
    other, _ = contaminate(X, share=0.1, features=0.29, factors=[3], random_state=1)
    assert not np.array_equal(damaged, other)
    assert np.array_equal(contaminate(X, features=0)[0], X)
    for wrong, message in (
        ({"share": 1.5}, "share=1.5"),
        ({"features": -1}, "features=-1"),
        ({"factors": ()}, "factors is empty"),
    ):
        with pytest.raises(ValueError, match=message):
            contaminate(X, **wrong)
    with pytest.raises(ValueError, match=r"shape \(3,\)"):
        contaminate(np.ones(3))


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
