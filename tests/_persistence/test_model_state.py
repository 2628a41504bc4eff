"""Parameters and attributes of models; what is refused on the way out and back."""

import numpy as np
import pytest
from saved_models import (
    assert_refused,
    assert_same,
    fitted,
    forge,
    members,
    pack,
    rows,
    saved_and_loaded,
)
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from small_tables import with_sides

import trueaxis
from trueaxis import DSWL, ColumnScaler
from trueaxis._persistence import archive as archives
from trueaxis._persistence.model_state import CLASSES, known_attributes
from trueaxis.core import rules as rules
from trueaxis.core.rules import PowerRule
from trueaxis.methods import METHODS, PCP, R1PCA, RWLAN, PlainPCA, ReweightedPCA
from trueaxis.methods.residual import HuberRule


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
        ValueError, match=r"not come from one fit: n_components_ .*fit the model again"
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
        ("feature_names", ["a"], "feature names are not 6 different strings"),
        ("feature_names", "abcdef", "feature names are not 6 different strings"),
        ("feature_names", ["a"] * 6, "feature names are not 6 different strings"),
        ("remark", 1, "entries that trueaxis .* does not know, such as 'remark'"),
        ("feature_names", [1] * 6, "feature names are not 6 different strings"),
    ],
)
def test_a_forged_header(path, key, value, match):
    forge(path, lambda header: header.update({key: value}))
    assert_refused(path, match)


def test_a_forged_attribute(path):
    forge(path, lambda header: header["attributes"].update(cutoffs_=[1, 2]))
    assert_refused(path, "cutoffs_ is not a pair")
    forge(path, lambda header: header["attributes"].update(n_components_="x" * 999))
    assert_refused(path, "n_components_ is 'xxx.*an integer in")


@pytest.mark.parametrize(
    ("array", "match"),
    [
        (np.array([{}, None], dtype=object), "instead of numbers"),
        (np.array(["a"] * 6), "instead of numbers"),
        (np.zeros(6, dtype=[("a", float)]), "instead of numbers"),
        (np.zeros(5), "has shape"),
    ],
)
def test_a_forged_array(path, array, match):
    forge(path, arrays={"mean_": array})
    assert_refused(path, match)


def test_parameters_that_a_file_lacks_have_their_defaults(path):
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
        (lambda h, a: h.update(scaling=None), "scaling.center"),
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


def test_the_arrays_of_a_scaler_have_these_names_in_the_file(scaled):
    pipeline, _, path = scaled
    header, arrays = archives.read(path)
    assert header["scaling"] == "robust"
    assert {name for name in arrays if name.startswith("scaling.")} == {
        "scaling.center",
        "scaling.unit",
    }
    assert_same(arrays["scaling.unit"], pipeline[0].unit_)


# ---------------------------------------------------------------- the law of rows


LAW_FILES = ("_tails.npy", "_sides.npy")


@pytest.mark.parametrize("settings", [{"level": 0.1}, {"contamination": 0.2}], ids=str)
def test_the_line_and_the_groups_come_back(settings, tmp_path):
    model = with_sides(DSWL(2, **settings).fit(rows()), rows())
    loaded = saved_and_loaded(model, tmp_path, training=False)
    X = rows(seed=1, n=500)
    assert loaded.get_params() == model.get_params()
    assert_same(loaded._sides, model._sides)
    assert_same(loaded.score_samples(X), model.score_samples(X))
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))


def test_files_must_have_a_law(path):
    forge(path, lambda header: header["arrays"].pop("_tails"))
    with pytest.raises(ValueError):
        trueaxis.load(path)
    contents = members(path)
    pack(path, {n: c for n, c in contents.items() if n not in LAW_FILES})
    forge(path, lambda header: header["arrays"].pop("_sides"))
    assert_refused(path, "_sides is missing")


@pytest.mark.parametrize(
    ("arrays", "match"),
    [
        ({"_tails": np.ones((2, 2))}, r"_tails has shape \(2, 2\), but \(2, 3\)"),
        ({"_tails": np.ones((3, 3))}, "_tails has shape"),
        ({"_tails": np.ones((2, 3), dtype=int)}, "_tails is of type int64"),
        ({"_tails": np.ones(6)}, "_tails has shape"),
        ({"_tails": np.full((2, 3), np.nan)}, "_tails has a value that is not finite"),
        ({"_tails": np.full((2, 3), -1.0)}, "_tails are not two laws"),
        ({"_tails": np.array([[0.0, 1, 0], [0, 1, 1]])}, "_tails are not two laws"),
        ({"_sides": np.ones((1, 6))}, "_sides has shape"),
        ({"_sides": np.full((1, 8), np.inf)}, "_sides has a value that is not finite"),
        ({"_sides": np.ones((1, 8))}, "_sides has a group without a boundary"),
    ],
    ids=str,
)
def test_a_forged_law(path, arrays, match):
    forge(path, arrays=arrays)
    assert_refused(path, match)


@pytest.mark.parametrize(
    "offset", [0.5, "x", None, {"float": "nan"}, {"float": "-inf"}, -1, True], ids=str
)
def test_a_forged_line(path, offset):
    forge(path, lambda header: header["attributes"].update(offset_=offset))
    assert_refused(path, r"offset_ is .*, but a finite number in \[-inf, 0\]")
