"""Folds of images, error and PSNR."""

import numpy as np
import pytest

from studies.faces import measures
from studies.faces.damage import occlude
from tests.soak.studies.invented_images import invented


def test_folds_partition_the_images_and_depend_on_the_seed():
    parts = measures.parts(165, 10, 0, "yale")
    assert sorted(np.concatenate(parts)) == list(range(165))
    assert {len(part) for part in parts} == {16, 17}
    assert not np.array_equal(parts[0], measures.parts(165, 10, 1, "yale")[0])
    assert not np.array_equal(parts[0], measures.parts(165, 10, 0, "orl")[0])


def test_only_training_images_are_occluded():
    images = invented(100)
    whole = {image.tobytes() for image in images.reshape(100, -1)}
    for number in (0, 3):
        options = {"folds": 10, "seed": 0, "share": 0.2}
        fold = measures.fold_of(images, "orl", number, **options)
        assert len(fold.test) == 10 and len(fold.train) == 90
        assert fold.occluded.sum() == 18
        assert all(row.tobytes() in whole for row in fold.test)
        changed = (fold.train != fold.intact).any(axis=1)
        np.testing.assert_array_equal(changed, fold.occluded)
        # The same again, whoever asks.
        again = measures.fold_of(images, "orl", number, **options)
        np.testing.assert_array_equal(fold.train, again.train)


def test_a_block_covers_a_quarter_of_a_fifth_of_the_images():
    images = np.full((55, 32, 32), 100.5)
    damaged, bad = occlude(images, random_state=4)
    assert bad.sum() == 11 and (damaged[~bad] == 100.5).all()
    for picture in damaged[bad]:
        changed = np.argwhere(picture != 100.5)
        (top, left), (bottom, right) = changed.min(axis=0), changed.max(axis=0)
        assert (bottom - top, right - left) == (15, 15) and len(changed) == 256
        assert set(np.unique(picture[top : bottom + 1, left : right + 1])) == {0, 255}


def test_error_and_psnr_are_those_of_the_paper():
    rng = np.random.default_rng(0)
    rows, mean = rng.uniform(0, 255, (5, 9)), rng.uniform(0, 255, 9)
    P = np.linalg.qr(rng.standard_normal((9, 3)))[0]
    shown = measures.rebuilt(rows, mean, P.T)
    lengths, ratios = [], []
    for x in rows:
        off = (np.eye(9) - P @ P.T) @ (x - mean)
        lengths.append(np.sqrt(sum(off**2)))
        ratios.append(20 * np.log10(255 / np.sqrt(sum(off**2) / 9)))
    assert measures.mean_error(rows, shown) == pytest.approx(np.mean(lengths))
    np.testing.assert_allclose(measures.psnr(rows, shown), ratios)
