"""Cases that read files: text in many dialects, binary formats, and damaged bytes."""

from __future__ import annotations

import functools
import gzip
import io
import json
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import trueaxis
from fuzz.properties import Broken, Refused, Watch, attempt, expect, same_bits
from fuzz.tables import Rng, draw_numbers, often, pick
from trueaxis._tables.choice import Choice
from trueaxis.report import read_table

# Bytes that parsers stumble over.
TOKENS = [
    b",", b";", b"\t", b'"', b"'", b"\n", b"\r", b"\r\n", b"\0", b"\xff\xfe",
    b"NA", b"nan", b"inf", b"-inf", b"1e999", b"1e-999", b"0x1F", b"1,234.5", b"1.2,5",
    b"2026-01-01", b"12:30", b"\xe4", b"\xf0\x9f\x98\x80", b"\xef\xbb\xbf", b"--",
    b"(3)", b"#", b"=1+1",
    b"9" * 400, b"-", b"+", b".", b" ", b"\x1a", b"\x1b[31m", b"PK\x03\x04",
    b"\x93NUMPY", b"PAR1", b"{", b"}", b"[", b"null", b"true", b"5 kg", b"50%",
    b"\x7f\xff\xff\xff",
]  # fmt: skip
ENDINGS = [".csv", ".csv", ".csv", ".tsv", ".txt", ".csv.gz", ".json", ".jsonl", ".npy",
           ".npz", ".parquet", ".feather", ".xlsx"]  # fmt: skip


def damage(rng: Rng, content: bytes) -> bytes:
    """Change some bytes: flip, cut, repeat, insert, overwrite."""
    data = bytearray(content)
    for _ in range(int(rng.integers(1, 6))):
        at = int(rng.integers(len(data) + 1))
        span = int(rng.integers(1, 20))
        kind = pick(
            rng, ["flip", "flip", "token", "token", "cut", "repeat", "end", "zero"]
        )
        if kind == "flip" and at < len(data):
            data[at] ^= 1 << int(rng.integers(8))
        elif kind == "token":
            token = pick(rng, TOKENS)
            data[at : at + (len(token) if often(rng, 0.5) else 0)] = token
        elif kind == "cut":
            del data[at : at + span]
        elif kind == "repeat":
            data[at:at] = data[at : at + span] * int(rng.integers(1, 30))
        elif kind == "zero":
            data[at : at + span] = bytes(min(span, len(data) - at))
        elif often(rng, 0.3):
            del data[at:]
    return bytes(data)


# --------------------------------------------------------------------------------- text


def _cell(rng: Rng, value: float, decimal: str) -> str:
    kind = rng.random()
    if kind < 0.02:
        return pick(rng, TOKENS).decode("latin-1").replace("\n", " ")
    if np.isnan(value):
        return pick(rng, ["", "NA", "nan", "-", "null", "?"])
    text = repr(float(value)) if kind < 0.9 else f"{value:.6g}"
    return text.replace(".", decimal)


def text_of(rng: Rng, X: np.ndarray) -> bytes:
    """Return a table as text in some dialect."""
    delimiter = pick(rng, [",", ",", ";", "\t", " ", "|"])
    decimal = pick(rng, [".", ".", ","]) if delimiter != "," else "."
    end = pick(rng, ["\n", "\n", "\r\n", "\r"])
    names = [pick(rng, ["flow", "ä b", "", "x", "=sum", "1990"]) + str(i)
             for i in range(X.shape[1])]  # fmt: skip
    records = [[_cell(rng, value, decimal) for value in row] for row in X]
    if often(rng, 0.3):
        records = [[f"row {i}", *record] for i, record in enumerate(records)]
        names = ["name", *names]
    if often(rng, 0.85):
        records = [names, *records]
    if often(rng, 0.2):
        records = [[f'"{cell}"' for cell in record] for record in records]
    lines = [delimiter.join(record) for record in records]
    if often(rng, 0.1):
        lines = ["# made by a machine", "Report 7", *lines, "Total 3"]
    text = end.join(lines) + (end if often(rng, 0.8) else "")
    encoding = pick(rng, ["utf-8"] * 6 + ["utf-8-sig", "utf-16", "latin-1", "utf-32"])
    return text.encode(encoding, errors="replace")


