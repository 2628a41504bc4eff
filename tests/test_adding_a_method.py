"""The page on adding a method does what it says."""

import re
import sys
import types
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from sklearn.utils.estimator_checks import check_estimator

import trueaxis
from trueaxis.cli.main import main
from trueaxis.datasets import planted, sensors

PAGE = Path(__file__).parent.parent / "docs" / "adding-a-method.md"
METHOD, LINE = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.S)


@pytest.fixture
def welsch(monkeypatch):
    """The class of the page, as a module of its own, with its line in METHODS."""
    module = types.ModuleType("trueaxis.methods.welsch")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    exec(compile(METHOD, str(PAGE), "exec"), vars(module))
    monkeypatch.setitem(trueaxis.methods.METHODS, "welsch-pca", None)  # gone afterwards
    exec(compile(LINE, str(PAGE), "exec"), dict(vars(trueaxis.methods)))
    return module.WelschPCA


@pytest.mark.sklearn
def test_the_new_method_passes_scikit_learns_suite(welsch):
    pytest.importorskip("pandas")  # a check that is skipped warns
    check_estimator(welsch())


def test_the_new_method_withstands_outliers(welsch):
    assert trueaxis.methods.METHODS["welsch-pca"] is welsch
    cloud = planted("scatter", share=0.2)
    model = welsch(3).fit(cloud.X)
    off = np.linalg.norm(
        cloud.components - cloud.components @ model.components_.T @ model.components_
    )
    assert off < 0.1 and model.converged_ and model.c_ > 0
    assert np.median(model.weights_[cloud.is_outlier]) < 1e-6 * model.weights_.max()
    assert (np.diff(model.history_["objective"]) <= 1e-9).all()
    with pytest.raises(ValueError, match="n_init=0 is out of range"):
        welsch(3, n_init=0).fit(cloud.X)


def test_the_new_method_can_be_saved_exported_and_named(welsch, tmp_path):
    X = sensors().X
    model = welsch(2).fit(X)
    trueaxis.save(model, tmp_path / "model.npz")
    loaded = trueaxis.load(tmp_path / "model.npz")
    assert loaded.c_ == model.c_
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    trueaxis.save(model, tmp_path / "model.onnx")
    np.savetxt(tmp_path / "table.csv", X, delimiter=",")
    done = CliRunner().invoke(
        main,
        ["fit", str(tmp_path / "table.csv"), "--method", "welsch-pca", "-k", "2"],
    )
    assert done.exit_code == 0 and "WelschPCA" in done.output
