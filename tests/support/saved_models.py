"""Fitted models, and model files that were damaged or forged."""

import dataclasses
import functools
import hashlib
import io
import json
import warnings
import zipfile

import numpy as np
import pandas as pd
import pytest

import trueaxis
from trueaxis._persistence.archive import HEADER, ModelFileError, checksum
from trueaxis._persistence.model_state import CLASSES
from trueaxis.datasets import planted
from trueaxis.methods import Rule

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


def saved_and_loaded(model, tmp_path, **options):
    trueaxis.save(model, tmp_path / "model.npz", **options)
    return trueaxis.load(tmp_path / "model.npz")


def assert_same(a, b):
    """Assert equal types and bits, all the way down."""
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


def members(path):
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def pack(path, contents, compression=zipfile.ZIP_STORED):
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, data in contents.items():
            archive.writestr(name, data)


def forge(path, change=lambda header: None, arrays=None):
    """Change a file and correct all checksums, as only malice would."""
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


def assert_refused(path, match):
    with pytest.raises(ValueError, match=match) as caught:
        trueaxis.load(path)
    assert str(path) in str(caught.value)
    assert type(caught.value) is ModelFileError