def content_of(rng: Rng, X: np.ndarray, ending: str) -> bytes:
    """Return a table as the bytes of a file of a format."""
    file = io.BytesIO()
    names = [f"x{i}" for i in range(X.shape[1])]
    if ending == ".csv.gz":
        return gzip.compress(text_of(rng, X), mtime=0)
    if ending == ".json":
        return json.dumps(
            [dict(zip(names, x, strict=True)) for x in X.tolist()]
        ).encode()
    if ending == ".jsonl":
        rows = [dict(zip(names, x, strict=True)) for x in X.tolist()]
        return "\n".join(map(json.dumps, rows)).encode()
    if ending == ".npy":
        np.save(file, X)
    elif ending == ".npz":
        np.savez(file, X=X)
    elif ending == ".parquet":
        import pyarrow
        import pyarrow.parquet

        size = int(rng.integers(1, len(X) + 2))
        table = pyarrow.table(list(X.T.copy()), names=names)
        pyarrow.parquet.write_table(table, file, row_group_size=size)
    elif ending == ".feather":
        import pyarrow
        import pyarrow.feather

        pyarrow.feather.write_feather(
            pyarrow.table(list(X.T.copy()), names=names), file
        )
    elif ending == ".xlsx":
        import xlsxwriter

        book = xlsxwriter.Workbook(file, {"in_memory": True, "nan_inf_to_errors": True})
        sheet = book.add_worksheet()
        for i, row in enumerate([names, *X.tolist()]):
            sheet.write_row(i, 0, row)
        book.close()
    else:
        return text_of(rng, X)
    return file.getvalue()


def write_file(
    rng: Rng, folder: Path, endings: list[str], share: float
) -> tuple[Path, str]:
    """Write a table to a file, whose bytes are damaged in this share of the calls."""
    shape = int(rng.integers(1, 40)), int(rng.integers(1, 6))
    X, story = draw_numbers(rng, shape)
    ending = pick(rng, endings)
    content = content_of(rng, X, ending)
    if often(rng, share):
        content, story = damage(rng, content), f"{story}, damaged"
    if often(rng, 0.05):  # the ending says something else
        ending = pick(rng, endings)
    path = folder / f"table{ending}"
    path.write_bytes(content)
    return path, f"{path.name} of {story}"


def draw_choice(rng: Rng) -> Choice:
    """Return what a user says about a file; mostly nothing."""
    options = {
        "columns": [["x0"], ["flow*"], ["x0:x2"], ["nowhere"], []],
        "drop": [["x1"], ["*"], ["nowhere"]],
        "id": ["name", "x0", "nowhere", ""],
        "label": ["name", "x0"],
        "decimal": [".", ",", "x"],
        "delimiter": [",", ";", "tab", "space", "", "ab", '"', "\n"],
        "header": ["yes", "no", "maybe"],
        "missing": ["error", "drop", "x"],
        "skip": [1, 3, 10**9, -1],
        "comment": ["none", "#", "x"],
        "na": [["-999"], ["nan", "?"], [""]],
        "sheet": ["1", "nowhere", "0"],
        "encoding": ["utf-8", "cp1252", "utf-16", "klingon", "base64", "idna"],
        "categories": [["*"], ["name"]],
    }
    drawn = {
        name: pick(rng, values) for name, values in options.items() if often(rng, 0.06)
    }
    return Choice(**drawn)


