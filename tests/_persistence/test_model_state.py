"""Parameters and attributes of models; what is refused on the way out and back."""

import numpy as np
import pytest
from saved_models import (
    assert_refused,
    assert_same,
    fitted,
    forge,
    rows,
    saved_and_loaded,
)
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import trueaxis
from trueaxis import (
    DSWL,
    METHODS,
    PCP,
    R1PCA,
    RWLAN,
    ColumnScaler,
    PlainPCA,
    ReweightedPCA,
)
from trueaxis._engine.rules import base as rules
from trueaxis._engine.rules.losses import HuberRule, PowerRule
from trueaxis._persistence import archive as archives
from trueaxis._persistence.model_state import (
    CLASSES,
    known_attributes,
    rename_parameters,
)


@pytest.mark.parametrize("name", CLASSES)
def test_the_list_of_attributes_is_that_of_fitted_models(name):
    model = fitted(name)
    learnt = vars(model).keys() - model.get_params(deep=False).keys()
    known = known_attributes(type(model))
    assert learnt <= known
    assert known - learnt <= {"weights_"}  # some methods have none
    assert not any(hasattr(type(model), key) for key in known)


def test_every_method_has_a_file_name():
    assert CLASSES.keys() == {*METHODS, "reweighted-pca"}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    "model",
    [
        DSWL(np.int64(2), tau=(0.5, 0.25, float("inf")), random_state=None),
        DSWL(0.9, tau=[0.5, 0.25, 1], reweight=np.bool_(True), trust=np.float32(0.5)),
        DSWL(None, tau=np.array([0.5, 0.25, 1.0]), max_iter=50),
        R1PCA(2, loss="l21", c=2),  # c_ is None
        R1PCA(2, c=np.inf),
        RWLAN(2, gamma=np.inf),
        PCP(2, balance=np.inf, center="median"),
        ReweightedPCA(2, rule=PowerRule(1.5), center="mean"),
        ReweightedPCA(2, rule=HuberRule()),
    ],
    ids=repr,
)
def test_parameters_come_back_in_type_and_value(model, tmp_path):
    model.fit(rows())
    loaded = saved_and_loaded(model, tmp_path)
    assert_same(loaded.get_params(deep=False), model.get_params(deep=False))
    assert repr(loaded) == repr(model)
    assert_same(
        {k: v for k, v in vars(loaded).items() if k.endswith("_")},
        {k: vars(model)[k] for k in vars(loaded) if k.endswith("_")},
    )
    # It can be fitted again, and finds the same.
    if model.random_state is not None:
        refit = clone(loaded).fit(rows())
        assert_same(refit.components_, model.components_)


def own_function(v, e, d):
    return np.exp(-e / e.mean())


class OwnRule(PowerRule):
    pass


@pytest.mark.parametrize(
    "rule", [own_function, OwnRule(1.5), rules.FunctionRule(own_function)]
)
def test_user_defined_rules_are_refused(rule, tmp_path):
    model = ReweightedPCA(2, rule=rule).fit(rows())
    with pytest.raises(TypeError, match=r"rule cannot be saved.*set_params\(rule=None"):
        trueaxis.save(model, tmp_path / "model")
    assert not list(tmp_path.iterdir())
    # The remedy works, and changes no answer.
    before = model.score_samples(rows(1))
    loaded = saved_and_loaded(model.set_params(rule=None), tmp_path)
    assert_same(loaded.score_samples(rows(1)), before)


def test_generators_are_refused(tmp_path):
    model = PlainPCA(2, random_state=np.random.RandomState(0)).fit(rows())
    with pytest.raises(TypeError, match=r"random_state cannot.*random_state=0"):
        trueaxis.save(model, tmp_path / "model")


def test_models_that_cannot_be_saved(tmp_path):
    class Own(DSWL):
        pass

    path = tmp_path / "model"
    with pytest.raises(NotFittedError):
        trueaxis.save(DSWL(), path)
    half = DSWL(99)
    with pytest.raises(ValueError, match="n_components=99"):
        half.fit(rows())
    with pytest.raises(NotFittedError):
        trueaxis.save(half, path)
    for other in (Own(2).fit(rows()), make_pipeline(Own(2).fit(rows())), DSWL, None):
        with pytest.raises(TypeError, match=r"trueaxis\.METHODS"):
            trueaxis.save(other, path)
    again = DSWL(4).fit(rows())
    again.n_features_in_ = 3
    with pytest.raises(
        ValueError, match=r"not come from one fit: components_.*fit the model again"
    ):
        trueaxis.save(again, path)
    noted = clone(fitted("dswl")).fit(rows())
    noted.remark_ = "mine"
    with pytest.raises(ValueError, match="remark_.*delete"):
        trueaxis.save(noted, path)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["__class__", "transform", "fit", "_sub", "q_", "tau"])
def test_names_that_a_model_does_not_have_are_never_set(path, name):
    forge(path, lambda header: header["attributes"].update({name: 1}))
    assert_refused(path, f"attributes that DSWL .* such as '{name}'")
    forge(path, lambda header: header["attributes"].pop(name))
    forge(path, arrays={name: np.zeros(3)})
    assert_refused(path, f"attributes that DSWL .* such as '{name}'")


