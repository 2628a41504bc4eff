r"""Compare libraries that could read tables: speed, memory, dialects, errors, formats.

    python -m venv /tmp/readers
    /tmp/readers/bin/pip install rich numpy duckdb polars fastexcel pyarrow pandas \
        python-calamine
    MARKDOWN=1 /tmp/readers/bin/python benchmarks/readers.py [--rows 500000]

Candidates that are not installed are skipped, with a line that says so. Every figure
comes from a fresh process; times are the least of three runs and exclude the import.
Dialects are read with default settings, and results compared with what is in the file.
pandas and pyarrow are hidden from the other candidates, which use them if they find
them (pyarrow imports pandas to convert a column). `trueaxis` is measured beside them if
it can be imported, with both. Needs about 2 GB of disk space.
"""

from __future__ import annotations

import argparse
import bz2
import gzip
import json
import lzma
import os
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from importlib import import_module, metadata
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any

import numpy as np

from readers_libraries import BLOCK, CANDIDATES
from sheet import CONSOLE, Sheet

sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "support"))
from messy_sheets import ods, xlsx, zipped

COLUMNS, REPEAT, TIMES_LARGER = 20, 3, 4


# ---------------------------------------------------------------- dialects

GOOD = [("flow", [1.5, 2.5, 3.5]), ("size", [10.0, 20.0, 30.0])]
PLAIN = "flow,size\n1.5,10\n2.5,20\n3.5,30\n"
COMMAS = PLAIN.replace(",", ";").replace(".", ",")
REMARKS = f"# a, remark\n{PLAIN[:17]}# another\n{PLAIN[17:]}"
QUOTED = 'flow,remark,size\n1.5,"a\nb",10\n2.5,c,20\n3.5,d,30\n'
LATE_COLUMNS = [("flow", [*range(60_000), 1.5]), ("size", [7] * 60_001)]
LATE = "flow,size\n" + "".join(f"{x},7\n" for x in LATE_COLUMNS[0][1])
REFUSE: list = []  # the file contradicts itself: a reader should say so


@dataclass(frozen=True)
class Dialect:
    """A small file, and the columns of numbers that are in it."""

    name: str
    file: str
    content: bytes
    expected: list


def dialects() -> list[Dialect]:
    text = PLAIN.encode()
    cases = [
        ("`;`, decimal comma", "a.csv", COMMAS, GOOD),
        ("tab", "a.tsv", PLAIN.replace(",", "\t"), GOOD),
        ("runs of spaces", "a.txt", "flow  size\n 1.5    10\n 2.5    20\n 3.5    30\n",
         GOOD),
        ("UTF-16", "a.csv", PLAIN.encode("utf-16"), GOOD),
        ("Latin-1", "a.csv", PLAIN.replace("flow", "größe").encode("latin-1"),
         [("größe", GOOD[0][1]), GOOD[1]]),
        (".gz", "a.csv.gz", gzip.compress(text), GOOD),
        (".bz2", "a.csv.bz2", bz2.compress(text), GOOD),
        (".zst", "a.csv.zst", bytes.fromhex(ZST), GOOD),
        (".xz", "a.csv.xz", lzma.compress(text), GOOD),
        (".zip", "a.csv.zip", zipped({"a.csv": PLAIN}), GOOD),
        ("`#` lines", "a.csv", REMARKS, GOOD),
        ("preamble", "a.csv", f"Report of the pump\n\n{PLAIN}", GOOD),
        ("unit line", "a.csv", PLAIN.replace("\n", "\nl/s,mm\n", 1), GOOD),
        ("short line", "a.csv", PLAIN.replace("2.5,20", "2.5"), REFUSE),
        ("long line", "a.csv", PLAIN.replace("2.5,20", "2.5,20,7"), REFUSE),
        ("quoted newline", "a.csv", QUOTED, GOOD),
        ("decimals after 60,000 integers", "a.csv", LATE, LATE_COLUMNS),
        ("two columns of one name", "a.csv", PLAIN.replace("size", "flow"), REFUSE),
    ]  # fmt: skip
    return [
        Dialect(name, file, c.encode() if isinstance(c, str) else c, expected)
        for name, file, c, expected in cases
    ]


# PLAIN, compressed by zstd: Python 3.11 has no module that does it.
ZST = "28b52ffd201ff90000666c6f772c73697a650a312e352c31300a322e352c32300a332e352c33300a"


def judge(found: list[tuple[str, list]] | None, dialect: Dialect) -> str:
    """Return right, refused, wrong (where a user must notice) or silently wrong."""
    if found is None:
        return "refused" if dialect.expected else "right (refused)"
    cells = [column for name, column in found if name != "remark"]
    if not all(map(_is_number, sum(cells, []))):
        return "wrong (as text)"
    if not dialect.expected:
        both = "one name" in dialect.name and len(cells) == 2
        return "right (both kept)" if both else "silently wrong"
    if all(pair in found for pair in dialect.expected):
        return "right"
    if cells == [column for _, column in dialect.expected]:
        return "wrong (names)"
    return "silently wrong" if any(cells) else "wrong (no rows)"


