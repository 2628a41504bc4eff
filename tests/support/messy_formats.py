"""Messy files in other formats: compressed, JSON, Parquet, Feather, sheets, NumPy."""

import bz2
import datetime
import decimal
import gzip
import io
import json
import lzma

import numpy as np
import pyarrow
import pyarrow.feather as feather
import pyarrow.parquet as parquet
from messy_case import (
    ANY,
    NAMES,
    ROWS,
    bad,
    beside,
    good,
    holed,
    nan,
    text,
)
from messy_sheets import Fault, Formula, ods, xlsx, zipped

import trueaxis

PLAIN = text().encode()
DAYS = [datetime.date(2024, 1, day) for day in (31, 30, 29, 27, 26, 25)]
SITES = ["Bonn", "Kiel", "Bonn", "Ulm", "Kiel", "Bonn"]


def save_model(path):
    X = np.random.default_rng(0).standard_normal((40, 3))
    trueaxis.save(trueaxis.DSWL(1).fit(X), path.with_suffix(".npz"))
    path.with_suffix(".npz").rename(path)


def zstd(content):
    return pyarrow.Codec("zstd").compress(content, asbytes=True)


COMPRESSED = [
    good("gz", gzip.compress(PLAIN), file="a.csv.gz"),
    good("bz2", bz2.compress(PLAIN), file="a.csv.bz2"),
    good("xz", lzma.compress(PLAIN), file="a.csv.xz"),
    bad("zst", zstd(PLAIN), "a.csv.zst", "unpack", file="a.csv.zst"),
    bad("zip", zipped({"a.csv": text()}), "a.csv.zip", "unpack", file="a.csv.zip"),
    good("gz in capitals", gzip.compress(PLAIN), file="A.CSV.GZ"),
    good("gz in two parts", gzip.compress(PLAIN[:60]) + gzip.compress(PLAIN[60:]),
         file="a.csv.gz"),
    good("gz of UTF-16 with tabs", gzip.compress(text(sep="\t").encode("utf-16")),
         file="a.txt.gz", notes="UTF-16"),
    good("gz of JSON lines", file="a.jsonl.gz",
         content=gzip.compress(b"".join(json.dumps(dict(zip(NAMES, row, strict=True)))
                                        .encode() + b"\n" for row in ROWS))),
    bad("bad cell in gz", gzip.compress(PLAIN.replace(b"4.5", b"err")), "line 4",
        "'flow'", file="a.csv.gz"),
    bad("gz cut off", gzip.compress(PLAIN)[:-20], "a.csv.gz", "damaged",
        file="a.csv.gz"),
    bad("xz cut off", lzma.compress(PLAIN)[:-20], "a.csv.xz", "damaged",
        file="a.csv.xz"),
    bad("text that ends in gz", PLAIN, "a.csv.gz", "damaged", file="a.csv.gz"),
    bad("empty gz", gzip.compress(b""), "a.csv.gz", "empty", file="a.csv.gz"),
    bad("gz of zero bytes", b"", "a.csv.gz", file="a.csv.gz"),
]  # fmt: skip

# ---------------------------------------------------------------- not a table


def parquet_bytes():
    buffer = io.BytesIO()
    parquet.write_table(pyarrow.table(dict(zip(NAMES, zip(*ROWS, strict=True),
                                               strict=True))), buffer)  # fmt: skip
    return buffer.getvalue()


def parquet_without_metadata():
    content = bytearray(parquet_bytes())
    size = int.from_bytes(content[-8:-4], "little")
    content[-8 - size : -size] = b"\xff" * 8
    return bytes(content)


def feather_without_footer():
    buffer = io.BytesIO()
    feather.write_feather(pyarrow.table({"flow": [1.5, 2.5, 4.0]}), buffer)
    content = buffer.getvalue()
    return content[:-60] + b"\xff" * 50 + content[-10:]


