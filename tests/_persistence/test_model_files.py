"""Saved and loaded models are the same to the last bit."""

import io
import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from saved_models import NAMES, assert_same, fitted, rows, saved_and_loaded
from sklearn.base import clone
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.utils.validation import check_is_fitted

import trueaxis
from trueaxis import DSWL, ColumnScaler
from trueaxis._persistence.model_state import CLASSES, TRAINING
from trueaxis.diagnostics import contributions, diagnose, effect, reasons
from trueaxis.methods import PlainPCA


def answers(model, X):
    yield model.transform(X)
    yield model.inverse_transform(model.transform(X))
    yield model.predict(X)
    yield model.score_samples(X)
    yield model.distances(X)
    yield model.get_covariance()
    yield list(model.get_feature_names_out())
    yield diagnose(model, X)
    yield contributions(model, X)
    yield effect(model, X)
    yield model.outliers(X).to_csv()
    if isinstance(model, DSWL):
        yield reasons(model, X)
    yield repr(model)
    yield model.get_params()


@pytest.mark.slow
@pytest.mark.parametrize("named", [False, True], ids=["plain", "named"])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", CLASSES)
def test_a_loaded_model_is_the_same_to_the_last_bit(name, dtype, named, tmp_path):
    model = fitted(name, dtype, named)
    loaded = saved_and_loaded(model, tmp_path)
    check_is_fitted(loaded)
    left, right = vars(model), vars(loaded)
    assert left.keys() == right.keys()
    for key in left:
        assert_same(left[key], right[key])
    new = rows(seed=1).astype(dtype)
    new = pd.DataFrame(new, columns=NAMES) if named else new
    for one, two in zip(answers(model, new), answers(loaded, new), strict=True):
        assert_same(one, two)
    assert loaded.components_.flags.writeable


@pytest.mark.slow
@pytest.mark.parametrize("name", CLASSES)
def test_without_training_rows_answers_are_the_same(name, tmp_path):
    model = fitted(name)
    lean = saved_and_loaded(model, tmp_path, training=False)
    assert not vars(lean).keys() & TRAINING
    assert vars(model).keys() - vars(lean).keys() == vars(model).keys() & TRAINING
    for one, two in zip(answers(model, rows(1)), answers(lean, rows(1)), strict=True):
        assert_same(one, two)
    again = saved_and_loaded(lean, tmp_path)  # what is not there is not missed
    assert vars(again).keys() == vars(lean).keys()


def test_a_file_without_training_rows_does_not_grow_with_them(tmp_path):
    sizes = []
    for n in (60, 600):
        model = PlainPCA(2).fit(rows(n=n))
        trueaxis.save(model, tmp_path / "model", training=False)
        sizes.append((tmp_path / "model").stat().st_size)
    assert abs(sizes[1] - sizes[0]) < 100


def test_the_memory_order_is_kept(tmp_path):
    # Products of matrices may round otherwise in the other order.
    model = clone(fitted("dswl")).fit(rows())
    model.components_ = np.asfortranarray(model.components_)
    assert saved_and_loaded(model, tmp_path).components_.flags["F_CONTIGUOUS"]