def _is_number(cell: object) -> bool:
    return cell is None or isinstance(cell, (int, float))


# ---------------------------------------------------------------- measurements


def peak_memory() -> int:
    """Return the peak resident memory of this process in bytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return 1024 * int(line.split()[1])
    raise OSError("no VmHWM")


def hide(names: set[str]) -> None:
    """Make packages appear not to be installed: others use them if they find them."""

    class Others(PathFinder):
        @classmethod
        def find_spec(cls, name: str, *rest: Any) -> Any:
            return None if name in names else super().find_spec(name, *rest)

    sys.meta_path[sys.meta_path.index(PathFinder)] = Others  # type: ignore[call-overload]


def child(name: str, task: str, path: str, threads: bool) -> dict:
    """Do one task in this process, and return what was measured."""
    if name != "trueaxis":
        hide({"pyarrow", "pandas"} - {CANDIDATES[name].module.split(".")[0]})
    if not threads:
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    candidate = CANDIDATES[name]
    start = time.perf_counter()
    import_module(candidate.module)
    found: dict[str, Any] = {"import": time.perf_counter() - start}
    before = peak_memory()
    wall, cpu = time.perf_counter(), time.process_time()
    if task in ("array", "comma"):
        X = candidate.array(path, task == "comma", threads)
        found |= {"shape": X.shape, "sum": float(X.sum())}
    elif task == "blocks":
        sums = [(len(X), float(X.sum())) for X in candidate.blocks(path)]
        found |= {"rows": sum(n for n, _ in sums), "sum": sum(s for _, s in sums)}
    elif task == "exact":
        X = candidate.array(path, False, threads)
        found["apart"] = int((X != np.load(f"{path}.npy")).sum())
    elif task in ("floats", "columns"):
        try:
            found["columns"] = getattr(candidate, task)(path)
        except Exception as error:
            found["error"] = f"{type(error).__name__}: {error}"
    found |= {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}
    return found | {"peak": peak_memory(), "before": before}


def measured(name: str, task: str, path: Path | str, threads: bool = True) -> dict:
    """Run one task in a fresh process."""
    command = [sys.executable, __file__, "--child", name, task, str(path)]
    more = {} if threads else {"POLARS_MAX_THREADS": "1"}
    done = subprocess.run(
        [*command, str(int(threads))],
        env=os.environ | more,
        capture_output=True,
        text=True,
    )
    if done.returncode:
        return {"error": done.stderr.strip().splitlines()[-1]}
    return json.loads(done.stdout.splitlines()[-1])


def least(name: str, task: str, path: Path, threads: bool) -> str:
    """Return CPU and wall time in seconds, each the least of several runs."""
    runs = [measured(name, task, path, threads) for _ in range(REPEAT)]
    if "cpu" not in runs[0]:
        return runs[0]["error"]
    best = [min(run[clock] for run in runs) for clock in ("cpu", "wall")]
    return " / ".join(f"{seconds:.2f}" for seconds in best)


def size_on_disk(packages: tuple[str, ...]) -> int:
    """Return the bytes of packages and what they require, without NumPy."""
    seen, pending, size = {"numpy"}, list(packages), 0
    while pending:
        name = pending.pop().lower().replace("_", "-")
        if name in seen:
            continue
        seen.add(name)
        try:
            files = metadata.files(name) or []
        except metadata.PackageNotFoundError:  # for another platform
            continue
        paths = [Path(str(file.locate())) for file in files]
        size += sum(path.stat().st_size for path in paths if path.exists())
        needs = metadata.requires(name) or []
        pending += [_NAME.match(each)[0] for each in needs if "extra ==" not in each]
    return size


_NAME = re.compile(r"[\w.-]+")  # of a package, at the start of a requirement


# ---------------------------------------------------------------- files


def write_files(folder: Path, n: int) -> None:
    """Write numbers with all their digits, with points and commas, and four times."""
    rng = np.random.default_rng(0)
    names = ",".join(f"x{i}" for i in range(COLUMNS))
    with open(folder / "all.csv", "w") as one, open(folder / "large.csv", "w") as four:
        one.write(names + "\n")
        four.write(names + "\n")
        for first in range(0, n, BLOCK):
            X = rng.standard_normal((min(BLOCK, n - first), COLUMNS))
            text = "".join(",".join(map(repr, row)) + "\n" for row in X.tolist())
            one.write(text)
            four.write(text * TIMES_LARGER)
            if not first:
                (folder / "some.csv").write_text(f"{names}\n{text}")
                np.save(folder / "some.csv.npy", X)
    text = (folder / "all.csv").read_bytes().replace(b",", b";").replace(b".", b",")
    (folder / "comma.csv").write_bytes(text)
    rows = "".join(f"{i}.5,{i}\n" for i in range(400))
    bad = f"flow,size\n{rows}err,7\n{rows}"  # line 402
    (folder / "bad.csv").write_text(bad)
    (folder / "ragged.csv").write_text(bad.replace("err,7", "1.5,7,9"))


def write_formats(folder: Path) -> dict[str, Path]:
    """Write the same small table as spreadsheets, JSON lines and Feather."""
    names = [name for name, _ in GOOD]
    rows = [list(row) for row in zip(*(cells for _, cells in GOOD), strict=True)]
    lines = [json.dumps(dict(zip(names, row, strict=True))) + "\n" for row in rows]
    contents = {
        "xlsx": xlsx({"A": [names, *rows]}),
        "ods": ods({"A": [names, *rows]}),
        "jsonl": "".join(lines).encode(),
    }
    paths = {ending: folder / f"a.{ending}" for ending in (*contents, "feather")}
    for ending, content in contents.items():
        paths[ending].write_bytes(content)
    try:
        import pyarrow
        import pyarrow.feather as feather
    except ImportError:
        return paths
    feather.write_feather(pyarrow.table(dict(GOOD)), str(paths["feather"]))
    return paths


# ---------------------------------------------------------------- the trial


def figures(name: str, folder: Path) -> dict[str, str]:
    """Return everything about one candidate, by the heading of the row."""
    out = {}
    for task, file in (("array", "all.csv"), ("comma", "comma.csv")):
        for threads in (False, True):
            how = "all CPUs" if threads else "one CPU"
            what = "decimal comma" if task == "comma" else "CSV"
            title = f"{what}, {how}: CPU / wall, s"
            out[title] = least(name, task, folder / file, threads)
    whole, blocks = (measured(name, task, folder / "all.csv") for task in TASKS)
    out["peak memory of the whole read, MB"] = _megabytes(whole)
    out["peak memory in blocks, MB"] = _megabytes(blocks)
    large = measured(name, "blocks", folder / "large.csv")
    out[f"the same, file {TIMES_LARGER} times as long"] = _megabytes(large)
    exact = measured(name, "exact", folder / "some.csv")
    out["numbers that differ from float(), of a million"] = str(
        exact.get("apart", exact.get("error"))
    )
    out |= {f"**{each.name}**": _dialect(name, each, folder) for each in dialects()}
    for title, task, file in (
        ("message about a bad cell names", "floats", "bad.csv"),
        ("message about a long line names", "columns", "ragged.csv"),
    ):
        out[title] = _places(measured(name, task, folder / file))
    for ending, path in write_formats(folder).items():
        expected = Dialect(ending, path.name, b"", GOOD)
        found = measured(name, "columns", path)
        out[f"reads .{ending}"] = judge(_columns(found), expected)
    runs = [measured(name, "import", "-") for _ in range(REPEAT)]
    out["import, s"] = f"{min(run['import'] for run in runs):.2f}"
    packages = CANDIDATES[name].packages
    out["size on disk without NumPy, MB"] = f"{size_on_disk(packages) / 1e6:.0f}"
    return out


TASKS = ("array", "blocks")


def _megabytes(found: dict) -> str:
    return f"{found['peak'] / 1e6:.0f}" if "peak" in found else found["error"][:60]


def _columns(found: dict) -> list[tuple[str, list]] | None:
    columns = found.get("columns")
    return None if columns is None else [(name, cells) for name, cells in columns]


def _dialect(name: str, dialect: Dialect, folder: Path) -> str:
    path = folder / dialect.file
    path.write_bytes(dialect.content)
    found = measured(name, "columns", path)
    if os.environ.get("VERBOSE"):
        CONSOLE.print(name, dialect.name, str(found)[:300], markup=False)
    return judge(_columns(found), dialect)


def _places(found: dict) -> str:
    message = found.get("error", "")
    if os.environ.get("VERBOSE"):
        CONSOLE.print(message, markup=False)
    if not message:
        return "no message"
    named = {"line": "402", "column": "flow"}
    return ", ".join(what for what, text in named.items() if text in message) or "none"


def installed() -> list[str]:
    """Return the candidates that can be imported; say which cannot."""
    names = []
    for name, candidate in CANDIDATES.items():
        try:
            found = [f"{each} {metadata.version(each)}" for each in candidate.packages]
            import_module(candidate.module)
        except (ImportError, metadata.PackageNotFoundError) as error:
            print(f"{name} is skipped, because it is not installed: {error}.")
            continue
        print(f"{name}: {', '.join(found) or 'this checkout'}")
        names.append(name)
    return names


def main() -> None:
    if sys.argv[1:2] == ["--child"]:
        name, task, path, threads = sys.argv[2:]
        print(json.dumps(child(name, task, path, threads == "1"), default=str))
        return
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=500_000)
    parser.add_argument("--folder", help="for temporary files (default: TMPDIR)")
    args = parser.parse_args()
    names = installed()
    with tempfile.TemporaryDirectory(dir=args.folder, prefix="readers-") as scratch:
        folder = Path(scratch)
        write_files(folder, args.rows)
        found = {name: figures(name, folder) for name in names}
    size = f"{args.rows:,} x {COLUMNS} numbers, {os.cpu_count()} CPUs"
    sheet = Sheet(f"Reading libraries, {size}", "quantity", *names)
    for quantity in next(iter(found.values())):
        sheet.add(quantity, *(found[name][quantity] for name in names))
    sheet.show()


if __name__ == "__main__":
    main()
