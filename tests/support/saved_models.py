"""Fitted models of all classes, with rows for them, and files that were changed."""

import functools
import io
import json
import warnings
import zipfile

import numpy as np
import pandas as pd
from sklearn.pipeline import make_pipeline

import trueaxis
from trueaxis import DSWL, ColumnScaler, TableEncoder
from trueaxis.datasets import planted
from trueaxis.methods import METHODS, PlainPCA, ReweightedPCA
from trueaxis.persistence import HEADER, digest

NAMES = ["a", "b", "Länge", "d,e", 'f"', "\N{SNOWMAN}"]


@functools.cache
def rows(seed=0, n=60):
    cloud = planted(
        "ocs", n=n, n_features=6, n_components=2, share=0.2, random_state=seed
    )
    return cloud.X


@functools.cache
def models():
    """Every kind of fitted model, and rows that it takes."""
    X, holed = rows(), rows().copy()
    holed[::7, 2] = np.nan
    frame = pd.DataFrame(X, columns=NAMES)
    mixed = frame.assign(kind=np.resize([*"xyz"], len(X)), price=np.exp(X[:, 3]))
    single = X.astype("f4")
    found = {name: (cls(2), X) for name, cls in METHODS.items()}
    found |= {
        "reweighted": (ReweightedPCA(2, rule=None), X),
        "single": (DSWL(np.int64(2)), single),
        "single pcp": (METHODS["pcp"](2), single),
        "named": (DSWL(0.9, tau=(0.5, 0.25, float("inf"))), frame),
        "holes": (DSWL(2, random_state=None), holed),
        "cells": (DSWL(2, cells=True), holed),
        "share": (DSWL(2, contamination=0.1, tau=np.array([0.5, 0.25, 1.0])), X),
        "all axes": (PlainPCA(None), X),
        "constant": (PlainPCA(1), np.ones((9, 3))),
        "far": (PlainPCA(2), X + 1e12),
        "large": (DSWL(1), X * 1e140),
        "wide": (METHODS["spcp"](1), X[:24].reshape(8, -1)),
        "scaler": (ColumnScaler(), single),
        "encoder": (TableEncoder(categories=["kind"], drop=("b",), log=["a"]), mixed),
        "robust": (make_pipeline(ColumnScaler(), DSWL(2)), X * [1, 1, 1e6, 1, 1, 1]),
        "scaled": (make_pipeline(ColumnScaler(), DSWL(2)), frame),
        "encoded": (make_pipeline(TableEncoder(categories=True), DSWL(2)), mixed),
        "chosen": (make_pipeline(TableEncoder(["a", "f*"]), PlainPCA(1)), frame),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of convergence
        return {name: (model.fit(X), X) for name, (model, X) in found.items()}


def saved_and_loaded(model, tmp_path, **options):
    trueaxis.save(model, tmp_path / "model.npz", **options)
    return trueaxis.load(tmp_path / "model.npz")


def unpack(data):
    """Return the header of a file, and its arrays as bytes of .npy."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    header = json.loads(members.pop(HEADER))
    return header, {name.removesuffix(".npy"): data for name, data in members.items()}


def repack(header, arrays, compression=zipfile.ZIP_STORED):
    """Return a file of a header and of arrays, a dict or a list of pairs."""
    file = io.BytesIO()
    pairs = arrays.items() if isinstance(arrays, dict) else arrays
    with zipfile.ZipFile(file, "w", compression) as archive:
        archive.writestr(HEADER, json.dumps(header))
        for name, data in pairs:
            archive.writestr(f"{name}.npy", data)
    return sealed(file.getvalue())


def sealed(data):
    """Return the bytes of a file with the right checksum, if it can be read."""
    file = io.BytesIO(data)
    try:
        with zipfile.ZipFile(file, "a") as archive:
            contents = {name: archive.read(name) for name in archive.namelist()}
            archive.comment = digest(contents)
    except Exception:  # whatever zipfile says of odd bytes
        return data
    return file.getvalue()


def npy(array, version=(1, 0)):
    """Return an array as the bytes of a .npy file; objects are pickled."""
    file = io.BytesIO()
    np.lib.format.write_array(file, np.asanyarray(array), version=version)
    return file.getvalue()


def as_array(data):
    return np.load(io.BytesIO(data))


def assert_same(a, b):
    """Assert equal types and bits, all the way down."""
    assert type(a) is type(b)
    if isinstance(a, (np.ndarray, np.generic)):
        assert (a.dtype, a.shape, np.isfortran(a)) == (
            b.dtype,
            b.shape,
            np.isfortran(b),
        )
        if a.dtype.kind == "O":
            return assert_same(a.tolist(), b.tolist())
        assert a.tobytes() == b.tobytes()
    elif isinstance(a, dict):
        assert list(a) == list(b)
        assert_same(list(a.values()), list(b.values()))
    elif isinstance(a, (list, tuple)):
        assert len(a) == len(b)
        for x, y in zip(a, b, strict=True):
            assert_same(x, y)
    else:
        assert repr(a) == repr(b)