BOOK = xlsx({"A": [list(NAMES), *ROWS]})
HTML = "<html><table><tr><td>flow</td></tr><tr><td>1</td></tr></table></html>"
FOREIGN = [
    bad("NUL bytes", b"flow,power\n1.5,\0\0\0\n2.5,3\n", "a.csv"),
    bad("a picture", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\1\0\0\0\1\x08\6\0\0\0",
        "a.csv", "not text"),
    bad("a PDF", b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj<</Type/Catalog>>endobj\n",
        "no column of numbers"),
    bad("a model", save_model, "a.npz", "model file", file="a.npz"),
    bad("a model that ends in csv", save_model, "a.csv"),
    bad("Excel that ends in csv", BOOK, "a.csv", "xlsx"),
    bad("Parquet that ends in csv", parquet_bytes(), "a.csv", "parquet"),
    bad("gz that ends in csv", gzip.compress(PLAIN), "a.csv", "not text"),
    bad("text that ends in xlsx", PLAIN, "a.xlsx", "csv", file="a.xlsx"),
    bad("text that ends in parquet", PLAIN, "a.parquet", file="a.parquet"),
    bad("text that ends in feather", PLAIN, "a.feather", file="a.feather"),
    bad("HTML that ends in xls", HTML, "a.xls", file="a.xls"),
    bad("empty xlsx", b"", "a.xlsx", file="a.xlsx"),
    bad("empty parquet", b"", "a.parquet", file="a.parquet"),
    bad("xlsx cut off", BOOK[:-200], "a.xlsx", "again", file="a.xlsx"),
    bad("parquet cut off", parquet_bytes()[:-100], "a.parquet", "again",
        file="a.parquet"),
    bad("parquet without metadata", parquet_without_metadata(), "a.parquet", "again",
        file="a.parquet"),
    bad("feather without footer", feather_without_footer(), "a.feather", "again",
        file="a.feather"),
]  # fmt: skip

# ---------------------------------------------------------------- JSON

RECORDS = [dict(zip(NAMES, row, strict=True)) for row in ROWS]


def lines(records):
    return "".join(json.dumps(record) + "\n" for record in records)


def with_value(row, key, value):
    """Return the records with one value replaced, or taken out by `...`."""
    out = [dict(record) for record in RECORDS]
    out[row][key] = value
    return [{k: v for k, v in record.items() if v is not ...} for record in out]


JSON = [
    good("JSON lines", lines(RECORDS), file="a.jsonl"),
    good("ndjson with blank lines", lines(RECORDS).replace("\n", "\n\n"),
         file="a.ndjson"),
    good("JSON without a newline at the end", lines(RECORDS).rstrip(), file="a.jsonl"),
    good("JSON lines with BOM", "\ufeff" + lines(RECORDS), file="a.jsonl"),
    good("keys in another order", lines([RECORDS[0], *(
         dict(reversed(each.items())) for each in RECORDS[1:])]), file="a.jsonl"),
    good("missing keys", lines(with_value(2, "flow", ...)), X=holed((2, 0)),
         file="a.jsonl"),
    good("key that comes late", lines([RECORDS[0], *(
         each | {"late": 2.5 * i * i} for i, each in enumerate(RECORDS[1:]))]),
         columns=(*NAMES, "late"), X=beside([nan, 0, 2.5, 10, 22.5, 40]),
         file="a.jsonl"),
    good("nulls", lines(with_value(2, "flow", None)), X=holed((2, 0)), file="a.jsonl"),
    good("NaN of Python", lines(with_value(2, "flow", nan)), X=holed((2, 0)),
         file="a.jsonl"),
    bad("Infinity of Python", lines(with_value(2, "flow", np.inf)), "line 3", "'flow'",
        file="a.jsonl"),
    good("numbers as text", lines(with_value(2, "flow", "4.5")), notes=ANY,
         file="a.jsonl"),
    good("words for missing in JSON", lines(with_value(2, "flow", "n/a")),
         X=holed((2, 0)), file="a.jsonl"),
    bad("text among numbers in JSON", lines(with_value(2, "flow", "err")), "line 3",
        "'flow'", "'err'", file="a.jsonl"),
    good("text in JSON", lines(each | {"site": "Bonn"} for each in RECORDS),
         notes="'site'", file="a.jsonl"),
    good("booleans in JSON", lines(each | {"ok": each["flow"] > 3} for each in RECORDS),
         columns=(*NAMES, "ok"), X=beside([row[0] > 3 for row in ROWS]),
         file="a.jsonl"),
    good("nested values", lines(each | {"at": {"x": 1, "y": [2]}} for each in RECORDS),
         notes="'at'", file="a.jsonl"),
    bad("nested value among numbers", lines(with_value(2, "flow", [4.5])), "line 3",
        "'flow'", file="a.jsonl"),
    bad("broken line", lines(RECORDS).replace('"flow": 4.5', '"flow": 4.5,,'),
        "line 3", file="a.jsonl"),
    bad("line that is no object", lines([*RECORDS[:2], [1, 2, 3]]), "line 3",
        file="a.jsonl"),
    good("list of objects", json.dumps(RECORDS, indent=1), file="a.json"),
    good("JSON lines that end in json", lines(RECORDS), file="a.json"),
    bad("one object of lists", json.dumps({"flow": [1, 2], "power": [3, 4]}), "'flow'",
        file="a.json"),
    bad("list that is cut off", json.dumps(RECORDS)[:-30], "a.json", file="a.json"),
    bad("empty list", "[]", "a.json", file="a.json"),
    bad("empty JSON lines", "", "a.jsonl", "empty", file="a.jsonl"),
]  # fmt: skip

