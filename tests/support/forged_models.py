"""Model files as an attacker would write them: a seeded generator, and what must hold.

`forged(seed)` is one hostile file, the same for the same seed: a saved model of some
class whose bytes, zip structure, arrays or header were changed, in most cases with all
checksums redone. `outcome(case, folder)` loads it, and asserts that `trueaxis.load`
either raises `ModelFileError` with the path and a remedy, or returns a model that
answers ordinary rows without NaN and without a warning and that survives saving and
loading unchanged; all that in bounded time and memory. A loop over seeds is a fuzzer:

>>> import tempfile
>>> from pathlib import Path
>>> from forged_models import forged, outcome
>>> folder = Path(tempfile.mkdtemp())
>>> outcome(forged(1), folder) in ("refused", "loaded")
True
"""

import functools
import hashlib
import io
import json
import struct
import tempfile
import time
import tracemalloc
import warnings
import zipfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from saved_models import NAMES, assert_same, fitted, rows
from sklearn.pipeline import make_pipeline

import trueaxis
from trueaxis import DSWL, ColumnScaler, TableEncoder
from trueaxis._persistence.archive import HEADER, ModelFileError, checksum
from trueaxis._persistence.model_state import CLASSES
from trueaxis.methods import PlainPCA

SECONDS = 5.0  # of processor time for load, answers and the round trip of a small file
# Peak of memory while a file is loaded: a fixed part, and so many times its size (the
# objects that JSON becomes take more than its text).
FIXED_BYTES, TIMES_SIZE = 5 << 20, 40


@dataclass(frozen=True)
class Specimen:
    """An honest model file.

    Attributes
    ----------
    name : str
    data : bytes
    X : array or data frame
        Rows that the model takes.
    """

    name: str
    data: bytes
    X: object


@dataclass(frozen=True)
class Forged:
    """A hostile file; `how` says which specimen was changed, and how."""

    how: str
    data: bytes
    X: object


# ---------------------------------------------------------------- honest files


@functools.cache
def specimens():
    """Return honest files of all classes, and of every kind of model."""
    X, holed = rows(), rows().copy()
    holed[::7, 2] = np.nan
    mixed = pd.DataFrame(X[:, :3], columns=["a", "b", "c"]) + 20.0
    mixed["kind"] = np.array(["x", "y", "z"])[np.arange(len(X)) % 3]
    models = {name: (fitted(name), X) for name in CLASSES}
    models["float32"] = fitted("dswl", "float32"), X.astype("f4")
    models["named"] = fitted("dswl", named=True), pd.DataFrame(X, columns=NAMES)
    models["holes"] = DSWL(2).fit(holed), holed
    models["cells"] = DSWL(2, cells=True).fit(holed), holed
    models["share"] = DSWL(2, contamination=0.1).fit(X), X
    models["all axes"] = PlainPCA(None).fit(X), X
    models["constant"] = PlainPCA(1).fit(np.ones((9, 3))), np.ones((9, 3))
    for how in ("standard", "robust"):
        models[how] = make_pipeline(ColumnScaler(how), DSWL(2)).fit(X), X
    models["encoder"] = make_pipeline(TableEncoder(), DSWL(2)).fit(mixed), mixed
    saved = [
        Specimen(name, saved_bytes(model), table)
        for name, (model, table) in models.items()
    ]
    lean = saved_bytes(fitted("pcp"), training=False)
    return [*saved, Specimen("lean", lean, X)]


def saved_bytes(model, **options):
    """Return the bytes of the file that a model is saved to."""
    with tempfile.TemporaryDirectory() as folder:
        trueaxis.save(model, Path(folder) / "model.npz", **options)
        return (Path(folder) / "model.npz").read_bytes()


# ---------------------------------------------------------------- parts of a file