def read(rng: Rng, watch: Watch) -> str:
    """Read a table from a file."""
    path, story = write_file(rng, watch.given, ENDINGS, 0.6)
    choice = draw_choice(rng)
    watch.story = story = f"{story}, {choice}" if choice != Choice() else story
    table = attempt(lambda: read_table(path, choice))
    n, D = table.X.shape
    expect(table.X.dtype == float, "read as something else", table.X.dtype)
    expect(not np.isinf(table.X).any(), "read infinity", table.X)
    expect(len(table.columns) == D, "columns without names", table.columns)
    expect(len(set(table.columns)) == D, "names that are not unique", table.columns)
    for ids in (table.ids, table.labels):
        expect(ids is None or len(ids) == n, "names of other rows", ids)
    again = read_table(path, choice)
    same_bits(table.X, again.X)
    if often(rng, 0.3):
        with_dswl = attempt(lambda: trueaxis.DSWL(1).fit(table.X))
        expect(np.isfinite(with_dswl.components_).all(), "fit of a table that was read")
    return story


def rows(rng: Rng, watch: Watch) -> str:
    """Open a source of rows, and fit a method to it block by block."""
    path, story = write_file(
        rng,
        watch.given,
        [".npy", ".npy", ".parquet", ".parquet", ".csv", ".csv.gz"],
        0.35,
    )
    options: dict[str, Any] = {
        "block_rows": pick(rng, [None] * 5 + [1, 7, 10**6, 0, "x"])
    }
    if often(rng, 0.2):
        options["columns"] = pick(
            rng, [["x0"], [0], ["x0", "x0"], ["no"], [-1], [99], []]
        )
    if often(rng, 0.3):
        options["spool"] = False
    source: Any = pick(
        rng, [path] * 6 + [str(path), [path, path], path.parent, [path, 3]]
    )
    watch.story = story = f"{story}, {options}, as {source}"
    opened = attempt(lambda: trueaxis.open_rows(source, **options))
    n, D = opened.shape
    name = pick(rng, ["dswl", "dswl", "pca", "r1-pca", "pca-l1", "rspca"])
    model = trueaxis.METHODS[name](min(n, D, 2) or 1)
    attempt(lambda: model.fit(opened))
    labels = attempt(lambda: model.predict(opened))
    expect((labels > 0).tolist() == model.support_.tolist(), "support_ is not predict")
    in_memory = attempt(lambda: opened.take(np.arange(n)))
    if not np.isnan(in_memory).any():
        attempt(lambda: trueaxis.METHODS[name](model.n_components).fit(in_memory))
        same_bits(labels, model.predict(in_memory))
    return story


# -------------------------------------------------------------------------- model files


@functools.cache
def model_file(name: str, holes: bool, step: str) -> tuple[bytes, np.ndarray]:
    """Return a model file of a method behind some step, and the rows of the fit."""
    from sklearn.pipeline import make_pipeline

    X = np.random.default_rng(0).standard_normal((30, 4))
    X[0] = 50
    model: Any = trueaxis.METHODS[name](2)
    if holes:
        X[3, 2] = np.nan
        model.set_params(cells=True)
    if step:
        model = make_pipeline(getattr(trueaxis, step)(), model)
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = Path(folder) / "model.npz"
        trueaxis.save(model.fit(X), path)
        return path.read_bytes(), X


def draw_model_file(rng: Rng, folder: Path) -> tuple[Path, np.ndarray]:
    """Write the file of a fitted model; return it, and the rows of the fit."""
    name = "dswl" if often(rng, 0.4) else pick(rng, trueaxis.METHODS)
    holes = name == "dswl" and often(rng, 0.3)
    step = pick(rng, ["", "", "", "ColumnScaler", "TableEncoder"])
    content, X = model_file(name, holes, step)
    path = folder / "model.npz"
    path.write_bytes(content)
    return path, X


def damaged_model(rng: Rng, watch: Watch) -> str:
    """Load a model file some bytes of which were changed."""
    path, X = draw_model_file(rng, watch.given)
    content = damage(rng, path.read_bytes())
    path.write_bytes(content)
    watch.story = story = f"damaged model file of {len(content)} bytes"
    model = attempt(lambda: trueaxis.load(path))
    labels = attempt(lambda: model.predict(X))  # the damage is in what nobody reads
    expect(np.isin(labels, (-1, 1)).all(), "a damaged model was loaded", labels)
    return story