# ---------------------------------------------------------------- Arrow


def frame(**more):
    """Return an Arrow table with further columns; `...` leaves one out."""
    columns = {n: pyarrow.array([row[i] for row in ROWS]) for i, n in enumerate(NAMES)}
    columns |= {name: pyarrow.array(x) if isinstance(x, list) else x
                for name, x in more.items()}  # fmt: skip
    return pyarrow.table(columns)


def as_parquet(table):
    return lambda path: parquet.write_table(table, path)


def in_parquet(name, column, *, notes=(), X=None, file="a.parquet", **options):
    """Return a case with a further column, analyzed if `X` has its numbers."""
    table = {} if X is None else {"columns": (*NAMES, "more"), "X": beside(X)}
    content = as_parquet(frame(more=column))
    return good(name, content, notes=notes, file=file, **table, **options)


def typed(values, kind):
    return pyarrow.array(values, kind)


def as_stream(path):
    with pyarrow.ipc.new_stream(path, frame().schema) as sink:
        sink.write_table(frame())


def twice(path):
    names = ["flow", "power", "flow"]
    columns = [[row[i] for row in ROWS] for i in range(3)]
    parquet.write_table(pyarrow.table(columns, names=names), path)


FAULTY = ["3.5", "1", "err", "9", "2", "4"]
MONEY = [decimal.Decimal("12.50"), None, *map(decimal.Decimal, ("5", "31", "8", "40"))]
ARROW = [
    good("Parquet", as_parquet(frame()), file="a.parquet"),
    good("Parquet that ends in pq", as_parquet(frame()), file="a.pq"),
    in_parquet("nulls in Parquet", [1.5, None, 2.5, nan, 3.5, 9.5],
               X=[1.5, nan, 2.5, nan, 3.5, 9.5]),
    in_parquet("integers with nulls", typed([3, None, 1, 7, 9, 2], "int64"),
               X=[3, nan, 1, 7, 9, 2]),
    in_parquet("small floats", typed([3.5, 1, 7, 9, 2, 4], pyarrow.float32()),
               X=[3.5, 1, 7, 9, 2, 4]),
    in_parquet("booleans in Parquet", [True, False, None, True, False, True],
               X=[1, 0, nan, 1, 0, 1]),
    in_parquet("decimals", MONEY, X=[12.5, nan, 5, 31, 8, 40]),
    in_parquet("text in Parquet", SITES, notes="'more' (text)"),
    in_parquet("numbers as text in Parquet", ["3.5", "1", "NA", "9", "2", "4"],
               X=[3.5, 1, nan, 9, 2, 4], notes=ANY),
    in_parquet("categories of text", pyarrow.array(SITES).dictionary_encode(),
               notes="'more' (text)"),
    in_parquet("categories of numbers",
               pyarrow.array([3.5, 1, 3.5, 9, 1, 3.5]).dictionary_encode(),
               X=[3.5, 1, 3.5, 9, 1, 3.5]),
    in_parquet("dates in Parquet", DAYS, notes="'more' (calendar)"),
    in_parquet("times in Parquet", notes="'more' (calendar)",
               column=typed([5, 3, 4, 9, 7, 1], pyarrow.timestamp("s"))),
    in_parquet("durations", typed([5, 3, 4, 9, 7, 1], pyarrow.duration("s")),
               notes="'more'"),
    in_parquet("lists in Parquet", [[1.0], [2.0], None, [3.0], [], [4.0]],
               notes="'more'"),
    in_parquet("bytes", [b"a", b"b", b"c", b"a", b"b", b"c"], notes="'more'"),
    in_parquet("a column of nulls", typed([None] * 6, pyarrow.null()), notes="'more'"),
    in_parquet("--id in Parquet", SITES, id="more", ids=SITES),
    bad("bad cell in Parquet", as_parquet(frame(more=FAULTY)), "row 2",
        "'more'", "'err'", file="a.parquet"),
    bad("infinite in Parquet", as_parquet(frame(more=[1.5, 2, np.inf, 4, 7, 1])),
        "row 2", "'more'", file="a.parquet"),
    bad("two Parquet columns of one name", twice, "'flow'", file="a.parquet"),
    bad("Parquet without rows", as_parquet(frame().slice(0, 0)), "no rows",
        file="a.parquet"),
    good("Feather", lambda path: feather.write_feather(frame(), str(path)),
         file="a.feather"),
    good("Feather, zstd", file="a.feather", notes="'site'",
         content=lambda path: feather.write_feather(
             frame(site=SITES), str(path), compression="zstd")),
    good("Arrow file", lambda path: feather.write_feather(frame(), str(path)),
         file="a.arrow"),
    bad("Arrow stream", as_stream, "a.arrow", "again", file="a.arrow"),
    bad("bad cell in Feather", lambda path: feather.write_feather(
        frame(more=FAULTY), str(path)), "row 2", "'more'", "'err'", file="a.feather"),
]  # fmt: skip

