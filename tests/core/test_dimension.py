"""Numbers of components chosen from variances."""

import numpy as np
import pytest

from trueaxis.core.problem import (
    above_chance,
    above_noise,
    above_white_noise,
    choose_dimension,
)
from trueaxis.datasets import planted, spectra

SHAPES = [(40, 226), (150, 60), (600, 100)]


def variances(X):
    return np.linalg.svd(X - X.mean(axis=0), compute_uv=False) ** 2 / len(X)


def chosen(X):
    return above_noise(variances(X), *X.shape)


def test_the_dimension_rules():
    falling = np.r_[9.0, 4.0, 2.0, np.full(17, 0.1)]
    assert above_noise(falling, 500, 20) == 3
    assert above_noise(np.ones(20), 500, 20) == 1
    assert choose_dimension("auto", falling, 500, 20) == 3
    assert choose_dimension(0.5, falling, 500, 20) == 1
    assert choose_dimension(0.75, falling, 500, 20) == 2
    assert choose_dimension(falling[:3].sum() / falling.sum(), falling, 500, 20) == 3


@pytest.mark.parametrize(
    ("n", "D", "k"), [(500, 20, 3), (100, 200, 5), (200, 500, 40), (30, 10, 2)]
)
def test_factors_in_white_noise_are_counted(n, D, k):
    for seed in range(3):
        cloud = planted("none", n=n, n_features=D, n_components=k, random_state=seed)
        X = cloud.X
        assert chosen(X) == above_white_noise(variances(X), n, D) == k


@pytest.mark.parametrize(("n", "D"), SHAPES)
@pytest.mark.parametrize("noise", [0.01, 0.05])
def test_correlated_noise_is_not_counted(n, D, noise):
    for seed in range(3):
        X = spectra(n=n, n_features=D, noise=noise, random_state=seed).X
        assert chosen(X) == 4 < above_white_noise(variances(X), n, D) - 3


@pytest.mark.parametrize(("n", "D"), SHAPES)
def test_noise_alone_has_one_component(n, D):
    X = np.random.default_rng(0).standard_normal((n, D))
    assert chosen(X) == 1
    assert above_noise(np.zeros(min(n, D)), n, D) == 1


def test_rows_without_noise_have_their_rank():
    for n, k in ((50, 3), (12, 4), (300, 7)):
        X = spectra(n=n, n_components=k, noise=0.0).X
        assert chosen(X) == k


def test_chance_is_parallel_analysis():
    rng = np.random.default_rng(0)
    for n, D in SHAPES:
        v = variances(spectra(n=n, n_features=D, noise=1.0).X)
        white = [
            variances(rng.normal(scale=np.sqrt(v.sum() / D), size=(n, D)))[0]
            for _ in range(20)
        ]
        assert abs(above_chance(v, n, D) - (v > np.median(white)).sum()) <= 1
