"""Someone who wants another method than DSWL, by its name."""

import numpy as np
import pytest
from command_line import run
from scipy.linalg import subspace_angles

from trueaxis.datasets import planted
from trueaxis.methods import METHODS

# Scattered bad rows, a tenth of all. Plain PCA is turned by more than 50 degrees.
ROBUST = {
    "dswl", "l2p-pca", "rpca-om", "rpca-di", "angle-pca", "l1-pca", "rwl-an", "t-rpca",
    "drpca", "rpca-rp", "two-way",
}  # fmt: skip


@pytest.fixture(scope="module")
def cloud():
    return planted("scatter", n=300, n_features=8, n_components=2, share=0.1)


@pytest.mark.parametrize("name", METHODS)
def test_every_method_by_its_name(name, cloud):
    """All methods share one interface, and the robust ones keep the axes.

    The others are turned less than plain PCA, which follows the bad rows.
    """
    model = METHODS[name](2).fit(cloud.X)
    turned = np.degrees(subspace_angles(model.components_.T, cloud.components.T)[0])
    if name == "pca":
        assert turned > 50
    else:
        assert turned < (12 if name in ROBUST else 45)
    np.testing.assert_allclose(
        model.components_ @ model.components_.T, np.eye(2), atol=1e-8
    )
    scores = model.transform(cloud.X)
    np.testing.assert_allclose(
        scores, (cloud.X - model.mean_) @ model.components_.T, atol=1e-6
    )
    labels = model.predict(cloud.X)
    assert (labels[cloud.is_outlier] == -1).mean() > (0.95 if name in ROBUST else 0.5)
    assert (labels[~cloud.is_outlier] == -1).mean() < 0.25


def test_the_command_line_knows_the_same_methods(pumps, tmp_path):
    """`trueaxis methods` lists the names, and `--method` takes them."""
    listed = run("methods")
    assert all(name in listed for name in METHODS)
    pumps.table = pumps.healthy
    path = pumps.save(tmp_path)
    assert "drpca" in run("fit", path, "--id", "serial", "--method", "drpca").lower()