# ---------------------------------------------------------------- spreadsheets

TABLE = [list(NAMES), *ROWS]
OTHER = [["a", "b"], [1.5, 9], [2.5, 3], [4.5, 7]]


def sheet(name, rows, *, notes=(), file="a.xlsx", **more):
    write = ods if file.endswith("ods") else xlsx
    return good(name, write({"A": rows}), notes=notes, file=file, **more)


def more_cells(name, cells):
    return [[*row, cell] for row, cell in zip(TABLE, [name, *cells], strict=True)]


SHEETS = [
    sheet("Excel", TABLE),
    sheet("Excel with macros", TABLE, file="a.xlsm"),
    sheet("empty rows and columns at the start of a sheet",
          [[], [], *([None, *row] for row in TABLE)], notes=ANY),
    good("title row in merged cells", notes="Report",
         content=xlsx({"A": [["Report of 2024"], *TABLE]}, ["A1:C1"]), file="a.xlsx"),
    sheet("unit row in Excel", [TABLE[0], ["l/s", "kW", "°C"], *ROWS], notes="units"),
    sheet("footer in Excel", [*TABLE, [], ["Source: lab"]], notes="Source: lab"),
    sheet("text in Excel", more_cells("site", SITES), notes="'site' (text)"),
    sheet("dates in Excel", more_cells("date", DAYS), notes="'date' (calendar)"),
    sheet("times in Excel", notes="'at' (calendar)",
          rows=more_cells("at", [datetime.time(12, m) for m in (1, 9, 7, 3, 5, 8)])),
    sheet("booleans in Excel", more_cells("ok", [True, False, True, True, False, True]),
          columns=(*NAMES, "ok"), X=beside([1, 0, 1, 1, 0, 1])),
    sheet("results of formulas", columns=(*NAMES, "sum"),
          X=beside([3.5, 9, 4, 1, 7, 2]),
          rows=more_cells("sum", [Formula("A1+1", x) for x in (3.5, 9, 4, 1, 7, 2)])),
    sheet("errors of formulas", X=holed((2, 0)),
          rows=[*TABLE[:3], [Formula("1/0", Fault("#DIV/0!")), 29, 6.75], *TABLE[4:]]),
    sheet("empty cells in Excel", [*TABLE[:3], [None, 29, 6.75], *TABLE[4:]],
          X=holed((2, 0))),
    sheet("numbers as text in Excel", [*TABLE[:3], ["4.5", 29, 6.75], *TABLE[4:]],
          notes=ANY),
    sheet("decimal commas as text in Excel", columns=(*NAMES, "x"),
          X=beside([1.5, 2.25, 3.5, 9, 4.5, 7.5]), notes=ANY,
          rows=more_cells("x", ["1,5", "2,25", "3,5", "9", "4,5", "7,5"])),
    sheet("empty row in a sheet", [*TABLE[:4], [], *TABLE[4:]], notes=ANY),
    sheet("numbers as names in Excel", [[1990, 1991, 1992], *ROWS], header="yes",
          columns="1990 1991 1992", notes=ANY),
    sheet("--id of numbers in Excel", more_cells("nr", [93, 12, 55, 78, 31, 64]),
          id="nr", ids=["93", "12", "55", "78", "31", "64"]),
    bad("bad cell in Excel",
        xlsx({"A": [[], *TABLE[:3], ["err", 29, 6.75], *TABLE[4:]]}), "row 5",
        "'flow'", "'err'", "'A'", file="a.xlsx"),
    good("first of two sheets", xlsx({"A": TABLE, "B": OTHER}),
         notes=("'A'", "--read sheet"), file="a.xlsx"),
    good("--sheet by name", xlsx({"A": TABLE, "B": OTHER}), sheet="B", columns="a b",
         X=OTHER[1:], notes=ANY, file="a.xlsx"),
    good("--sheet by number", xlsx({"A": TABLE, "B": OTHER}), sheet="2", columns="a b",
         X=OTHER[1:], notes=ANY, file="a.xlsx"),
    good("--sheet by a name that is a number", xlsx({"2": TABLE, "1": OTHER}),
         sheet="1", columns="a b", X=OTHER[1:], notes=ANY, file="a.xlsx"),
    bad("--sheet unknown", xlsx({"A": TABLE, "B": OTHER}), "'Z'", "A", "B", sheet="Z",
        file="a.xlsx"),
    bad("--sheet beyond the last", xlsx({"A": TABLE, "B": OTHER}), "3", "A", "B",
        sheet="3", file="a.xlsx"),
    bad("--sheet of a text", PLAIN, "--read sheet", sheet="2"),
    bad("empty sheet", xlsx({"A": []}), "a.xlsx", "empty", file="a.xlsx"),
    good("empty sheet before another", xlsx({"A": [], "B": OTHER}), columns="a b",
         X=OTHER[1:], notes=("'B'", "--read sheet"), file="a.xlsx"),
    bad("header only in Excel", xlsx({"A": TABLE[:1]}), "no rows", file="a.xlsx"),
    sheet("ODS", TABLE, file="a.ods"),
    sheet("ODS with holes", [*TABLE[:3], [None, 29, 6.75], *TABLE[4:]], X=holed((2, 0)),
          file="a.ods"),
    sheet("dates in ODS", more_cells("date", DAYS), notes="'date' (calendar)",
          file="a.ods"),
    sheet("booleans in ODS", more_cells("ok", [True, False, True, True, False, True]),
          columns=(*NAMES, "ok"), X=beside([1, 0, 1, 1, 0, 1]), file="a.ods"),
    good("second sheet of ODS", ods({"A": TABLE, "B": OTHER}), sheet="B", columns="a b",
         X=OTHER[1:], notes=ANY, file="a.ods"),
    bad("bad cell in ODS", ods({"A": [*TABLE[:3], ["err", 29, 6.75], *TABLE[4:]]}),
        "row 4", "'flow'", "'err'", file="a.ods"),
]  # fmt: skip

