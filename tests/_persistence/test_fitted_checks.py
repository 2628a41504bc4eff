"""Values that fitted attributes can have, and those that no fit leads to."""

import io
import json
import warnings

import numpy as np
import pytest
from forged_models import Forged, bomb, forged, outcome, repack, specimens, unpack
from saved_models import assert_refused, fitted, forge, rows, saved_and_loaded

import trueaxis
from trueaxis import DSWL
from trueaxis._persistence.fitted_checks import CHECKS
from trueaxis._persistence.model_state import CLASSES, known_attributes
from trueaxis.methods import PlainPCA


def test_every_attribute_of_every_method_has_a_check():
    named = set().union(*(known_attributes(cls) for cls in CLASSES.values()))
    assert named == CHECKS.keys()


HONEST = {
    "far": lambda X: X + 1e12,
    "large": lambda X: X * 1e140,
    "small": lambda X: X * 1e-140,
    "single": lambda X: X.astype("f4"),
    "large single": lambda X: (X * 1e12).astype("f4"),
    "constant": lambda X: np.ones((9, 4)),
    "few levels": lambda X: np.round(X),
    "equal rows": lambda X: np.repeat(X[:5], 10, axis=0),
    "one column": lambda X: X[:, :1],
    "wide": lambda X: X[:24].reshape(8, -1),
    "exact": lambda X: X[:, :2] @ np.arange(1.0, 13).reshape(2, 6),
}


@pytest.mark.slow
@pytest.mark.parametrize("table", HONEST)
@pytest.mark.parametrize("name", ["dswl", "pca", "spcp", "rspca", "pca-l1", "two-way"])
def test_what_was_fitted_can_be_saved_and_loaded(name, table, tmp_path):
    X = HONEST[table](rows())
    for k in (1, None):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of convergence
            model = CLASSES[name](k, contamination=0.1).fit(X)
        loaded = saved_and_loaded(model, tmp_path)
        assert np.array_equal(loaded.predict(X), model.predict(X))


def test_rows_without_any_p_value_leave_a_finite_line(tmp_path):
    X = rows()[:, :2] @ np.arange(1.0, 13).reshape(2, 6)
    X[:6] = 1e200 * np.eye(6)
    for share in (0.1, 0.04):
        model = DSWL(2, contamination=share).fit(X)
        assert np.isneginf(model.score_samples(X)).sum() == 6
        assert np.isfinite(model.offset_)
        assert np.array_equal(model.predict(X) == -1, model.decision_function(X) < 0)
        assert np.flatnonzero(model.predict(X) == -1).tolist() == [*range(6)]
        assert saved_and_loaded(model, tmp_path).offset_ == model.offset_


def turned(array):
    array = array.copy()
    array[0] = array[1]
    return array


@pytest.mark.parametrize(
    ("name", "change", "match"),
    [
        ("components_", np.zeros_like, "components_ are not orthonormal: .* up to 1"),
        ("components_", turned, "components_ are not orthonormal"),
        ("components_", lambda a: 1e300 * a, "orthonormal: they have a value of"),
        ("components_", lambda a: np.nan * a, "components_ has a value that is not f"),
        ("components_", lambda a: a.astype("f2"), "components_ is of type float16"),
        ("components_", lambda a: a[:1], "components_ has shape"),
        ("mean_", lambda a: a + 1e200, "mean_ has a value of 1e.200, whose square"),
        ("mean_", lambda a: a.astype("f4"), "mean_ is of type float32.*float64"),
        ("explained_variance_", np.negative, "but none is below 0"),
        ("explained_variance_", lambda a: 2 * a, "ratio_ are not shares"),
        ("explained_variance_ratio_", np.zeros_like, "ratio_ are not shares"),
        ("weights_", np.negative, "weights_ has the value -.*, but none is below 0"),
        ("weights_", lambda a: 2 * a, "weights_ sum to 2 instead of 1"),
        ("weights_", lambda a: a[:-1], "support_ has shape"),
        ("support_", lambda a: a.astype(int), "support_ is of type int64"),
        ("history_.change", lambda a: a[:-1], "history_ has entries of different"),
        ("history_.more", None, "history_ has an entry 'more'"),
        ("_tails", lambda a: 1e-200 * a, "_tails are not two laws"),
        ("_tails", lambda a: a + [1, 0, 0], "cutoffs_ has a distance of"),
    ],
)
def test_forged_arrays(path, name, change, match):
    _, arrays = unpack(path.read_bytes())
    stored = np.zeros(3) if change is None else change(load_array(arrays[name]))
    forge(path, arrays={name: stored})
    assert_refused(path, match)


