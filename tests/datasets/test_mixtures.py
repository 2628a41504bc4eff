"""Spectra of mixtures."""

import numpy as np
import pytest

from trueaxis.datasets import spectra


def off_the_subspace(cloud, rows):
    y = rows - cloud.mean
    return np.linalg.norm(y - y @ cloud.components.T @ cloud.components, axis=1)


def neighbors(E):
    return np.corrcoef(E[:, 1:].ravel(), E[:, :-1].ravel())[0, 1]


@pytest.mark.parametrize("k", [1, 2, 5])
def test_clean_spectra_span_the_true_subspace(k):
    cloud = spectra(n_components=k)
    assert off_the_subspace(cloud, cloud.clean).max() < 1e-9
    assert np.linalg.matrix_rank(cloud.clean - cloud.mean, tol=1e-6) == k
    np.testing.assert_allclose(
        cloud.components @ cloud.components.T, np.eye(k), atol=1e-12
    )


def test_the_noise_is_as_large_and_as_smooth_as_asked():
    cloud = spectra(n=300, noise=0.1, white=0.0)
    E = cloud.X - cloud.clean
    assert E.std() / (cloud.clean - cloud.mean).std() == pytest.approx(0.1, rel=0.2)
    assert neighbors(E) > 0.95
    wide = spectra(n=300, noise=0.1, white=3.0)
    assert neighbors(wide.X - wide.clean) < 0.2
    rough = spectra(n=300, noise=0.1, length=0.0)
    assert abs(neighbors(rough.X - rough.clean)) < 0.02


def test_only_outliers_have_a_foreign_substance():
    cloud = spectra(n=50, share=0.2)
    assert cloud.is_outlier.sum() == 10 and cloud.is_outlier[-10:].all()
    off = off_the_subspace(cloud, cloud.clean)
    assert off[~cloud.is_outlier].max() < 1e-9 < 1 < off[cloud.is_outlier].min()


def test_spectra_are_seeded():
    np.testing.assert_array_equal(spectra().X, spectra(random_state=0).X)
    assert (spectra().X != spectra(random_state=1).X).any()


def test_the_baseline_is_a_component():
    with pytest.raises(ValueError, match="n_components=0.*at least 1"):
        spectra(n_components=0)
