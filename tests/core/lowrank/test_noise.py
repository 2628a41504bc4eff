"""The level of dense noise."""

import numpy as np
import pytest
from engine_data import low_rank_and_errors

from trueaxis.methods.lowrank import noise_level

SHAPES = [(100, 100), (500, 20), (100, 200)]


@pytest.mark.slow
@pytest.mark.parametrize(("n", "D"), SHAPES)
@pytest.mark.parametrize("share", [0.0, 0.05, 0.1])
@pytest.mark.parametrize("noise", [0.1, 0.3, 1.0])
def test_noise_level_is_within_a_tenth(n, D, share, noise):
    _, X = low_rank_and_errors(n=n, D=D, share=share, noise=noise)
    assert noise_level(X) == pytest.approx(noise, rel=0.1)


@pytest.mark.slow
def test_noise_level_without_noise_is_nothing():
    L, X = low_rank_and_errors()
    assert noise_level(L) < 1e-12
    assert noise_level(X) < 1e-5
    assert noise_level(np.zeros((5, 3))) == 0