# ---------------------------------------------------------------- NumPy


def numpy_good(name, X, expected=ROWS):
    return good(name, lambda path: np.save(path, X), columns="x0 x1 x2", X=expected,
                file="a.npy")  # fmt: skip


def numpy_bad(name, X, *error):
    return bad(name, lambda path: np.save(path, X), *error, file="a.npy")


ABOVE = np.array(ROWS) > np.median(ROWS, axis=0)
NUMPY = [
    numpy_good("npy", np.array(ROWS)),
    numpy_good("npy with holes", np.array(holed((2, 0), (4, 1))),
               expected=holed((2, 0), (4, 1))),
    numpy_good("npy in the order of Fortran", np.asfortranarray(ROWS)),
    numpy_good("npy of the other byte order", np.array(ROWS, dtype=">f8")),
    numpy_good("npy of booleans", ABOVE, expected=ABOVE.astype(float)),
    bad("npz", lambda path: np.savez(path, X=ROWS), "a.npz", "as .npy", file="a.npz"),
    numpy_bad("npy of complex numbers", np.array(ROWS) * 1j, "a.npy", "complex"),
    numpy_bad("npy of objects", np.array(ROWS, dtype=object), "a.npy", "objects"),
    numpy_bad("npy of text", np.array([["1", "2"]]), "a.npy"),
    numpy_bad("npy of one dimension", np.arange(5.0), "a.npy", "dimension"),
    numpy_bad("npy without rows", np.empty((0, 3)), "rows"),
    numpy_bad("infinite in npy", np.array([*ROWS[:2], [np.inf, 1, 2]]), "row 2",
              "'x0'"),
    bad("npy cut off", b"\x93NUMPY\1\0v\0{'descr': '<f8', 'fort", "a.npy", "damaged",
        file="a.npy"),
]  # fmt: skip

FORMAT_CASES = [*COMPRESSED, *FOREIGN, *JSON, *ARROW, *SHEETS, *NUMPY]
