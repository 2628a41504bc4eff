"""ONNX graphs compute what the model does."""

import functools
import json
import os
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
from nasty import nasty
from saved_models import NAMES, rows
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from small_tables import with_sides

import trueaxis
from trueaxis import DSWL, ColumnScaler, TableEncoder
from trueaxis._persistence.model_state import CLASSES
from trueaxis._persistence.onnx_graph import IR_VERSION, OPSET
from trueaxis.base import Distances
from trueaxis.core.verdicts import cutoff_ratio
from trueaxis.datasets import planted, sensors
from trueaxis.methods import PlainPCA
from trueaxis.pipeline import split_pipeline

if os.environ.get("CI"):  # which must have them: nothing is skipped there
    import onnx
    import onnx.reference
    import onnxruntime
else:
    onnx = pytest.importorskip("onnx")
    pytest.importorskip("onnx.reference")
    onnxruntime = pytest.importorskip("onnxruntime")

OUTPUTS = [
    "scores",
    "score_distance",
    "orthogonal_distance",
    "outlier_score",
    "label",
]


def quietly(model, X):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X)


@functools.cache
def fitted(name, dtype="float64", shift=0.0):
    return quietly(CLASSES[name](2), (rows() + shift).astype(dtype))


def session_of(path):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(
        path, options, providers=["CPUExecutionProvider"]
    )


def run(model, X, tmp_path, dtype="float64"):
    trueaxis.export_onnx(model, tmp_path / "model.onnx", dtype=dtype)
    session = session_of(tmp_path / "model.onnx")
    assert [each.name for each in session.get_outputs()] == OUTPUTS
    found = dict(
        zip(OUTPUTS, session.run(None, {"X": np.asarray(X, dtype)}), strict=True)
    )
    k, n = split_pipeline(model).model.n_components_, len(X)
    for name, values in found.items():
        assert values.shape == ((n, k) if name == "scores" else (n,))
        assert values.dtype == (np.int64 if name == "label" else dtype)
    return found


def expected(model, X):
    scaler, method = split_pipeline(model)
    found = method.distances(X if scaler is None else scaler.transform(X))
    return {
        "scores": model.transform(X),
        "score_distance": found.score,
        "orthogonal_distance": found.orthogonal,
        "outlier_score": -largest_ratio(method, found),
        "label": model.predict(X),
    }


def largest_ratio(method, distances):
    pairs = zip(distances, method.cutoffs_, strict=True)
    return np.max([cutoff_ratio(*pair) for pair in pairs], axis=0)


def assert_agree(model, X, tmp_path, dtype="float64", rtol=1e-6):
    X = np.asarray(X).astype(dtype).astype(float)  # what the graph gets
    got, wanted = run(model, X, tmp_path, dtype), expected(model, X)
    for name in OUTPUTS[:-1]:
        # Scores that cancel have the rounding of the numbers that do.
        size = np.abs(wanted[name][np.isfinite(wanted[name])]).max(initial=0.0)
        floor = 1e-6 * rtol * size if name != "scores" else rtol * size
        np.testing.assert_allclose(got[name], wanted[name], rtol, floor, err_msg=name)
    np.testing.assert_array_equal(got["label"], wanted["label"])
    return got


# ---------------------------------------------------------------- the same answers


@pytest.mark.slow
@pytest.mark.parametrize("shift", [0.0, 1e6], ids=["near", "far"])
@pytest.mark.parametrize("name", CLASSES)
def test_every_method_agrees_on_old_and_new_rows(name, shift, tmp_path):
    model = fitted(name, shift=shift)
    X = np.vstack([rows(), rows(seed=1, n=300)]) + shift
    labels = assert_agree(model, X, tmp_path)["label"]
    assert {*labels} == {1, -1}


