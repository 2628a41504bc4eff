"""Cases that read files: text in many dialects, binary formats, and damaged bytes."""

from __future__ import annotations

import gzip
import io
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

import trueaxis
from fuzz.properties import Watch, attempt, expect, same_bits
from fuzz.tables import Rng, draw_numbers, often, pick
from trueaxis.io import Choice
from trueaxis.io.table import read_table

sys.path.append(str(Path(__file__).parent.parent / "tests" / "support"))
from forged_models import forged, honest, outcome

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
        name: pick(rng, values) for name, values in options.items() if often(rng, 0.03)
    }
    return Choice(**drawn)


def read(rng: Rng, watch: Watch) -> str:
    """Read a table from a file."""
    path, story = write_file(rng, watch.given, ENDINGS, 0.45)
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
        0.25,
    )
    options: dict[str, Any] = {
        "block_rows": pick(rng, [None, 1, 7, 10**6] * 8 + [0, "x"])
    }
    if often(rng, 0.2):
        options["columns"] = pick(
            rng, [["x0"], [0], ["x0", "x0"], ["no"], [-1], [99], []]
        )
    source: Any = pick(
        rng, [path, str(path)] * 9 + [[path, path], path.parent, [path, 3]]
    )
    watch.story = story = f"{story}, {options}, as {source}"
    opened = attempt(lambda: trueaxis.open_rows(source, **options))
    n, D = opened.shape
    name = pick(rng, ["dswl", "dswl", "pca", "r1-pca", "pca-l1", "rspca"])
    model = trueaxis.methods.METHODS[name](min(n, D, 2) or 1)
    attempt(lambda: model.fit(opened))
    labels = attempt(lambda: model.predict(opened))
    expect((labels > 0).tolist() == model.support_.tolist(), "support_ is not predict")
    in_memory = attempt(lambda: opened.take(np.arange(n)))
    if not np.isnan(in_memory).any():
        attempt(
            lambda: trueaxis.methods.METHODS[name](model.n_components).fit(in_memory)
        )
        same_bits(labels, model.predict(in_memory))
    return story


# -------------------------------------------------------------------------- model files


def model_file(rng: Rng, watch: Watch) -> str:
    """Load a model file that was damaged, or forged with all checksums redone."""
    case = forged(int(rng.integers(2**31)))
    watch.story = f"model file, {case.how}"
    if outcome(case, watch.given) == "refused":
        watch.result = "refused"
    return watch.story


def draw_model_file(rng: Rng, folder: Path) -> tuple[Path, Any]:
    """Write the file of a fitted model; return it, and the rows of the fit."""
    data, X = pick(rng, [*honest().values()])
    path = folder / "model.npz"
    path.write_bytes(data)
    return path, X
