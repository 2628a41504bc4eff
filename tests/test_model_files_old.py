"""Models on disk: the same to the last bit, or a clear error; never half a file."""

import dataclasses
import functools
import hashlib
import inspect
import io
import json
import os
import stat
import subprocess
import sys
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import check_is_fitted

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
    Rule,
)
from trueaxis._engine.outliers import trim
from trueaxis._engine.outliers.trim import CutRule, Cuts
from trueaxis._engine.rules import base as rules
from trueaxis._engine.rules import losses, retained, selection
from trueaxis._engine.rules.losses import HuberRule, PowerRule
from trueaxis._persistence import archive as archives
from trueaxis._persistence.archive import HEADER, ModelFileError, checksum
from trueaxis._persistence.json_values import RULES, decode, encode
from trueaxis._persistence.model_state import CLASSES, COMMON, OWN, TRAINING
from trueaxis.datasets import planted
from trueaxis.diagnostics import contributions, diagnose, effect, reasons
from trueaxis.estimators.base import Distances

NAMES = ["a", "b", "Länge", "d,e", 'f"', "\N{SNOWMAN}"]


@functools.cache
def rows(seed=0, n=60):
    cloud = planted(
        "ocs", n=n, n_features=6, n_components=2, share=0.2, random_state=seed
    )
    return cloud.X


@functools.cache
def fitted(name, dtype="float64", named=False):
    X = rows().astype(dtype)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return CLASSES[name](2).fit(pd.DataFrame(X, columns=NAMES) if named else X)


def through(model, tmp_path, **options):
    trueaxis.save(model, tmp_path / "model.npz", **options)
    return trueaxis.load(tmp_path / "model.npz")


def assert_same(a, b):
    """Of the same types and bits, all the way down."""
    assert type(a) is type(b)
    if isinstance(a, (np.ndarray, np.generic)):
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
        assert np.isfortran(a) == np.isfortran(b)
        if a.dtype.kind == "O":
            return assert_same(list(a), list(b))
        assert a.tobytes() == b.tobytes()
    elif isinstance(a, dict):
        assert list(a) == list(b)
        assert_same(list(a.values()), list(b.values()))
    elif isinstance(a, (list, tuple)):
        assert len(a) == len(b)
        for x, y in zip(a, b, strict=True):
            assert_same(x, y)
    elif isinstance(a, Rule) or dataclasses.is_dataclass(a):
        assert_same(vars(a), vars(b))
    else:
        assert repr(a) == repr(b)


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


@pytest.mark.parametrize("named", [False, True], ids=["plain", "named"])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", CLASSES)
def test_a_loaded_model_is_the_same_to_the_last_bit(name, dtype, named, tmp_path):
    model = fitted(name, dtype, named)
    loaded = through(model, tmp_path)
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


@pytest.mark.parametrize("name", CLASSES)
def test_without_training_rows_answers_are_the_same(name, tmp_path):
    model = fitted(name)
    lean = through(model, tmp_path, training=False)
    assert not vars(lean).keys() & TRAINING
    assert vars(model).keys() - vars(lean).keys() == vars(model).keys() & TRAINING
    for one, two in zip(answers(model, rows(1)), answers(lean, rows(1)), strict=True):
        assert_same(one, two)
    again = through(lean, tmp_path)  # what is not there is not missed
    assert vars(again).keys() == vars(lean).keys()


def test_a_file_without_training_rows_does_not_grow_with_them(tmp_path):
    sizes = []
    for n in (60, 600):
        model = PlainPCA(2).fit(rows(n=n))
        trueaxis.save(model, tmp_path / "model", training=False)
        sizes.append((tmp_path / "model").stat().st_size)
    assert abs(sizes[1] - sizes[0]) < 100


@pytest.mark.parametrize("name", CLASSES)
def test_the_list_of_attributes_is_that_of_fitted_models(name):
    model = fitted(name)
    learnt = vars(model).keys() - model.get_params(deep=False).keys()
    known = COMMON | OWN.get(name, set())
    assert learnt <= known
    assert known - learnt <= {"weights_"}  # some methods have none
    assert not any(hasattr(type(model), key) for key in known)


