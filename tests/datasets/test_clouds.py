"""Clouds with planted outliers."""

import numpy as np
import pytest

from trueaxis.datasets import planted


def test_planted_kinds_are_what_they_say():
    with pytest.raises(ValueError, match="kind='odd'.*pcs"):
        planted("odd")
    inside = planted("pcs", share=0.2)
    y = inside.X - inside.mean
    off = np.linalg.norm(y - y @ inside.components.T @ inside.components, axis=1)
    assert off[inside.is_outlier].max() < off.max()
    assert planted("none").is_outlier.sum() == 0
    heavy = planted("none", df=3)
    assert np.abs(heavy.X).max() > np.abs(planted("none").X).max()