def test_the_same_model_gives_the_same_file(tmp_path):
    for name in "ab":
        trueaxis.save(fitted("dswl"), tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_others_can_read_the_file(tmp_path):
    trueaxis.save(fitted("dswl"), tmp_path / "model.npz")
    with np.load(tmp_path / "model.npz", allow_pickle=False) as stored:
        assert_same(stored["components_"], fitted("dswl").components_)
        header = json.loads(stored["header.json"])
    assert header["class"] == "dswl"
    assert header["library_version"] == trueaxis.__version__


def test_set_output_is_not_part_of_a_model(tmp_path):
    model = clone(fitted("pca")).fit(rows()).set_output(transform="pandas")
    assert isinstance(saved_and_loaded(model, tmp_path).transform(rows()), np.ndarray)


def test_the_path_is_used_as_given(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for path in ("model", Path("model.npz"), str(tmp_path / "model.tar"), "x" * 255):
        trueaxis.save(fitted("dswl"), path)
        assert Path(path).is_file()
        assert_same(trueaxis.load(path).components_, fitted("dswl").components_)
    assert len(list(tmp_path.iterdir())) == 4


def test_saving_replaces_and_keeps_mode_and_links(tmp_path):
    path, link = tmp_path / "model", tmp_path / "latest"
    trueaxis.save(fitted("pca"), path)
    usual = tmp_path / "usual"
    usual.touch()
    assert path.stat().st_mode == usual.stat().st_mode
    if os.name == "posix":
        path.chmod(0o640)
        link.symlink_to(path)
        trueaxis.save(fitted("dswl"), link)
        assert link.is_symlink() and stat.S_IMODE(path.stat().st_mode) == 0o640
    else:
        trueaxis.save(fitted("dswl"), path)
    assert isinstance(trueaxis.load(path), DSWL)


def test_missing_files_and_folders(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"nothing\.npz") as caught:
        trueaxis.load(tmp_path / "nothing.npz")
    assert caught.value.filename == str(tmp_path / "nothing.npz")
    with pytest.raises(FileNotFoundError, match=r"create it first.*none"):
        trueaxis.save(fitted("pca"), tmp_path / "none" / "model")
    with pytest.raises(ValueError, match="name of a file"):
        trueaxis.save(fitted("pca"), tmp_path)
    with pytest.raises(TypeError):
        trueaxis.load(io.BytesIO())


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_save_that_fails_at_the_end_keeps_the_old_file(step, tmp_path, monkeypatch):
    path = tmp_path / "model"
    trueaxis.save(fitted("pca"), path)
    old = path.read_bytes()

    def failing(*_):
        raise OSError("disk gone")

    monkeypatch.setattr(os, step, failing)
    with pytest.raises(OSError, match="disk gone"):
        trueaxis.save(fitted("dswl"), path)
    assert [each.name for each in tmp_path.iterdir()] == ["model"]
    assert path.read_bytes() == old


@pytest.mark.soak
def test_a_full_disk_leaves_the_old_file(tmp_path):
    pytest.importorskip("resource")
    code = """
import resource, sys
import numpy as np
import trueaxis
X = np.random.default_rng(0).standard_normal((400, 4))
model, path = trueaxis.methods.PlainPCA(2).fit(X), sys.argv[1]
trueaxis.save(model, path, training=False)
resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000))
try:
    trueaxis.save(model, path)
except OSError as error:
    print(type(error).__name__, error.errno)
assert not hasattr(trueaxis.load(path), "weights_")
"""
    run = [sys.executable, "-c", code, str(tmp_path / "model")]
    out = subprocess.run(run, check=True, capture_output=True, text=True).stdout
    assert out.startswith("OSError 27")
    assert [each.name for each in tmp_path.iterdir()] == ["model"]


def test_a_scaler_before_the_method_is_saved_with_it(scaled):
    pipeline, X, path = scaled
    loaded = trueaxis.load(path)
    assert str(loaded) == str(pipeline)
    for ask in ("transform", "predict", "score_samples"):
        assert np.array_equal(getattr(loaded, ask)(X), getattr(pipeline, ask)(X))
    trueaxis.save(pipeline, path.with_name("again.npz"))
    assert path.with_name("again.npz").read_bytes() == path.read_bytes()


def test_the_names_of_scaled_columns_come_back(tmp_path):
    frame = pd.DataFrame(rows()).add_prefix("c")
    pipeline = make_pipeline(ColumnScaler("standard"), DSWL(2)).fit(frame)
    trueaxis.save(pipeline, tmp_path / "named.npz")
    loaded = trueaxis.load(tmp_path / "named.npz")
    assert list(loaded.feature_names_in_) == list(frame.columns)
    assert np.array_equal(loaded.predict(frame), pipeline.predict(frame))  # no warning
    with pytest.raises(ValueError, match="feature names should match"):
        loaded.predict(frame[frame.columns[::-1]])


def test_steps_come_back_under_their_usual_names(tmp_path):
    pipeline = Pipeline([("units", ColumnScaler()), ("robust", DSWL(2))]).fit(rows())
    trueaxis.save(pipeline, tmp_path / "model.npz")
    loaded = trueaxis.load(tmp_path / "model.npz")
    assert [*loaded.named_steps] == ["columnscaler", "dswl"]