def test_the_list_of_rules_is_that_of_the_engine():
    bases = {Rule, rules.FunctionRule, losses.GuardedRule, losses.ScaledRule}
    found = {
        rule
        for module in (losses, retained, rules, selection, trim)
        for _, rule in inspect.getmembers(module, inspect.isclass)
        if issubclass(rule, Rule)
    }
    assert set(RULES.values()) == found - bases


def test_the_order_of_memory_comes_back(tmp_path):
    # Products of matrices may round otherwise in the other order.
    model = clone(fitted("dswl")).fit(rows())
    model.components_ = np.asfortranarray(model.components_)
    assert through(model, tmp_path).components_.flags["F_CONTIGUOUS"]


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


# ------------------------------------------------------------------- parameters


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        3,
        -0.0,
        0.1,
        "auto",
        float("inf"),
        float("-inf"),
        float("nan"),
        (1, 2.0, float("inf")),
        [1.0, (2, None)],
        np.int64(3),
        np.float32(0.1),
        np.float64("nan"),
        np.bool_(False),
        np.str_("auto"),
        np.array([0.1, np.inf]),
        np.arange(6).reshape(2, 3),
        Distances(1.0, np.float64(2.0)),
        CutRule(1.0, 2.0, Cuts(3.0, np.inf)),
        PowerRule(1.5, guard=np.float32(1e-3)),
    ],
    ids=repr,
)
def test_values_keep_type_and_bits(value):
    text = json.dumps(encode(value), allow_nan=False)
    assert_same(decode(json.loads(text)), value)


@pytest.mark.parametrize(
    "value",
    [len, object(), {1: 2}, 1j, np.array([None]), np.datetime64("2020-01-01"), rules],
    ids=lambda value: type(value).__name__,
)
def test_values_that_have_no_place_in_a_file(value):
    with pytest.raises(TypeError, match=" is "):
        encode(value)


@pytest.mark.parametrize(
    "text",
    [
        {},
        {"float": "1"},
        {"rule": "FunctionRule", "parameters": {}},
        {"rule": "PowerRule", "parameters": {"power": 1}},
        {"rule": "HuberRule", "parameters": {"__class__": 1}},
        {"record": "Distances", "values": [1]},
        {"record": "Popen", "values": ["ls"]},
        {"numpy": "|O8", "shape": None, "hex": "00" * 8},
        {"numpy": "<f8", "shape": None, "hex": "00"},
        {"numpy": "<f8", "shape": "x", "hex": "00" * 8},
        {"numpy": "<f8", "shape": [2], "hex": "zz"},
    ],
    ids=str,
)
def test_values_that_we_do_not_write_are_refused(text):
    with pytest.raises(ValueError):
        decode(text)


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
        PCP(2, balance=np.inf, centre="median"),
        ReweightedPCA(2, rule=PowerRule(1.5), centre="mean"),
        ReweightedPCA(2, rule=HuberRule()),
    ],
    ids=repr,
)
def test_parameters_come_back_in_type_and_value(model, tmp_path):
    model.fit(rows())
    loaded = through(model, tmp_path)
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
def test_rules_of_ones_own_are_refused(rule, tmp_path):
    model = ReweightedPCA(2, rule=rule).fit(rows())
    with pytest.raises(TypeError, match=r"rule cannot be saved.*set_params\(rule=None"):
        trueaxis.save(model, tmp_path / "model")
    assert not list(tmp_path.iterdir())
    # The remedy works, and changes no answer.
    before = model.score_samples(rows(1))
    loaded = through(model.set_params(rule=None), tmp_path)
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
    with pytest.raises(NotFittedError):  # has n_features_in_, and no more
        trueaxis.save(half, path)
    for other in (Own(2).fit(rows()), make_pipeline(Own(2).fit(rows())), DSWL, None):
        with pytest.raises(TypeError, match=r"trueaxis\.METHODS"):
            trueaxis.save(other, path)
    again = DSWL(4).fit(rows())
    with pytest.raises(ValueError, match="n_components=4"):
        again.fit(rows()[:, :3])  # has n_features_in_ of the new rows already
    with pytest.raises(ValueError, match=r"not of one fit: components_.*fit it again"):
        trueaxis.save(again, path)
    noted = clone(fitted("dswl")).fit(rows())
    noted.remark_ = "mine"
    with pytest.raises(ValueError, match="remark_.*delete"):
        trueaxis.save(noted, path)
    assert not list(tmp_path.iterdir())


