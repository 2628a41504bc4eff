"""Model files: what was saved is loaded, and nothing else is."""

import functools

import numpy as np
import pytest
from forged_models import forged, honest, outcome
from saved_models import (
    as_array,
    assert_same,
    models,
    npy,
    repack,
    rows,
    saved_and_loaded,
    sealed,
    unpack,
)
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

import trueaxis
from trueaxis import DSWL, ColumnScaler
from trueaxis.core.rules import PowerRule
from trueaxis.methods import METHODS, ReweightedPCA
from trueaxis.persistence import FITTED, TRAINING, _fitted_names

KINDS = [*METHODS, "reweighted", "single", "single pcp", "named", "holes", "cells"]
KINDS += ["share", "all axes", "constant", "far", "large", "wide", "scaler", "encoder"]
KINDS += ["robust", "scaled", "encoded", "chosen"]


def answers(model, X):
    """What users ask a model for, as far as it has it."""
    yield repr(model)
    yield model.transform(X)
    yield list(model.get_feature_names_out())
    if not hasattr(model, "score_samples"):
        yield model.inverse_transform(model.transform(X))
        return
    yield model.predict(X)
    yield model.score_samples(X)
    method = model[-1] if isinstance(model, Pipeline) else model
    yield method.get_params()
    yield method.cutoffs_
    yield trueaxis.diagnostics.explain(model, X).to_csv()
    yield trueaxis.diagnostics.summary(model)


@pytest.mark.parametrize("kind", KINDS)
def test_a_loaded_model_is_the_same_to_the_last_bit(kind, tmp_path):
    model, X = models()[kind]
    loaded = saved_and_loaded(model, tmp_path)
    ours, theirs = (
        [step for _, step in m.steps] if isinstance(m, Pipeline) else [m]
        for m in (model, loaded)
    )
    for left, right in zip(ours, theirs, strict=True):
        assert vars(left).keys() == vars(right).keys()
        for name, value in vars(left).items():
            assert_same(value, vars(right)[name])
    for one, two in zip(answers(model, X), answers(loaded, X), strict=True):
        assert_same(one, two)
    trueaxis.save(loaded, tmp_path / "again.npz")
    first, second = (tmp_path / name for name in ("model.npz", "again.npz"))
    assert first.read_bytes() == second.read_bytes()


@pytest.mark.parametrize("name", METHODS)
def test_the_list_of_attributes_is_that_of_fitted_models(name):
    model = models()[name][0]
    learned = vars(model).keys() - model.get_params(deep=False).keys() - {"cutoffs_"}
    known = _fitted_names(type(model))
    assert learned <= known
    assert known - learned <= {"weights_"}  # some methods have none
    assert not any(hasattr(type(model), key) for key in known)
    lists = {key for key in learned - FITTED.keys() if np.ndim(vars(model)[key])}
    assert lists <= {"history_", "tau_", "_cells"}  # which are checked by hand


@pytest.mark.parametrize("name", ["dswl", "pcp", "rrpcp"])
def test_without_training_rows_answers_are_the_same(name, tmp_path):
    model, X = models()[name]
    lean = saved_and_loaded(model, tmp_path, training=False)
    assert vars(model).keys() - vars(lean).keys() == vars(model).keys() & TRAINING
    assert_same(lean.score_samples(X), model.score_samples(X))
    assert "not known" in lean.summary()
    saved_and_loaded(lean, tmp_path)  # what is not there is not missed


# ---------------------------------------------------------------- what is not saved


def own_function(v, e, d):
    return np.exp(-e / e.mean())


class OwnRule(PowerRule):
    pass


class Own(DSWL):
    pass


@pytest.mark.parametrize("rule", [own_function, OwnRule(1.5), PowerRule(1.5)])
def test_rules_are_refused_with_a_remedy_that_works(rule, tmp_path):
    model = ReweightedPCA(2, rule=rule).fit(rows())
    with pytest.raises(TypeError, match="parameter rule cannot be saved: .* None"):
        trueaxis.save(model, tmp_path / "model")
    before = model.score_samples(rows(1))
    loaded = saved_and_loaded(model.set_params(rule=None), tmp_path)
    assert_same(loaded.score_samples(rows(1)), before)