@pytest.mark.parametrize(
    ("key", "value", "match"),
    [
        ("class", "svm", "class 'svm'.*upgrade"),
        ("class", ["dswl"], "class"),
        ("class", "SubspaceEstimator", "class"),
        ("parameters", None, "no parameters"),
        ("parameters", {"self": 1}, "such as 'self'"),
        ("parameters", {"tau": {"code": "x"}}, "of an unknown kind"),
        ("attributes", {}, "is missing"),
        ("attributes", 3, "no attributes"),
        ("arrays", [], "no arrays"),
        ("feature_names", ["a"], "feature names are not 6 strings"),
        ("feature_names", "abcdef", "feature names are not 6 strings"),
        ("feature_names", [1] * 6, "feature names are not 6 strings"),
    ],
)
def test_a_forged_header(path, key, value, match):
    forge(path, lambda header: header.update({key: value}))
    assert_refused(path, match)


def test_a_forged_attribute(path):
    forge(path, lambda header: header["attributes"].update(cutoffs_=[1, 2]))
    assert_refused(path, "cutoffs_ is not a pair")
    forge(path, lambda header: header["attributes"].update(n_components_="x" * 999))
    assert_refused(path, "components_ has shape")


@pytest.mark.parametrize(
    ("array", "match"),
    [
        (np.array([{}, None], dtype=object), "not an array of numbers"),
        (np.array(["a"] * 6), "instead of numbers"),
        (np.zeros(6, dtype=[("a", float)]), "instead of numbers"),
        (np.zeros(5), "has shape"),
    ],
)
def test_a_forged_array(path, array, match):
    forge(path, arrays={"mean_": array})
    assert_refused(path, match)


def test_older_files_lack_new_parameters_and_get_their_defaults(path):
    forge(path, lambda header: header["parameters"].pop("trust"))
    assert trueaxis.load(path).trust == 0.5


def test_parts_of_different_fits_are_not_saved(tmp_path):
    scaler = ColumnScaler().fit(rows()[:, :4])
    with pytest.raises(
        ValueError,
        match="on 4 columns, but the DSWL on 6: they were not fitted together",
    ):
        trueaxis.save(make_pipeline(scaler, fitted("dswl")), tmp_path / "model.npz")
    assert not list(tmp_path.iterdir())


def test_other_pipelines_are_refused(tmp_path):
    other = make_pipeline(StandardScaler(), DSWL(2)).fit(rows())
    with pytest.raises(TypeError, match="of StandardScaler, DSWL: only a ColumnScaler"):
        trueaxis.save(other, tmp_path / "model")


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (lambda h, a: h.update(scaling="log"), "unknown: 'log'"),
        (lambda h, a: a.pop("scaling.unit"), "scaling.unit is missing"),
        (
            lambda h, a: a.update({"scaling.unit": np.ones(2)}),
            r"scaling.unit .* not floats of shape \(6,\)",
        ),
        (lambda h, a: h.update(scaling=None), "scaling.centre"),
    ],
)
def test_forged_scalers(scaled, change, match):
    path = scaled[2]
    header, arrays = archives.read(path)
    change(header, arrays)
    for key in ("arrays", "checksum", "format", "format_version", "library_version"):
        header.pop(key, None)
    archives.write(path, header, arrays)
    with pytest.raises(ValueError, match=match):
        trueaxis.load(path)


class Spelled(BaseEstimator):
    def __init__(self, center="mean", tol=0.1):
        self.center = center
        self.tol = tol


class OldSpelled(BaseEstimator):
    def __init__(self, centre="mean", tol=0.1):
        self.centre = centre
        self.tol = tol


class BothSpelled(BaseEstimator):
    def __init__(self, center="mean", centre="deprecated"):
        self.center = center
        self.centre = centre


@pytest.mark.parametrize(
    ("cls", "stored", "expected"),
    [
        (Spelled, {"centre": "median", "tol": 1}, {"center": "median", "tol": 1}),
        (Spelled, {"center": "median", "tol": 1}, {"center": "median", "tol": 1}),
        (Spelled, {"tol": 1}, {"tol": 1}),
        (OldSpelled, {"centre": "median", "tol": 1}, {"centre": "median", "tol": 1}),
        (BothSpelled, {"centre": "median"}, {"center": "median"}),
        (
            BothSpelled,
            {"center": "median", "centre": "deprecated"},
            {"center": "median", "centre": "deprecated"},
        ),
    ],
)
def test_the_old_spelling_of_center_is_understood(cls, stored, expected):
    before = dict(stored)
    renamed = rename_parameters(cls, stored)
    assert renamed == expected and list(renamed) == list(expected)
    assert stored == before
    cls(**renamed)


def test_the_arrays_of_a_scaler_keep_their_names_in_the_file(scaled):
    pipeline, _, path = scaled
    header, arrays = archives.read(path)
    assert header["scaling"] == "robust"
    assert {name for name in arrays if name.startswith("scaling.")} == {
        "scaling.centre",
        "scaling.unit",
    }
    assert_same(arrays["scaling.unit"], pipeline[0].unit_)


def test_deprecated_parameters_are_not_stored(tmp_path):
    trueaxis.save(PCP(2).fit(rows()), tmp_path / "model.npz")
    header, _ = archives.read(tmp_path / "model.npz")
    assert "center" in header["parameters"] and "centre" not in header["parameters"]
    assert trueaxis.load(tmp_path / "model.npz").get_params() == PCP(2).get_params()


def test_files_with_the_old_spelling_of_center_load(tmp_path):
    path = tmp_path / "model.npz"
    trueaxis.save(PCP(2, center="median").fit(rows()), path)

    def spell_as_before(header):
        header["parameters"]["centre"] = header["parameters"].pop("center")

    forge(path, spell_as_before)
    assert trueaxis.load(path).get_params() == PCP(2, center="median").get_params()