@pytest.mark.slow
@pytest.mark.parametrize("name", CLASSES)
def test_models_of_float32_rows_agree(name, tmp_path):
    model, X = fitted(name, "float32"), rows(seed=1)
    got = run(model, X, tmp_path)
    # Axes that were rounded are not quite orthonormal.
    y, axes = (X - model.mean_).T, model.components_.T.astype(float)
    true = np.linalg.norm(y - axes @ np.linalg.lstsq(axes, y, rcond=None)[0], axis=0)
    np.testing.assert_allclose(got["orthogonal_distance"], true, 1e-9)
    assert_agree(model, X, tmp_path, rtol=1e-6)
    # Of float32 rows Python works in float32, the graph in float64.
    got, X = run(model, rows(), tmp_path), rows().astype("float32")
    np.testing.assert_array_equal(got["label"], model.predict(X))
    score = -largest_ratio(model, model.distances(X))
    np.testing.assert_allclose(got["outlier_score"], score, 1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("how", ["robust", "standard"])
@pytest.mark.parametrize("name", ["dswl", "pca", "reweighted-pca", "rrpcp"])
def test_a_pipeline_with_a_scaler_agrees(name, how, tmp_path):
    X = sensors().X[:150] * [1, 1, 1e6, 1e-3, 1, 1] + [0, 1e6, 0, 0, 0, 0]
    model = quietly(make_pipeline(ColumnScaler(how), CLASSES[name](2)), X)
    got = assert_agree(model, X, tmp_path)
    alone = make_pipeline(model[-1])
    again = run(alone, model[0].transform(X), tmp_path)
    np.testing.assert_array_equal(again["label"], got["label"])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("what", "X", "k"), [*nasty()], ids=[case[0] for case in nasty()]
)
def test_nasty_rows_agree(what, X, k, tmp_path):
    for cls in (DSWL, PlainPCA):
        if cls is PlainPCA and ("1e300" in what or "1e100" in what):
            continue  # refused by fit, but not by DSWL
        model = quietly(cls(k), X)
        got, wanted = run(model, X, tmp_path), expected(model, X)
        np.testing.assert_array_equal(got["label"], wanted["label"])
        # A distance of rounding is only as exact as rounding is small.
        room = 1e-13 * np.abs(X[np.abs(X).max(axis=1) < 1e299]).max()
        for name in ("scores", "orthogonal_distance"):
            np.testing.assert_allclose(got[name], wanted[name], 1e-6, room)
        finite = np.isfinite(wanted["outlier_score"])
        np.testing.assert_array_equal(np.isfinite(got["outlier_score"]), finite)


@pytest.mark.slow
@pytest.mark.parametrize("k", [1, 3, 6])
def test_one_some_and_all_components(k, tmp_path):
    model = DSWL(k).fit(rows())
    got = run(model, rows(), tmp_path)
    wanted = expected(model, rows())
    np.testing.assert_allclose(got["score_distance"], wanted["score_distance"], 1e-9)
    np.testing.assert_allclose(got["outlier_score"], wanted["outlier_score"], 1e-9)
    np.testing.assert_array_equal(got["label"], wanted["label"])


@pytest.mark.slow
def test_more_columns_than_rows(tmp_path):
    X = planted("ocs", n=40, n_features=200, n_components=3, share=0.2).X
    assert_agree(DSWL(3).fit(X), X, tmp_path)