def test_arrays_that_could_not_be_read_are_not_written(tmp_path):
    model = clone(fitted("pca")).fit(rows())
    model.mean_ = model.mean_.astype(object)
    with pytest.raises(TypeError, match="mean_ has type object"):
        trueaxis.save(model, tmp_path / "model")
    assert not list(tmp_path.iterdir())


def test_the_output_that_was_set_is_no_part_of_a_model(tmp_path):
    model = clone(fitted("pca")).fit(rows()).set_output(transform="pandas")
    assert isinstance(through(model, tmp_path).transform(rows()), np.ndarray)


# ------------------------------------------------------------------------ paths


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


@pytest.mark.parametrize("error", [OSError("no space left"), KeyboardInterrupt()])
@pytest.mark.parametrize("after", [0, 1, 5])
def test_a_save_that_fails_half_way_keeps_the_old_file(
    error, after, tmp_path, monkeypatch
):
    path = tmp_path / "model"
    trueaxis.save(fitted("pca"), path)
    old, count = path.read_bytes(), iter(range(100))
    real = archives._write_npy

    def failing(file, array):
        if isinstance(file, archives._Digest) or next(count) < after:
            return real(file, array)
        file.write(b"half")
        raise error

    monkeypatch.setattr(archives, "_write_npy", failing)
    with pytest.raises(type(error)):
        trueaxis.save(fitted("dswl"), path)
    with pytest.raises(type(error)):
        trueaxis.save(fitted("dswl"), tmp_path / "new")
    assert [each.name for each in tmp_path.iterdir()] == ["model"]
    assert path.read_bytes() == old


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


