"""Model files as an attacker would write them: a seeded generator, and what must hold.

`forged(seed)` is one hostile file, the same for the same seed: a saved model whose
bytes, arrays or header were changed. `outcome(case, folder)` loads it, and asserts that
`trueaxis.load` either raises a ValueError with the path, or returns a model that
answers ordinary rows without NaN and without a warning, and that survives saving and
loading; all that in bounded memory. A loop over seeds is a fuzzer.
"""

import functools
import re
import struct
import tempfile
import tracemalloc
import warnings
import zipfile
from pathlib import Path
from typing import NamedTuple

import numpy as np
from saved_models import as_array, assert_same, models, npy, repack, sealed, unpack

import trueaxis

# Peak of memory while a file is loaded: a fixed part, and so many times its size (the
# objects that JSON becomes take more than its text).
FIXED_BYTES, TIMES_SIZE = 5 << 20, 40


class Forged(NamedTuple):
    """A hostile file, how it was made, and rows that the model took before."""

    how: str
    data: bytes
    X: object


@functools.cache
def honest():
    """Return the files of all kinds of models."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.npz"
        found = {}
        for name, (model, X) in models().items():
            trueaxis.save(model, path)
            found[name] = path.read_bytes(), X
        return found


def flip_bytes(data, rng):
    changed = bytearray(data)
    for _ in range(int(rng.integers(1, 6))):
        changed[rng.integers(len(data))] = int(rng.integers(256))
    return sealed(bytes(changed)) if rng.random() < 0.9 else bytes(changed)


def cut_off(data, rng):
    return data[: int(rng.integers(len(data)))]


def bomb(data, rng):
    """Compress arrays of zeros that take hundreds of times the size of the file."""
    header, arrays = unpack(data)
    arrays[str(rng.choice([*arrays]))] = npy(np.zeros(3 << 20))
    return repack(header, arrays, zipfile.ZIP_DEFLATED)


NUMBERS = [np.nan, np.inf, -np.inf, 0.0, -0.0, -1.0, 1.0, 2.0, 0.5, 1e-320, -1e-300]
NUMBERS += [1e8, -1e16, 1e100, 1e150, -1e155, 1e300, -1.7e308, 1e-8, 1e-30, -1e-12]


def values(data, rng):
    """Change numbers of an array: one, a line or all of them."""
    header, arrays = unpack(data)
    name, value = str(rng.choice([*arrays])), float(rng.choice(NUMBERS))
    array = as_array(arrays[name]).copy()
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        new = np.asarray(value).astype(array.dtype)
        match int(rng.integers(6)):
            case 0 if array.size:
                array.flat[rng.integers(array.size)] = new
            case 1 if array.ndim and len(array):
                array[rng.integers(len(array))] = new
            case 2:
                array[...] = new
            case 3:
                array = np.asarray(array * value).astype(array.dtype)
            case 4:
                array = np.asarray(array + value).astype(array.dtype)
            case _:
                array = rng.standard_normal(array.shape).astype(array.dtype)
    return repack(header, arrays | {name: npy(array)})


def claiming(descr, shape, data):
    """Return a .npy file whose header claims anything."""
    text = f"{{'descr': {descr!r}, 'fortran_order': False, 'shape': {shape}, }}"
    text = text.ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode() + data


def forms(data, rng):
    """Change the type or the shape of an array, or swap it for another."""
    header, arrays = unpack(data)
    name, second = (str(each) for each in rng.choice([*arrays], 2))
    array = as_array(arrays[name])
    kinds = [">f8", "<f4", "<f2", "<i8", "<i1", "?", "<c16", "<U8", "O", "<M8[s]"]
    shapes = ["(10**15,)", "(1000000000000, 6)", "(-6,)", "()", "(0, 10)", "(" * 99]
    shapes += [f"({2**62}, 4)", "(True, 2)", "[2, 6]", "(2.0, 6)"]
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        new = [
            lambda: npy(array.astype(str(rng.choice(kinds)))),
            lambda: npy(np.ravel(array)),
            lambda: npy(np.atleast_1d(array)[1:]),
            lambda: npy(np.stack([array, array])),
            lambda: npy(array.T),
            lambda: npy(array, (2, 0)),
            lambda: arrays[second],
            lambda: claiming("<f8", rng.choice(shapes), bytes(96)),
            lambda: claiming("|b1", array.shape, bytes([2]) * array.size),
        ]
        return repack(header, arrays | {name: new[rng.integers(len(new))]()})


def hostile(rng):
    """Return a value for a header."""
    deep = functools.reduce(lambda inner, _: [inner], range(300), 1)
    odd = [None, True, False, 0, -1, 1, 3, 10**300, -(10**30), 1e308, -1e-308, 0.3]
    odd += ["", "x" * 100_000, "\ud800", "<script>", "\0", [], {}, [[]], {"": 1}, deep]
    odd += [float("nan"), float("inf"), {"tuple": []}, {"tuple": [1, 2, 3]}]
    odd += [{"tuple": "abc"}, {"names": [1, 2]}, {"names": [[]]}, {"dict": {"a": 1}}]
    odd += [{"array": "mean_"}, {"array": "components_"}, {"array": []}, {"os": "x"}]
    return odd[rng.integers(len(odd))]


def entries(data, rng):
    """Replace, remove or add an entry somewhere in the header."""
    header, arrays = unpack(data)
    places = [(header, key) for key in header]
    for place, key in places:  # grows while it is read
        below = place[key]
        if isinstance(below, (dict, list)):
            keys = below if isinstance(below, dict) else range(len(below))
            places += [(below, inner) for inner in keys]
    place, key = places[rng.integers(len(places))]
    if isinstance(place, dict) and rng.random() < 0.25:
        del place[key]
        key = str(rng.choice(["__class__", "predict", "_cells", "\ud800", "tau_"]))
    place[key] = hostile(rng)
    return repack(header, arrays)


HOW = [flip_bytes, cut_off, bomb, values, forms, entries]
WEIGHTS = np.array([2, 1, 1, 6, 4, 6]) / 20


def forged(seed):
    """Return one hostile file."""
    rng = np.random.default_rng([seed, 20261])
    name = str(rng.choice([*honest()]))
    change = HOW[rng.choice(len(HOW), p=WEIGHTS)]
    data, X = honest()[name]
    return Forged(f"seed {seed}: {change.__name__} of {name}", change(data, rng), X)


def outcome(case, folder):
    """Load a file, assert what must hold, and return "refused" or "loaded"."""
    path = folder / "forged.npz"
    path.write_bytes(case.data)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            tracemalloc.start()
            try:
                model = trueaxis.load(path)
            except ValueError as error:
                text = str(error)
                assert text.startswith(str(path)) and text.endswith("."), text
                assert len(text) < 1000
                return "refused"
            finally:
                peak = tracemalloc.get_traced_memory()[1]
                tracemalloc.stop()
                assert peak <= FIXED_BYTES + TIMES_SIZE * len(case.data), peak
            assert_usable(model, case.X, folder)
            return "loaded"
    except Exception as error:
        error.add_note(case.how)
        raise


def assert_usable(model, X, folder):
    """Assert that a model answers rows, and is the same after saving and loading."""
    try:
        scores = model.transform(X)
    except (ValueError, UserWarning) as error:  # a model of other columns or levels
        assert re.search("feature|olumn|level", str(error)), error
        return
    if not hasattr(model, "score_samples"):
        return
    assert np.isfinite(scores).all()
    assert {*np.unique(model.predict(X)).tolist()} <= {-1, 1}
    p = model.score_samples(X)
    assert not np.isnan(p).any() and (p <= 1e-9).all()
    paths = folder / "first.npz", folder / "second.npz"
    trueaxis.save(model, paths[0])
    again = trueaxis.load(paths[0])
    trueaxis.save(again, paths[1])
    assert paths[0].read_bytes() == paths[1].read_bytes()
    assert_same(again.score_samples(X), p)