def unpack(data):
    """Return the header and the bytes of all arrays of a file."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    header = json.loads(members.pop(HEADER))
    return header, {name.removesuffix(".npy"): data for name, data in members.items()}


def repack(header, arrays, *, text=None, listed=True):
    """Return a file with all checksums redone; `text` replaces that of the header."""
    if listed:
        digests = {
            name: hashlib.sha256(data).hexdigest() for name, data in arrays.items()
        }
        header = header | {"arrays": digests}
    try:
        header = header | {"checksum": checksum(header)}
    except (ValueError, RecursionError):
        pass  # nobody can compute it
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of names that are there twice
        archive.writestr(HEADER, json.dumps(header) if text is None else text(header))
        for name, data in arrays.items():
            archive.writestr(f"{name}.npy", data)
    return file.getvalue()


def npy(array, version=(1, 0)):
    """Return an array as the bytes of a .npy file; objects are pickled."""
    file = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        np.lib.format.write_array(file, np.asanyarray(array), version=version)
    return file.getvalue()


def claiming(descr, shape, data=b"", order=False):
    """Return a .npy file whose header claims anything."""
    text = f"{{'descr': {descr!r}, 'fortran_order': {order}, 'shape': {shape}, }}"
    text = text.ljust(117) + "\n"
    start = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text))
    return start + text.encode() + data


# ---------------------------------------------------------------- forgeries


def flip_bytes(data, rng, other):
    changed = bytearray(data)
    for _ in range(int(rng.integers(1, 6))):
        changed[rng.integers(len(data))] = int(rng.integers(256))
    return bytes(changed)


def cut_off(data, rng, other):
    return data[: int(rng.integers(len(data)))]


def splice(data, rng, other):
    at, there = int(rng.integers(len(data))), int(rng.integers(len(other)))
    return data[:at] + other[there:]


def directory(data, rng, other):
    """Change a field of an entry in the zip directory, or of its end."""
    changed = bytearray(data)
    entries = [i for i in range(len(data)) if data[i : i + 4] == b"PK\x01\x02"]
    end = data.rindex(b"PK\x05\x06")
    at = int(rng.choice([*entries, end]))
    # version, flags, method, time, crc, sizes, lengths of texts, attributes, offset
    width = 46 if at != end else 22
    field = at + 4 + 2 * int(rng.integers((width - 4) // 2))
    value = int(rng.choice([0, 1, 8, 9, 12, 14, 99, 0x0800, 0x7FFF, 0xFFFF]))
    changed[field : field + 2] = struct.pack("<H", value)
    return bytes(changed)


def more_members(data, rng, other):
    """Add members with odd names, or a second one of a known name."""
    file = io.BytesIO(data)
    names = ["../../evil", "/etc/passwd", "a\\b", "x" * 60_000, "mean_.npy", HEADER]
    names += ["", "mean_.npy/", "\N{SNOWMAN}.npy", "__class__.npy", "con", "."]
    with zipfile.ZipFile(file, "a") as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        archive.writestr(zipfile.ZipInfo(str(rng.choice(names))), b"x")
    return file.getvalue()


def bomb(data, rng, other):
    """Store a compressed array of zeros, or many members at the same place."""
    header, arrays = unpack(data)
    if rng.random() < 0.5:
        name = str(rng.choice([*arrays]))
        arrays[name] = npy(np.zeros(3 << 20))
        plain, file = zipfile.ZipFile(io.BytesIO(repack(header, arrays))), io.BytesIO()
        with zipfile.ZipFile(
            file, "w", zipfile.ZIP_DEFLATED, compresslevel=1
        ) as packed:
            for member in plain.namelist():
                packed.writestr(member, plain.read(member))
        return file.getvalue()
    names = [f"history_.a{i}" for i in range(500)]
    big = npy(np.zeros(1 << 14))
    extra = dict.fromkeys(names, hashlib.sha256(big).hexdigest())
    whole = repack(header, arrays | {names[0]: big})
    header, _ = unpack(whole)
    header["arrays"] |= extra
    whole = repack(header, arrays | {names[0]: big}, listed=False)
    return _same_place(whole, f"{names[0]}.npy", [f"{name}.npy" for name in names[1:]])


def _same_place(data, name, others):
    """Add entries to the directory that point to the bytes of a member."""
    end = data.rindex(b"PK\x05\x06")
    start = struct.unpack("<I", data[end + 16 : end + 20])[0]
    at = data.index(name.encode(), start) - 46
    entry = data[at : at + 46]
    more = b"".join(
        entry[:28] + struct.pack("<H", len(other)) + entry[30:] + other.encode()
        for other in others
    )
    count = struct.unpack("<H", data[end + 10 : end + 12])[0] + len(others)
    tail = struct.pack("<HHI", count, count, end - start + len(more))
    return data[:end] + more + data[end : end + 8] + tail + data[end + 16 :]


NUMBERS = [np.nan, np.inf, -np.inf, 0.0, -0.0, -1.0, 1.0, 2.0, 0.5, 1e-320, -1e-300]
NUMBERS += [1e8, -1e16, 1e100, 1e150, -1e155, 1e300, -1.7e308, 1e-8, 1e-30, -1e-12]


def values(data, rng, other):
    """Change numbers of an array: one, a line or all of them."""
    header, arrays = unpack(data)
    name = str(rng.choice([*arrays]))
    array = np.load(io.BytesIO(arrays[name])).copy()
    value = float(rng.choice(NUMBERS))
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        match int(rng.integers(7)):
            case 0 if array.size:
                array.flat[rng.integers(array.size)] = value
            case 1 if len(array):
                array[rng.integers(len(array))] = value
            case 2:
                array[...] = value
            case 3:
                array = (array * value).astype(array.dtype)
            case 4:
                array = (array + value).astype(array.dtype)
            case 5:
                rng.shuffle(array)
            case _:
                array = rng.standard_normal(array.shape).astype(array.dtype)
    return repack(header, arrays | {name: npy(array)})


def forms(data, rng, other):
    """Change the type, the shape or the memory order of an array."""
    header, arrays = unpack(data)
    name = str(rng.choice([*arrays]))
    array = np.load(io.BytesIO(arrays[name]))
    kinds = [">f8", "<f4", "<f2", "<f16", "<i8", "<i1", "<u8", "?", "<c16", "<U8"]
    kinds += ["S8", "O", "<M8[s]", ">f4", ">i2", "V8"]
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        match int(rng.integers(9)):
            case 0:
                new = npy(array.astype(str(rng.choice(kinds))))
            case 1:
                new = npy(np.asfortranarray(array))
            case 2:
                shapes = [(-1,), (1, -1), (-1, 1), (1, 1, -1)]
                new = npy(array.reshape(shapes[rng.integers(4)]))
            case 3:
                new = npy(array[: int(rng.integers(len(array) + 1))])
            case 4:
                new = npy(np.concatenate([array, array]))
            case 5:
                new = npy(array.T if array.ndim > 1 else array[0:1].reshape(()))
            case 6:
                new = npy(array, (2, 0))
            case 7:
                shapes = ["(10**15,)", "(1000000000000, 6)", "(-6,)", "()", "(0, 10)"]
                shapes += [f"({2**62}, 4)", "(True, 2)", "[2, 6]", "(2.0, 6)", "(" * 99]
                descr = str(rng.choice(["<f8", "|O", "<U999", "|V0", "f8, i4", ""]))
                new = claiming(descr, str(rng.choice(shapes)), bytes(96))
            case _:
                new = claiming("|b1", f"({array.size},)", bytes([2]) * array.size)
    return repack(header, arrays | {name: new})


def exchange(data, rng, other):
    """Swap arrays and values, take them from another file, or lose them."""
    header, arrays = unpack(data)
    theirs, more = unpack(other)
    one, two = (str(name) for name in rng.choice([*arrays], 2))
    match int(rng.integers(6)):
        case 0:
            arrays |= {one: arrays[two], two: arrays[one]}
        case 1:
            name = str(rng.choice([*more]))
            arrays[name] = more[name]
        case 2:
            del arrays[one]
        case 3:
            part = str(
                rng.choice(["parameters", "attributes", "class", "feature_names"])
            )
            header[part] = theirs[part]
        case 4:
            header["attributes"] |= theirs["attributes"]
        case _:
            header["class"] = str(rng.choice([*CLASSES]))
    return repack(header, arrays)


def hostile(rng):
    """Return a value for a header."""
    deep = 1
    for _ in range(300):
        deep = [deep]
    odd = [None, True, False, 0, -1, 1, 3, 10**300, -(10**30), 1e308, -1e-308, 0.3]
    odd += ["", "x" * 100_000, "\ud800", "<script>", "\0", [], {}, [[]], {"": 1}, deep]
    odd += [{"float": text} for text in ("nan", "inf", "-inf", "1", "infinity")]
    odd += [{"tuple": []}, {"tuple": [1, 2, 3]}, {"tuple": [{"float": "nan"}] * 3}]
    for dtype in ("<f8", ">f8", "|O", "<U9999", "|b1", "<M8[s]", "<f4"):
        for shape in (None, [], [0], [2], [10**30], [-1], "x", [[1]]):
            odd.append({"numpy": dtype, "shape": shape, "hex": "00" * 16})
    one = {"numpy": "<f8", "shape": None, "hex": "000000000000f0bf"}  # -1
    distances = [[1.0, {"float": "nan"}], [-1.0, 2.0], ["a", "b"], [1.0], [one, one]]
    odd += [{"record": "Distances", "values": pair} for pair in distances]
    odd += [one, {"record": "Cuts", "values": [1, 2]}, {"record": "int", "values": []}]
    odd += [{"rule": name, "parameters": {}} for name in ("PowerRule", "CoreRule", "x")]
    odd += [{"rule": "PowerRule", "parameters": {"p": 0, "self": 1}}]
    return odd[rng.integers(len(odd))]


def entries(data, rng, other):
    """Replace, remove, rename or add an entry somewhere in the header."""
    header, arrays = unpack(data)
    places = [(header, key) for key in header if key not in ("arrays", "checksum")]
    for place, key in places:  # grows while it is read
        below = place[key]
        if isinstance(below, dict):
            places += [(below, inner) for inner in below]
        elif isinstance(below, list):
            places += [(below, inner) for inner in range(len(below))]
    place, key = places[rng.integers(len(places))]
    match int(rng.integers(8)):
        case 0 if isinstance(place, dict):
            del place[key]
        case 1 if isinstance(place, dict):
            odd = [
                "__class__",
                "predict",
                "_cells",
                "scaling",
                "\ud800",
                "",
                "x" * 9999,
            ]
            place[str(rng.choice(odd))] = hostile(rng)
        case _:
            place[key] = hostile(rng)
    return repack(header, arrays)


def texts(data, rng, other):
    """Write odd JSON: equal keys, deep nesting, numbers without end."""
    header, arrays = unpack(data)
    kind = int(rng.integers(8))

    def text(header):
        plain = json.dumps(header)
        odd = [
            plain[:-1] + ', "class": "dswl"}',
            plain[:-1] + ', "more": ' + "[" * 5000 + "]" * 5000 + "}",
            plain[:-1] + ', "more": ' + "9" * 100_000 + "}",
            plain.replace('"attributes": {', '"attributes": {"offset_": -1e400, ', 1),
            plain.replace('"n_iter_": ', '"n_iter_": NaN, "n_iter_": ', 1),
            "\ufeff" + plain,
            plain + " " * 1000 + "x",
            '{"a":' * 3000,
        ]
        return odd[kind].encode("utf-16" if rng.random() < 0.2 else "utf-8")

    return repack(header, arrays, text=text)


HOW = {
    each.__name__: each
    for each in (
        flip_bytes, cut_off, splice, directory, more_members, bomb,
        values, forms, exchange, entries, texts,
    )
}  # fmt: skip
WEIGHTS = {"values": 6, "entries": 6, "forms": 3, "exchange": 3}


def forged(seed):
    """Return one hostile file."""
    rng = np.random.default_rng([seed, 20261])
    honest = specimens()
    one, two = (honest[i] for i in rng.integers(len(honest), size=2))
    weights = np.array([WEIGHTS.get(name, 1) for name in HOW], dtype=float)
    how = str(rng.choice([*HOW], p=weights / weights.sum()))
    data = HOW[how](one.data, rng, two.data)
    return Forged(f"seed {seed}: {how} of {one.name}, {two.name}", data, one.X)


# ---------------------------------------------------------------- what must hold


def outcome(case, folder, *, memory=False):
    """Load a file and assert what the module promises; return how it ended.

    Parameters
    ----------
    case : Forged
    folder : Path
        For files; they are removed.
    memory : bool
        Whether to measure the memory, which takes longer.

    Returns
    -------
    "refused" or "loaded"
    """
    path = folder / "forged.npz"
    path.write_bytes(case.data)
    began = time.process_time()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            if memory:
                tracemalloc.start()
            try:
                model = trueaxis.load(path)
            except ModelFileError as error:
                text = str(error)
                assert text.startswith(str(path)) and len(text) < 1000, text
                assert text.endswith("."), text
                return "refused"
            finally:
                if memory:
                    peak = tracemalloc.get_traced_memory()[1]
                    tracemalloc.stop()
                    assert peak <= FIXED_BYTES + TIMES_SIZE * len(case.data), peak
            assert_usable(model, case.X, folder)
            return "loaded"
    except Exception as error:
        error.add_note(case.how)
        raise
    finally:
        path.unlink()
        assert time.process_time() - began < SECONDS, case.how


def assert_usable(model, X, folder):
    """Assert that a model answers rows, and is the same after saving and loading.

    Rows of another specimen are refused as they should be: a forged file may be that of
    another honest model.
    """
    if hasattr(model, "feature_names_in_") != hasattr(X, "columns"):
        X = ordinary_rows(model)
    try:
        scores = model.transform(X)
    except ValueError as error:
        assert "feature" in str(error) or "column" in str(error), error
        X = ordinary_rows(model)
        scores = model.transform(X)
    assert np.isfinite(scores).all()
    assert {*np.unique(model.predict(X)).tolist()} <= {-1, 1}
    p = model.score_samples(X)
    assert not np.isnan(p).any() and (p <= 1e-9).all()
    if not hasattr(model, "steps"):
        assert not np.isnan(model.distances(X)).any()
        assert len(model.summary()) < 20_000
    assert len(repr(model)) < 200_000
    first, second = folder / "first.npz", folder / "second.npz"
    trueaxis.save(model, first)
    again = trueaxis.load(first)
    trueaxis.save(again, second)
    assert first.read_bytes() == second.read_bytes()
    assert_same(again.score_samples(X), p)
    first.unlink(), second.unlink()


def ordinary_rows(model):
    """Return a few rows with the columns that a model was fitted on."""
    table = np.random.default_rng(0).standard_normal((5, model.n_features_in_))
    names = getattr(model, "feature_names_in_", None)
    return table if names is None else pd.DataFrame(table, columns=names)
