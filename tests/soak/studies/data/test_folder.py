"""Data sets in a data home: CSV, .npz and MATLAB files."""

import hashlib
import shutil

import numpy as np
import pytest
from scipy.io import savemat

from studies.data import FACES, UCI, load
from studies.data.registry import facts_of


@pytest.mark.parametrize("name", UCI + FACES)
def test_every_set_loads_from_a_data_home(name, home, monkeypatch):
    monkeypatch.setenv("TRUEAXIS_DATA", str(home))
    data, facts = load(name, download=False), facts_of(name)
    assert data.exact and data.origin.startswith(str(home))
    assert data.X.shape == (facts.n, facts.d) and data.X.dtype == np.float64
    classes, counts = np.unique(data.target, return_counts=True)
    assert dict(zip(map(str, classes), counts, strict=True)) == facts.class_counts
    assert len(data.feature_names) == facts.d
    assert data.licence and facts.title in data.description
    raw = (home / facts.file).read_bytes()
    assert hashlib.sha256(raw).hexdigest() == facts.sha256
    if name in UCI:
        np.testing.assert_allclose(data.X.sum(axis=0), facts.column_sums, rtol=1e-8)
        with pytest.raises(AttributeError, match="is a table"):
            _ = data.images
    else:
        with np.load(home / facts.file) as arrays:
            assert np.array_equal(data.images, arrays["images"])


def edited(home, tmp_path, name, change):
    path = tmp_path / "home" / facts_of(name).file
    path.parent.mkdir(parents=True)
    path.write_bytes(change((home / facts_of(name).file).read_bytes()))
    return tmp_path / "home"


@pytest.mark.parametrize(
    "name, change, message",
    [
        ("seeds", lambda raw: raw[:5000], "rows|cells"),
        ("seeds", lambda raw: raw.replace(b"15.26", b"95.26", 1), "area adds up to"),
        ("seeds", lambda raw: raw.replace(b"15.26", b"15.27", 1), "was edited.*sha256"),
        ("seeds", lambda raw: raw.replace(b"5.22,1\n", b"5.22,2\n", 1), r"1 \(69\)"),
        ("seeds", lambda raw: raw.replace(b"15.26", b"nan", 1), "1 cells that are not"),
        ("seeds", lambda raw: raw.replace(b"15.26", b"?", 1), "cannot be read"),
        ("yale", lambda raw: raw[:5000], "cannot be read"),
    ],
)
def test_a_damaged_file_is_refused(name, change, message, home, tmp_path):
    place = edited(home, tmp_path, name, change)
    with pytest.raises(ValueError, match=message) as error:
        load(name, data_home=place)
    assert str(place) in str(error.value)


def test_a_file_of_the_same_values_in_other_bytes_is_accepted(home, tmp_path):
    place = edited(home, tmp_path, "seeds", lambda raw: raw.replace(b"\n", b"\r\n"))
    assert load("seeds", data_home=place).exact


@pytest.mark.parametrize("order", ["columns", "rows"])
@pytest.mark.parametrize("file", ["faces/Yale_32x32.mat", "yale.mat"])
def test_a_matlab_file_is_read(order, file, home, cache, tmp_path):
    known = load("yale", data_home=home)
    images = known.images.transpose(0, 2, 1) if order == "columns" else known.images
    path = tmp_path / "home" / file
    path.parent.mkdir(parents=True)
    fea = images.reshape(165, -1).astype(np.uint8)
    savemat(path, {"fea": fea, "gnd": known.target[:, None]})
    data = load("yale", data_home=tmp_path / "home", download=False)
    assert data.exact and data.origin == str(path)
    assert np.array_equal(data.X, known.X) and np.array_equal(data.target, known.target)
    shutil.copytree(tmp_path / "home", cache)
    assert load("yale", download=False).origin.startswith(str(cache))