def load_array(data):
    return np.load(io.BytesIO(data))


@pytest.mark.parametrize(
    ("name", "value", "match"),
    [
        ("n_iter_", True, "n_iter_ is True"),
        ("n_iter_", 10**40, "n_iter_ is 1000"),
        ("n_components_", 7, r"n_components_ is 7, but an integer in \[0, 6\]"),
        ("converged_", 1, "converged_ is 1, but True or False"),
        ("noise_variance_", -1e-9, "noise_variance_ is -1e-09"),
        ("noise_variance_", "0.1", "noise_variance_ is '0.1'"),
        ("_total_variance", 0.0, "_total_variance is 0.0"),
        ("n_samples_", 0.0, "n_samples_ is 0.0"),
        ("_n_judging", 3, r"_n_judging is 3, but an integer in \[1, 2\]"),
        ("_n_judging", 0, r"_n_judging is 0, but an integer in \[1, 2\]"),
        ("tau_", {"tuple": [1.0, -1.0, 1.0]}, "tau_ is .* three numbers"),
        ("offset_", -5.0, "cutoffs_ has a distance of .*, but offset_ and _tails"),
    ],
)
def test_forged_numbers(path, name, value, match):
    forge(path, lambda header: header["attributes"].update({name: value}))
    assert_refused(path, match)


@pytest.mark.parametrize(
    ("name", "value", "match"),
    [
        ("level", 7, "parameters are not valid .*level"),
        ("contamination", [1], "parameters are not valid .*contamination"),
        ("cells", "yes", "parameters are not valid .*cells"),
    ],
)
def test_forged_parameters(path, name, value, match):
    forge(path, lambda header: header["parameters"].update({name: value}))
    assert_refused(path, match)
    model = PlainPCA(2).fit(rows()).set_params(level=7)
    with pytest.raises(ValueError, match="level=7"):
        trueaxis.save(model, path)


@pytest.mark.parametrize("unit", [0.0, -1.0, np.nan, np.inf])
def test_forged_units(scaled, unit):
    forge(scaled[2], arrays={"scaling.unit": np.full(6, unit)})
    assert_refused(scaled[2], "scaling.unit has a value that is not (finite|positive)")


def test_equal_keys_of_a_header_are_refused(path):
    header, arrays = unpack(path.read_bytes())
    twice = repack(
        header, arrays, text=lambda h: json.dumps(h)[:-1] + ', "class": "a"}'
    )
    path.write_bytes(twice)
    assert_refused(path, "an entry of its header is there twice")


def test_the_order_of_bytes_is_that_of_the_machine(path):
    _, arrays = unpack(path.read_bytes())
    before = trueaxis.load(path)
    other = load_array(arrays["components_"]).astype(">f8")
    forge(path, arrays={"components_": other})
    loaded = trueaxis.load(path)
    assert loaded.components_.dtype.isnative
    assert np.array_equal(loaded.components_, before.components_)


def test_members_that_share_bytes_are_refused(path):
    for seed in range(4):
        rng = np.random.default_rng(seed)
        path.write_bytes(bomb(path.read_bytes(), rng, b""))
        assert_refused(path, "compressed|its members have .* bytes, but the file")
        trueaxis.save(fitted("dswl"), path)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
def test_hostile_files_are_refused_or_harmless(part, tmp_path):
    ends = {
        outcome(forged(seed), tmp_path) for seed in range(30 * part, 30 * part + 30)
    }
    assert ends == {"refused", "loaded"}


@pytest.mark.slow
def test_hostile_files_take_little_memory(tmp_path):
    for seed in range(1000, 1020):
        outcome(forged(seed), tmp_path, memory=True)


@pytest.mark.slow
def test_honest_files_are_all_accepted(tmp_path):
    for one in specimens():
        assert outcome(Forged(one.name, one.data, one.X), tmp_path) == "loaded"