def forged_model(rng: Rng, watch: Watch) -> str:
    """Load a model file that was changed with care: all checksums are right."""
    path, X = draw_model_file(rng, watch.given)
    watch.story = story = f"forged model file: {forge(rng, path)}"
    model = attempt(lambda: trueaxis.load(path))
    try:
        labels = attempt(lambda: model.predict(X))
        scores = attempt(lambda: model.transform(X))
    except Refused:
        return story  # another number of columns, for instance
    expect(np.isin(labels, (-1, 1)).all(), "a forged model gives no labels", labels)
    expect(np.isfinite(scores).all(), "a forged model gives NaN", scores)
    method = model[-1] if hasattr(model, "steps") else model
    P = method.components_.astype(float)
    gap = np.abs(P @ P.T - np.eye(len(P))).max(initial=0)
    if not gap < 1e-3:
        raise Broken("a forged model has no orthonormal axes", f"{gap}, {story}")
    return story


def forge(rng: Rng, path: Path) -> str:
    """Change a value in a model file, and correct the checksums; return what it was."""
    import hashlib
    import zipfile

    from trueaxis._persistence.archive import HEADER, checksum

    with zipfile.ZipFile(path) as archive:
        contents = {name: archive.read(name) for name in archive.namelist()}
    header = json.loads(contents[HEADER])
    if often(rng, 0.5) and header["arrays"]:
        name = pick(rng, sorted(header["arrays"]))
        array = np.load(io.BytesIO(contents[f"{name}.npy"]))
        array, change = _forged_array(rng, array)
        file = io.BytesIO()
        np.save(file, array)
        contents[f"{name}.npy"] = file.getvalue()
        header["arrays"][name] = hashlib.sha256(file.getvalue()).hexdigest()
        change = f"{name} {change}"
    else:
        change = _forged_value(rng, header)
    header["checksum"] = checksum(header)
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in (contents | {HEADER: json.dumps(header).encode()}).items():
            archive.writestr(name, content)
    return change


def _forged_array(rng: Rng, array: np.ndarray) -> tuple[np.ndarray, str]:
    array = array.copy()
    kind = pick(rng, ["cell", "cell", "all", "shape", "type", "cut"])
    value = pick(rng, [np.nan, np.inf, -1.0, 0.0, 1e300, 1e-320])
    with np.errstate(all="ignore"):
        if kind == "cell" and array.size and array.dtype.kind == "f":
            array.flat[int(rng.integers(array.size))] = value
        elif kind == "all" and array.dtype.kind == "f":
            array[...] = value
        elif kind == "type":
            array = np.nan_to_num(array).astype(pick(rng, ["i4", "f4", "?", "f8"]))
        elif kind == "cut":
            array = array[..., :-1] if array.ndim else array
        else:
            array, kind = array.ravel()[None], "shape"
    return array, f"{kind} {value}"


def _forged_value(rng: Rng, header: dict[str, Any]) -> str:
    """Change a value somewhere in the header, in place; return what was changed."""
    places: list[tuple[Any, Any, str]] = []

    def collect(node: Any, path: str) -> None:
        keys = node if isinstance(node, dict) else range(len(node))
        for key in keys:
            if path == "" and key in ("arrays", "checksum"):
                continue
            places.append((node, key, f"{path}.{key}"))
            if isinstance(node[key], (dict, list)):
                collect(node[key], f"{path}.{key}")

    collect(header, "")
    node, key, path = pick(rng, places)
    values = [None, True, -1, 0, 3, 1.5, 1e308, 10**30, "", "word", "DSWL", [], {},
              [1, 2], {"float": "nan"}, {"float": "inf"}]  # fmt: skip
    if isinstance(node, dict) and often(rng, 0.15):
        del node[key]
        return f"{path} removed"
    node[key] = pick(rng, values)
    return f"{path} = {node[key]!r}"