def test_a_full_disk_leaves_the_old_file(tmp_path):
    pytest.importorskip("resource")
    code = """
import resource, sys
import numpy as np
import trueaxis
X = np.random.default_rng(0).standard_normal((400, 4))
model, path = trueaxis.PlainPCA(2).fit(X), sys.argv[1]
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


# ---------------------------------------------------------------- foul play


@pytest.fixture
def path(tmp_path):
    trueaxis.save(fitted("dswl", named=True), tmp_path / "model.npz")
    return tmp_path / "model.npz"


def members(path):
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def pack(path, contents, compression=zipfile.ZIP_STORED):
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, data in contents.items():
            archive.writestr(name, data)


def forge(path, change=lambda header: None, arrays=None):
    """Change a file and make all checksums hold, as only malice would."""
    contents = members(path)
    header = json.loads(contents[HEADER])
    for name, array in (arrays or {}).items():
        file = io.BytesIO()
        np.lib.format.write_array(file, np.asarray(array), allow_pickle=True)
        contents[f"{name}.npy"] = file.getvalue()
        header["arrays"][name] = hashlib.sha256(file.getvalue()).hexdigest()
    change(header)
    header["checksum"] = checksum(header)
    pack(path, contents | {HEADER: json.dumps(header)})


def refused(path, match):
    with pytest.raises(ValueError, match=match) as caught:
        trueaxis.load(path)
    assert str(path) in str(caught.value)
    assert type(caught.value) is ModelFileError


def test_repacking_alone_does_no_harm(path):
    forge(path)
    assert_same(trueaxis.load(path).components_, fitted("dswl", named=True).components_)


def test_files_of_others(tmp_path):
    path = tmp_path / "other"
    path.write_bytes(b"")
    refused(path, "not a model file.*empty")
    path.write_text("a,b\n1,2\n")
    refused(path, "not a model file.*other kind.*trueaxis.save")
    with path.open("wb") as file:
        np.savez(file, components_=np.eye(3), mean_=np.zeros(3))
    refused(path, "archive of 2 members without a header")
    with path.open("wb") as file:
        np.savez(file, objects=np.array([{}, None], dtype=object))
    refused(path, "without a header")
    pack(path, {})
    refused(path, "not a model file|damaged")
    pack(path, {f"a{i}": b"" for i in range(3000)})
    refused(path, "archive of 3000 members")
    pack(path, {HEADER: "{}"})
    refused(path, "does not say 'trueaxis model'")
    pack(path, {HEADER: "[" * 100_000})
    refused(path, "no JSON")
    pack(path, {HEADER: b"\xff\xfe\x00"})
    refused(path, "no JSON")
    pack(path, {HEADER: b"0" * 10**7}, zipfile.ZIP_DEFLATED)
    refused(path, "compressed")
    refused(tmp_path, "folder")


def test_a_file_cut_short(path):
    data = path.read_bytes()
    lengths = {*range(1, 60), *range(60, len(data), 97), len(data) - 1}
    for length in sorted(lengths):
        path.write_bytes(data[:length])
        refused(path, "damaged|not a model file")
    path.write_bytes(data[: len(data) // 2])
    refused(path, "damaged.*cut short.*save the model again")


def test_a_changed_byte_is_found_or_harmless(path):
    data, model = path.read_bytes(), fitted("dswl", named=True)
    rng, found = np.random.default_rng(0), 0
    for at in rng.choice(len(data), 300, replace=False):
        changed = bytearray(data)
        changed[at] ^= int(rng.integers(1, 256))
        path.write_bytes(changed)
        try:
            loaded = trueaxis.load(path)
        except ModelFileError as error:
            found += 1
            assert str(path) in str(error)
        else:  # dates and the like of the archive
            for key, value in vars(model).items():
                assert_same(getattr(loaded, key), value)
    assert found > 200


def test_a_changed_array(path):
    contents = members(path)
    for at in (-1, -9, 40, 128):
        data = bytearray(contents["components_.npy"])
        data[at] ^= 1
        pack(path, contents | {"components_.npy": bytes(data)})
        refused(path, "damaged: the checksum of components_ does not hold")
    # In place, so that the archive's own sum does not hold either.
    pack(path, contents)
    whole = bytearray(path.read_bytes())
    whole[whole.index(contents["mean_.npy"]) + 130] ^= 1
    path.write_bytes(whole)
    refused(path, "damaged: mean_.npy cannot be read")


def test_arrays_that_changed_places(path):
    contents = members(path)
    pair = "explained_variance_.npy", "explained_variance_ratio_.npy"
    swapped = {pair[0]: contents[pair[1]], pair[1]: contents[pair[0]]}
    pack(path, contents | swapped)
    refused(path, "checksum of explained_variance_ does not")


def test_members_too_many_or_too_few(path):
    contents = members(path)
    pack(path, contents | {"more.npy": b""})
    refused(path, "amiss is 'more.npy'")
    pack(path, {k: v for k, v in contents.items() if k != "mean_.npy"})
    refused(path, "amiss is 'mean_.npy'")
    pack(path, contents)
    with zipfile.ZipFile(path, "a") as archive, pytest.warns(UserWarning, match="Dup"):
        archive.writestr("mean_.npy", contents["mean_.npy"])
    refused(path, "twice")
    pack(path, contents, zipfile.ZIP_DEFLATED)
    refused(path, "compressed")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"dswl"', '"pca"'),
        ('"b"', '"B"'),
        ('"n_components": 2', '"n_components": 3'),
        ('"trust": 0.5', '"trust": NaN'),
        ('"offset_": -1.0', '"offset_": -2.0'),
        ('"checksum": "', '"checksum": "0'),
        ('"checksum"', '"sum"'),
    ],
)
def test_an_edited_header(path, old, new):
    contents = members(path)
    text = contents[HEADER].decode()
    assert text.count(old) == 1
    pack(path, contents | {HEADER: text.replace(old, new)})
    refused(path, "damaged: (the checksum of its header|its header is no JSON)")


def test_a_newer_format(path):
    contents = members(path)
    header = json.loads(contents[HEADER])
    for version in (99, 2):
        header |= {"format_version": version, "library_version": "9.8"}
        pack(path, {HEADER: json.dumps(header)})  # all else may be different, too
        refused(path, rf"has format {version}, written by trueaxis 9\.8.*upgrade")
    for version in (0, -1, "1", None, True, 1.0):
        header["format_version"] = version
        pack(path, {HEADER: json.dumps(header)})
        refused(path, "format version is")


@pytest.mark.parametrize("name", ["__class__", "transform", "fit", "_sub", "q_", "tau"])
def test_names_that_a_model_does_not_have_are_never_set(path, name):
    forge(path, lambda header: header["attributes"].update({name: 1}))
    refused(path, f"attributes that DSWL .* such as '{name}'")
    forge(path, lambda header: header["attributes"].pop(name))
    forge(path, arrays={name: np.zeros(3)})
    refused(path, f"attributes that DSWL .* such as '{name}'")


@pytest.mark.parametrize(
    ("key", "value", "match"),
    [
        ("class", "svm", "class 'svm'.*upgrade"),
        ("class", ["dswl"], "class"),
        ("class", "SubspaceEstimator", "class"),
        ("parameters", None, "no parameters"),
        ("parameters", {"self": 1}, "such as 'self'"),
        ("parameters", {"tau": {"code": "x"}}, "of no known kind"),
        ("attributes", {}, "lacks"),
        ("attributes", 3, "no attributes"),
        ("arrays", [], "no arrays"),
        ("feature_names", ["a"], "does not name 6 features"),
        ("feature_names", "abcdef", "does not name 6"),
        ("feature_names", [1] * 6, "does not name 6"),
    ],
)
def test_a_forged_header(path, key, value, match):
    forge(path, lambda header: header.update({key: value}))
    refused(path, match)


def test_a_forged_attribute(path):
    forge(path, lambda header: header["attributes"].update(cutoffs_=[1, 2]))
    refused(path, "cutoffs_ are no pair")
    forge(path, lambda header: header["attributes"].update(n_components_="x" * 999))
    refused(path, "components_ has shape")


@pytest.mark.parametrize(
    ("array", "match"),
    [
        (np.array([{}, None], dtype=object), "no array of numbers"),
        (np.array(["a"] * 6), "instead of numbers"),
        (np.zeros(6, dtype=[("a", float)]), "instead of numbers"),
        (np.zeros(5), "has shape"),
    ],
)
def test_a_forged_array(path, array, match):
    forge(path, arrays={"mean_": array})
    refused(path, match)


@pytest.mark.parametrize("shape", ["(1000000000000000,)", "(-6,)", "(7,)"])
def test_an_array_that_claims_to_be_huge(path, shape):
    file = io.BytesIO()
    text = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}"
    text = text.ljust(117) + "\n"
    file.write(b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode())
    file.write(bytes(48))
    contents = members(path)
    header = json.loads(contents[HEADER])
    header["arrays"]["mean_"] = hashlib.sha256(file.getvalue()).hexdigest()
    header["checksum"] = checksum(header)
    contents |= {"mean_.npy": file.getvalue(), HEADER: json.dumps(header)}
    pack(path, contents)
    refused(path, "no array of numbers")


def test_older_files_lack_new_parameters_and_get_their_defaults(path):
    forge(path, lambda header: header["parameters"].pop("trust"))
    assert trueaxis.load(path).trust == 0.5


def test_every_method_has_a_file_name():
    assert CLASSES.keys() == {*METHODS, "reweighted-pca"}
    assert OWN.keys() <= CLASSES.keys()


# ---------------------------------------------------------------- scaled columns


@pytest.fixture
def scaled(tmp_path):
    """A pipeline of scaler and method, and the file it was saved to."""
    X = rows() * np.geomspace(1, 1000, rows().shape[1])
    pipeline = make_pipeline(ColumnScaler("robust"), DSWL(2)).fit(X)
    trueaxis.save(pipeline, tmp_path / "scaled.npz")
    return pipeline, X, tmp_path / "scaled.npz"


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


def test_parts_of_different_fits_are_not_saved(tmp_path):
    scaler = ColumnScaler().fit(rows()[:, :4])
    with pytest.raises(ValueError, match="knows 4 columns and the DSWL 6.*one fit"):
        trueaxis.save(make_pipeline(scaler, fitted("dswl")), tmp_path / "model.npz")
    assert not list(tmp_path.iterdir())


def test_other_pipelines_are_refused(tmp_path):
    other = make_pipeline(StandardScaler(), DSWL(2)).fit(rows())
    with pytest.raises(TypeError, match="one of StandardScaler, DSWL: only a Column"):
        trueaxis.save(other, tmp_path / "model")


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (lambda h, a: h.update(scaling="log"), "unknown way, 'log'"),
        (lambda h, a: a.pop("scaling.unit"), "lacks the unit of"),
        (lambda h, a: a.update({"scaling.unit": np.ones(2)}), "lacks the unit of"),
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