@pytest.mark.slow
def test_no_row_and_one_row(tmp_path):
    model = fitted("dswl")
    run(model, np.empty((0, 6)), tmp_path)
    assert_agree(model, rows()[:1], tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("shift", [0.0, 1e6], ids=["near", "far"])
@pytest.mark.parametrize("name", ["dswl", "pca"])
def test_rows_of_groups_apart_are_outliers(name, shift, dtype, tmp_path):
    X = (rows(n=300) + shift).astype(dtype).astype(float)
    model = with_sides(quietly(CLASSES[name](2), X), X)
    center, edge = np.quantile(X[:, 0], [0.5, 0.1])
    other = [-1.0, *np.zeros(5), -center, 0.01 - edge]  # no row on the edge
    model._sides = np.vstack([model._sides, other])
    got = run(model, X, tmp_path, dtype)
    np.testing.assert_array_equal(got["label"], model.predict(X))
    assert ((got["label"] == -1) & (got["outlier_score"] > -1)).sum() > 20
    # Another level moves the boundary of the group, too.
    model._set_line(np.log10(0.2))
    np.testing.assert_array_equal(run(model, X, tmp_path)["label"], model.predict(X))
    X = np.tile(X[:1], (3, 1))
    X[0, 2], X[1], X[2, ::2] = np.nan, 1e308, -1e308
    assert run(model, X, tmp_path)["label"].tolist() == [-1, -1, -1]


@pytest.mark.slow
@pytest.mark.parametrize("how", ["robust", "standard"])
def test_groups_apart_behind_a_scaler(how, tmp_path):
    X = rows(n=300) * [1, 1, 1e3, 1e-3, 1, 1] + 1e4
    model = make_pipeline(ColumnScaler(how), PlainPCA(2)).fit(X)
    with_sides(model[-1], model[0].transform(X))
    assert_agree(model, X, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("settings", [{"level": 0.3}, {"contamination": 0.4}], ids=str)
def test_other_lines_agree(settings, tmp_path):
    model = DSWL(2, **settings).fit(rows())
    got = assert_agree(model, np.vstack([rows(), rows(seed=1, n=300)]), tmp_path)
    assert (got["label"][:60] == np.where(model.support_, 1, -1)).all()


def test_cutoffs_of_zero_leave_no_room(tmp_path):
    model = DSWL(2).fit(np.full((20, 4), 3.7))
    model.cutoffs_ = Distances(0.0, 0.0)
    got = run(model, [[3.7] * 4, [3.7, 3.7, 3.7, 3.8]], tmp_path)
    np.testing.assert_array_equal(got["outlier_score"], [0.0, -np.inf])
    np.testing.assert_array_equal(got["label"], [1, -1])


def test_rows_without_measure_are_outliers_never_regular(tmp_path):
    X = np.tile(rows()[:1], (6, 1))
    X[0, 2], X[1, 3], X[2], X[3], X[4, ::2] = np.nan, np.inf, 1e200, 1e308, -1e308
    got = run(fitted("dswl"), X, tmp_path)
    np.testing.assert_array_equal(got["label"], [-1, -1, -1, -1, -1, 1])
    for name in OUTPUTS[:-1]:
        assert np.isnan(got[name][0]).all()
    assert np.isinf(got["orthogonal_distance"][1:5]).all()
    for dtype in ("float64", "float32"):
        with np.errstate(over="ignore"):
            assert run(fitted("dswl"), X, tmp_path, dtype)["label"].tolist()[5] == 1


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_another_runtime_gives_the_same(dtype, tmp_path):
    X = rows(seed=1).astype(dtype)
    X[3, 2] = np.nan
    model = make_pipeline(ColumnScaler(), DSWL(2)).fit(rows())
    wanted = run(model, X, tmp_path, dtype)
    evaluator = onnx.reference.ReferenceEvaluator(onnx.load(tmp_path / "model.onnx"))
    for name, got in zip(OUTPUTS, evaluator.run(None, {"X": X}), strict=True):
        assert got.dtype == wanted[name].dtype
        rtol = 1e-12 if dtype == "float64" else 2e-5
        np.testing.assert_allclose(got, wanted[name], rtol, rtol, err_msg=name)


# ---------------------------------------------------------------- float32


@pytest.mark.parametrize("shift", [0.0, 1e6], ids=["near", "far"])
@pytest.mark.parametrize("name", ["dswl", "pca", "l1-pca"])
def test_float32_loses_no_more_than_its_rows_have_lost(name, shift, tmp_path):
    X = rows(seed=1, n=300) + shift
    assert_agree(fitted(name, shift=shift), X, tmp_path, "float32", rtol=2e-5)


def test_float32_behind_a_scaler(tmp_path):
    X = rows() * [1, 1, 1e3, 1e-3, 1, 1] + 1e4
    model = make_pipeline(ColumnScaler(), DSWL(2)).fit(X)
    assert_agree(model, X, tmp_path, "float32", rtol=2e-5)


@pytest.mark.slow
def test_float32_is_refused_where_it_would_call_all_rows_outliers(tmp_path):
    path = tmp_path / "model"
    with pytest.raises(
        ValueError, match=r"orthogonal distance is \d\.\de-\d+.*float64"
    ):
        trueaxis.export_onnx(DSWL(6).fit(rows()), path, dtype="float32")
    flat = np.column_stack([rows(), rows()[:, 0] * 1e-9])
    with pytest.raises(ValueError, match="without variance"):
        trueaxis.export_onnx(PlainPCA(7).fit(flat), path, dtype="float32")
    with pytest.raises(ValueError, match=r"variance of the rows is .*e\+8.*unit"):
        trueaxis.export_onnx(
            PlainPCA(2).fit(rows() * 1e40), tmp_path / "model", dtype="float32"
        )
    with pytest.raises(ValueError, match=r"1e\+60 in mean is beyond what float32"):
        trueaxis.export_onnx(
            DSWL(2).fit(np.full((9, 3), 1e60)), tmp_path / "model", dtype="float32"
        )
    scaled = make_pipeline(ColumnScaler(), DSWL(2)).fit(rows() * 1e-60)
    with pytest.raises(ValueError, match=r"e-\d+ in scaler_unit is beyond"):
        trueaxis.export_onnx(scaled, path, dtype="float32")
    assert not [*tmp_path.iterdir()]
    # A fit on such rows knows their rounding.
    model = DSWL(6).fit(rows().astype("float32"))
    got = run(model, rows(), tmp_path, "float32")
    np.testing.assert_array_equal(got["label"], model.predict(rows().astype("float32")))
    same = DSWL(2).fit(np.full((20, 4), 0.5))
    got = run(same, np.full((2, 4), 0.5), tmp_path, "float32")
    np.testing.assert_array_equal(got["label"], [1, 1])


# ---------------------------------------------------------------- the file


@pytest.mark.slow
def test_what_the_file_says_about_itself(tmp_path):
    frame = pd.DataFrame(rows(), columns=NAMES)
    model = make_pipeline(ColumnScaler(), DSWL(2)).fit(frame)
    trueaxis.export_onnx(model, tmp_path / "model")
    made = onnx.load(tmp_path / "model")
    onnx.checker.check_model(made, full_check=True)
    assert (made.producer_name, made.producer_version) == (
        "trueaxis",
        trueaxis.__version__,
    )
    assert made.ir_version == IR_VERSION
    assert [each.version for each in made.opset_import] == [OPSET]
    assert "orthogonal_distance" in made.doc_string and "DSWL" in made.doc_string
    facts = {each.key: each.value for each in made.metadata_props}
    assert json.loads(facts["feature_names"]) == NAMES
    assert (facts["class"], facts["scaler"]) == ("DSWL", "robust")
    assert (facts["columns"], facts["components"]) == ("6", "2")
    assert facts["trueaxis_version"] == trueaxis.__version__
    assert float(facts["score_cutoff"]) == model[-1].cutoffs_.score
    assert float(facts["orthogonal_cutoff"]) == model[-1].cutoffs_.orthogonal
    assert float(facts["level"]) == pytest.approx(0.025) and facts["groups"] == "0"
    assert "outlier_score below -1" in made.doc_string
    found = session_of(tmp_path / "model").get_modelmeta()
    assert found.custom_metadata_map == facts
    trueaxis.export_onnx(fitted("pca"), tmp_path / "model")
    facts = session_of(tmp_path / "model").get_modelmeta().custom_metadata_map
    assert json.loads(facts["feature_names"]) is None
    assert facts["scaler"] == "none"


def test_the_same_model_gives_the_same_bytes(tmp_path):
    for name in ("one", "two"):
        trueaxis.export_onnx(fitted("dswl"), str(tmp_path / name))
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_an_export_that_fails_keeps_the_old_file(step, tmp_path, monkeypatch):
    path = tmp_path / "model"
    trueaxis.export_onnx(fitted("pca"), path)
    old = path.read_bytes()

    def failing(*_):
        raise OSError("disk gone")

    monkeypatch.setattr(os, step, failing)
    for target in (path, tmp_path / "new"):
        with pytest.raises(OSError, match="disk gone"):
            trueaxis.export_onnx(fitted("dswl"), target)
    assert [each.name for each in tmp_path.iterdir()] == ["model"]
    assert path.read_bytes() == old


def test_the_model_is_not_changed(tmp_path):
    model = fitted("dswl")
    before = {key: repr(value) for key, value in vars(model).items()}
    trueaxis.export_onnx(model, tmp_path / "model")
    assert {key: repr(value) for key, value in vars(model).items()} == before


# ---------------------------------------------------------------- refusals


class Own(PlainPCA):
    def transform(self, X):
        return 2 * super().transform(X)


@pytest.mark.parametrize(
    ("model", "error", "match"),
    [
        (DSWL(2), NotFittedError, "DSWL instance is not fitted"),
        (make_pipeline(ColumnScaler(), DSWL(2)), NotFittedError, "not fitted"),
        (PCA(2), TypeError, r"is a PCA.*trueaxis\.METHODS"),
        (Own(2), TypeError, "is a Own.*ReweightedPCA"),
        (None, TypeError, "is a NoneType"),
        (ColumnScaler(), TypeError, "is a ColumnScaler"),
        (make_pipeline(StandardScaler(), DSWL(2)), TypeError, "StandardScaler, DSWL"),
        (make_pipeline(ColumnScaler(), PCA(2)), TypeError, "is a PCA"),
        (
            make_pipeline(ColumnScaler(), ColumnScaler(), DSWL(2)),
            TypeError,
            "only a ColumnScaler before a method",
        ),
    ],
)
def test_other_models_are_refused(model, error, match, tmp_path):
    with pytest.raises(error, match=match):
        trueaxis.export_onnx(model, tmp_path / "model")
    assert not [*tmp_path.iterdir()]


def test_parts_of_different_fits_are_refused(tmp_path):
    scaler = ColumnScaler().fit(rows()[:, :4])
    with pytest.raises(ValueError, match="on 4 columns, but the DSWL on 6"):
        trueaxis.export_onnx(make_pipeline(scaler, fitted("dswl")), tmp_path / "model")
    with pytest.raises(NotFittedError, match="ColumnScaler instance is not fitted"):
        trueaxis.export_onnx(
            make_pipeline(ColumnScaler(), fitted("dswl")), tmp_path / "model"
        )


def test_other_precisions_and_places_are_refused(tmp_path):
    with pytest.raises(ValueError, match="dtype='float16'"):
        trueaxis.export_onnx(fitted("pca"), tmp_path / "model", dtype="float16")
    with pytest.raises(FileNotFoundError, match="create it first"):
        trueaxis.export_onnx(fitted("pca"), tmp_path / "none" / "model")
    with pytest.raises(ValueError, match="name of a file"):
        trueaxis.export_onnx(fitted("pca"), tmp_path)


def test_without_the_package_the_error_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ImportError, match=r"pip install 'trueaxis\[onnx\]'"):
        trueaxis.export_onnx(fitted("pca"), tmp_path / "model")
    assert not [*tmp_path.iterdir()]


@pytest.mark.slow
def test_the_package_is_imported_only_when_needed():
    code = "import sys, trueaxis; trueaxis.export_onnx; print('onnx' in sys.modules)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (out.stdout, out.stderr) == ("False\n", "")


@pytest.mark.parametrize("scale", ["robust", "none"])
def test_encoders_that_only_choose_and_scale(scale, tmp_path):
    frame = pd.DataFrame(rows(), columns=NAMES).assign(site="x")
    encoder = TableEncoder(drop=["b"], scale=scale)
    model = make_pipeline(encoder, DSWL(2)).fit(frame)
    trueaxis.export_onnx(model, tmp_path / "model.onnx")
    session = session_of(tmp_path / "model.onnx")
    metadata = session.get_modelmeta().custom_metadata_map
    used = json.loads(metadata["feature_names"])
    assert used == [name for name in NAMES if name != "b"]
    assert metadata["scaler"] == scale
    (scores, label) = session.run(["scores", "label"], {"X": frame[used].to_numpy()})
    np.testing.assert_allclose(scores, model.transform(frame), rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(label, model.predict(frame))


def test_categories_and_logarithms_are_refused(tmp_path):
    frame = pd.DataFrame(rows(), columns=NAMES)
    frame = frame.assign(site=np.resize([*"xy"], len(frame)), price=np.exp(frame["a"]))
    encoder = TableEncoder(categories=True, log=["price"])
    model = make_pipeline(encoder, DSWL(2)).fit(frame)
    with pytest.raises(ValueError, match=r"turns 'site', 'price' into .* alone"):
        trueaxis.export_onnx(model, tmp_path / "model.onnx")
    trueaxis.export_onnx(model[-1], tmp_path / "model.onnx")  # the remedy
