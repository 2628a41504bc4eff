"""Model files as an attacker would write them: a seeded generator, and what must hold.

`forged(seed)` is one hostile file, the same for the same seed. `outcome(case, folder)`
loads it, and asserts that `trueaxis.load` either raises a ValueError with the path, or
returns a model that answers ordinary rows without NaN and without a warning, and that
survives saving and loading; all that in bounded memory.
"""

import functools
import re
import struct
import tempfile
import tracemalloc
import warnings
from pathlib import Path
from typing import NamedTuple

import numpy as np
from saved_models import as_array, assert_same, models, npy, repack, sealed, unpack

import trueaxis

# Peak of memory while a file is loaded: a fixed part, and so many times its size (the
# objects that JSON becomes take more than its text).
FIXED_BYTES, TIMES_SIZE = 5 << 20, 40
NUMBERS = [np.nan, np.inf, 0.0, -1.0, 1.0, 0.5, 1e-320, -1e16, 1e100, -1e155, 1e300]
KINDS = [">f8", "<f4", "<f2", "<i8", "?", "<c16", "<U8", "O"]
ODD = [None, True, -1, 3, 10**300, 1e308, 0.3, "", "x" * 100_000, "\ud800", [], [[]]]
ODD += [{}, float("nan"), {"tuple": [1, 2, 3]}, {"names": [[]]}, {"dict": {"a": 1}}]
ODD += [{"array": "mean_"}, {"array": []}, {"os": "x"}]


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
    return sealed(bytes(changed))


def claiming(descr, shape, data):
    """Return a .npy file whose header claims anything."""
    text = f"{{'descr': {descr!r}, 'fortran_order': False, 'shape': {shape}, }}"
    text = text.ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode() + data


def arrays(data, rng):
    """Change the numbers, the type or the shape of an array."""
    header, arrays = unpack(data)
    name, value = str(rng.choice([*arrays])), float(rng.choice(NUMBERS))
    array = as_array(arrays[name]).copy()
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        new = [
            np.where(rng.random(array.shape) < 0.1, value, array).astype(array.dtype),
            np.asarray(array * value).astype(array.dtype),
            np.asarray(array + value).astype(array.dtype),
            rng.standard_normal(array.shape).astype(array.dtype),
            array.astype(str(rng.choice(KINDS))),
            np.atleast_1d(array)[1:],
            array.T,
        ]
        changed = npy(new[rng.integers(len(new))])
        if rng.random() < 0.1:
            shape = rng.choice(["(10**15,)", "(-6,)", f"({2**62}, 4)", "[2, 6]"])
            changed = claiming("<f8", shape, bytes(96))
        return repack(header, arrays | {name: changed})


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
    place[key] = ODD[rng.integers(len(ODD))]
    return repack(header, arrays)


def forged(seed):
    """Return one hostile file."""
    rng = np.random.default_rng([seed, 20261])
    name = str(rng.choice([*honest()]))
    change = [flip_bytes, arrays, entries][rng.choice(3, p=[0.1, 0.5, 0.4])]
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