@pytest.mark.parametrize("ending", ["npz", "onnx"])
@pytest.mark.parametrize(
    ("model", "error", "match"),
    [
        (DSWL(2), NotFittedError, "DSWL instance is not fitted"),
        (make_pipeline(ColumnScaler(), DSWL(2)), NotFittedError, "not fitted"),
        (PCA(2), TypeError, "A PCA cannot be saved: pass a fitted method"),
        (Own(2), TypeError, "An? Own cannot be saved"),
        (DSWL, TypeError, "cannot be saved"),
        (None, TypeError, "A NoneType cannot be saved"),
        (make_pipeline(StandardScaler(), DSWL(2)), TypeError, "A StandardScaler"),
    ],
)
def test_models_that_cannot_be_saved(model, error, match, ending, tmp_path):
    with pytest.raises(error, match=match):
        trueaxis.save(model, tmp_path / f"model.{ending}")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (lambda m: vars(m).update(n_features_in_=3), "components_ is .*, 3.* expected"),
        (lambda m: vars(m).update(mean_=[0.0] * 6), "mean_ is"),
        (lambda m: m.set_params(n_components="x"), "n_components='x'"),
        (lambda m: m.set_params(random_state=np.random.RandomState(0)), "random_state"),
    ],
)
def test_changed_models_are_not_saved(change, match, tmp_path):
    model = clone(models()["dswl"][0]).fit(rows())
    change(model)
    with pytest.raises((ValueError, TypeError), match=match):
        trueaxis.save(model, tmp_path / "model.npz")
    assert not list(tmp_path.iterdir())


# ---------------------------------------------------------------- what is not loaded


def refuse(data, match, tmp_path):
    path = tmp_path / "forged.npz"
    path.write_bytes(data)
    with pytest.raises(ValueError, match=match) as caught:
        trueaxis.load(path)
    assert str(caught.value).startswith(str(path))


@functools.cache
def file(kind="dswl"):
    return honest()[kind][0]


def test_damage_is_found_wherever_it_matters(tmp_path):
    data, path = file(), tmp_path / "damaged.npz"
    for at in range(0, len(data), 997):
        refuse(data[:at], r"Copy it again, or save the model again\.", tmp_path)
    for at in range(2, len(data), 97):
        path.write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
        try:
            loaded = trueaxis.load(path)
        except ValueError:
            continue
        # A bit that no reader of zip looks at, such as one of the time.
        assert_same(
            loaded.score_samples(rows()), models()["dswl"][0].score_samples(rows())
        )


@pytest.mark.parametrize(
    ("name", "change", "match"),
    [
        ("components_", np.zeros_like, "components_ cannot be"),
        ("components_", lambda a: a.astype("f2"), "components_ is"),
        ("components_", lambda a: a[:1], "components_ is"),
        ("components_", lambda a: np.nan * a, "components_ is"),
        ("components_", lambda a: a.astype(object), "instead of numbers"),
        ("components_", lambda a: a.astype(str), "instead of numbers"),
        ("mean_", lambda a: a + 1e200, "mean_ cannot be"),
        ("mean_", lambda a: a[:5], r"mean_ .*\(5,\), but \(6,\)"),
        ("explained_variance_", np.negative, r"explained_variance_ .* from 0 to"),
        ("weights_", lambda a: a[:9], "support_ is|weights_ is"),
        ("history_.change", lambda a: np.nan * a, "history_ cannot be"),
        ("_tails", np.negative, "_tails cannot be"),
        ("_tails", lambda a: a[:1], "_tails is"),
        ("_sides", lambda a: np.ones((1, 8)), "_sides cannot be"),
    ],
)
def test_forged_arrays_are_refused(name, change, match, tmp_path):
    header, arrays = unpack(file())
    changed = npy(change(as_array(arrays[name])))
    refuse(repack(header, arrays | {name: changed}), match, tmp_path)


