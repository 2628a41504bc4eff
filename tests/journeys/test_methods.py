"""Someone who wants another method than DSWL, by its name."""

import json

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


def angle(model, cloud):
    """How far the axes are from those of the regular rows, in degrees."""
    return np.degrees(subspace_angles(model.components_.T, cloud.components.T)[0])


@pytest.mark.parametrize("name", METHODS)
def test_every_method_by_its_name(name, cloud):
    """All methods share one interface, and the robust ones keep the axes.

    The others are turned less than plain PCA, which follows the bad rows.
    """
    model = METHODS[name](2).fit(cloud.X)
    turned = angle(model, cloud)
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


def test_parameters_of_a_method_take_effect(cloud, tmp_path):
    """Cauchy's loss forgets far rows, Huber's only weakens them; also with `--set`."""
    r1_pca = METHODS["r1-pca"]
    models = {loss: r1_pca(2, loss=loss).fit(cloud.X) for loss in ("huber", "cauchy")}
    assert angle(models["cauchy"], cloud) < 8 < 12 < angle(models["huber"], cloud)
    path = tmp_path / "cloud.csv"
    np.savetxt(path, cloud.X, delimiter=",", header="a,b,c,d,e,f,g,h", comments="")
    options = ["--method", "r1-pca", "-k", "2", "--json"]
    huber, cauchy = (
        json.loads(run("fit", path, *options, "--set", f"loss={loss}"))["components"]
        for loss in models
    )
    expected = models["cauchy"].components_
    axes = [[*component["axis"].values()] for component in cauchy]
    np.testing.assert_allclose(axes, expected, rtol=0, atol=1e-6)
    assert huber != cauchy


def test_the_command_line_knows_the_same_methods(pumps, tmp_path):
    """`trueaxis methods` lists the names, and `--method` takes them."""
    listed = run("methods")
    assert all(name in listed for name in METHODS)
    pumps.table = pumps.healthy
    path = pumps.save(tmp_path)
    assert "drpca" in run("fit", path, "--id", "serial", "--method", "drpca").lower()