@pytest.mark.parametrize(
    ("part", "key", "value", "match"),
    [
        ("parameters", "n_components", "x", "n_components='x'"),
        ("parameters", "n_components", 7, "n_components=7"),
        ("parameters", "level", -1, "level=-1"),
        ("parameters", "random_state", [1.5], "cannot be used to seed"),
        ("parameters", "tau", {"tuple": [float("nan")] * 3}, "tau"),
        ("parameters", "self", 1, "self"),
        ("parameters", "trust", {"code": "x"}, "unknown kind"),
        ("fitted", "offset_", 0.5, "offset_ is 0.5"),
        ("fitted", "offset_", float("nan"), "offset_ is nan"),
        ("fitted", "n_iter_", "x" * 9999, "n_iter_ is"),
        ("fitted", "noise_variance_", -1.0, "noise_variance_ is -1.0"),
        ("fitted", "trust_", [1], "trust_ is"),
        ("fitted", "tau_", {"tuple": [-1.0] * 3}, "tau_ cannot be"),
        ("fitted", "_cells", {"dict": {"x": 1}}, "_cells cannot be"),
        ("fitted", "_n_judging", 3, "_n_judging cannot be"),
        ("fitted", "feature_names_in_", {"names": ["a"] * 6}, "different strings"),
        ("fitted", "feature_names_in_", {"names": ["a"]}, "feature_names_in_ is"),
        ("fitted", "predict", 1, "DSWL lacks, or does not have, .'predict'."),
        ("fitted", "__class__", 1, "does not have"),
        ("fitted", "offset_", None, "offset_ is None"),
    ],
)
def test_forged_values_are_refused(part, key, value, match, tmp_path):
    header, arrays = unpack(file())
    header["steps"][0][part][key] = value
    refuse(repack(header, arrays), match, tmp_path)


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (lambda h: h.update(version=2), "format 1 is expected: upgrade"),
        (lambda h: h.update(format="other"), "format 1 is expected"),
        (lambda h: h["steps"][1].update({"class": "svm"}), "svm"),
        (lambda h: h["steps"][1].update({"class": ["DSWL"]}), "not an intact"),
        (lambda h: h["steps"][1].update(name="encode__it"), "encode__it"),
        (lambda h: h["steps"][0]["fitted"].pop("unit_"), "does not have, .'unit_'."),
        (lambda h: h["steps"][0]["fitted"].update(scale_="log"), "contradict"),
        (lambda h: h["steps"][0]["fitted"].update(columns_=["a"]), "contradict"),
        (lambda h: h["steps"][0]["fitted"].update(log_=["kind"]), "contradict"),
        (lambda h: h["steps"][0]["parameters"].update(scale="log"), "scale='log'"),
        (lambda h: h.update(steps=[]), "not an intact"),
    ],
)
def test_forged_pipelines_are_refused(change, match, tmp_path):
    header, arrays = unpack(file("encoded"))
    change(header)
    refuse(repack(header, arrays), match, tmp_path)


def test_bombs_are_refused_before_they_are_read(tmp_path):
    header, arrays = unpack(file())
    zeros = npy(np.zeros(10**6))
    packed = repack(header, arrays | {"mean_": zeros}, compression=8)
    assert len(packed) < 50_000
    refuse(packed, "compressed", tmp_path)
    # Stored members that claim more bytes than the file has.
    honest_file = repack(header, arrays)
    start = honest_file.rindex(b"mean_.npy") - 46
    larger = bytearray(honest_file)
    larger[start + 20 : start + 28] = b"\xff\xff\xff\x7f" * 2
    refuse(sealed(bytes(larger)), "members claim 2,147,", tmp_path)
    with pytest.warns(UserWarning, match="Duplicate name"):
        twice = repack(header, [*arrays.items(), ("mean_", zeros)])
    refuse(twice, "there twice", tmp_path)


@pytest.mark.parametrize("size", [1e8, 1e16])
def test_loadings_that_leave_no_digits_are_refused(size, tmp_path):
    header, arrays = unpack(file("holes"))
    name = "_cells.loadings"
    forged = npy(np.full_like(as_array(arrays[name]), size))
    refuse(repack(header, arrays | {name: forged}), "_cells cannot be", tmp_path)


def test_random_forgeries_are_refused_or_harmless(tmp_path):
    ends = [outcome(forged(seed), tmp_path) for seed in range(150)]
    assert 50 < ends.count("refused") < 140


def test_missing_files_and_folders(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"nothing\.npz"):
        trueaxis.load(tmp_path / "nothing.npz")
    with pytest.raises(FileNotFoundError, match=r"create it first.*none"):
        trueaxis.save(models()["pca"][0], tmp_path / "none" / "model")
