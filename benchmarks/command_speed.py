"""Measure the commands in fresh processes: imports, fit, report and demo.

Every process has one thread, runs in turns with the others, and counts with its
smallest CPU time, children included. The limits: imports before the first row is read
take at most 0.25 s; a fit of 500,000 x 20 numbers in CSV takes at most 3 times the CPU
time of reading them; a report on 10,000 x 50 with labels takes at most 3 s, and so does
the demo.

    python benchmarks/command_speed.py [--rows 500000] [--repeat 5]
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np

from sheet import CONSOLE, Sheet

COLUMNS = 20
WIDE = (200, 5000)
IMPORT_LIMIT, FIT_LIMIT, PAGE_LIMIT = 0.25, 3.0, 3.0

READ = "import sys; from trueaxis.io import read_table; read_table({!r})"
# A command that ends where its table would be read, with the reader imported.
IMPORTS = """
import os, sys
import trueaxis.io.formats
def stop(*_, **__):
    import pyarrow.csv
    os._exit(0)
trueaxis.io.formats.open_text = stop
sys.argv = {!r}
from trueaxis.cli.main import main
main()
"""
# All imports of a fit, without any work. The names are those of what takes long.
FLOOR = {
    "Python": "pass",
    "NumPy": "import numpy",
    "+ click, pyarrow": "import numpy, click, pyarrow.csv",
    "+ scipy.linalg, scipy.special": (
        "import numpy, click, pyarrow.csv, scipy.linalg, scipy.special"
    ),
    "+ scikit-learn, as the commands import it": (
        "import numpy, click, pyarrow.csv, scipy.linalg, scipy.special\n"
        "from trueaxis.cli.main import import_sklearn; import_sklearn()"
    ),
    "+ rich and trueaxis": (
        "import pyarrow.csv, rich.console, rich.table\n"
        "from trueaxis.cli.main import import_sklearn; import_sklearn()\n"
        "import trueaxis.cli.commands\n"
        "import trueaxis.report.sentences, trueaxis.persistence"
    ),
    "scikit-learn, as it imports itself": "import sklearn.base",
}


class Usage(NamedTuple):
    """What a process took: CPU and wall time in seconds, memory in MiB."""

    cpu: float
    wall: float
    memory: float


def usage(arguments: list[str], folder: Path) -> Usage:
    """Run Python with arguments in a folder, and return what it took."""
    environment = dict(os.environ, OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1")
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # as for an installed package
    start = time.perf_counter()
    with subprocess.Popen(
        [sys.executable, *arguments], cwd=folder, env=environment,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    ) as process:  # fmt: skip
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    wall = time.perf_counter() - start
    if process.returncode:
        raise RuntimeError(f"{arguments} failed with {process.returncode}")
    return Usage(used.ru_utime + used.ru_stime, wall, used.ru_maxrss / 1024)


def least(
    commands: dict[str, list[str]], folder: Path, repeat: int
) -> dict[str, Usage]:
    """Return the least usage of each command; they run in turns."""
    found: dict[str, list[Usage]] = {name: [] for name in commands}
    for round_ in range(repeat + 1):
        for name, arguments in commands.items():
            used = usage(arguments, folder)
            if round_:  # the first fills the caches of the disk
                found[name].append(used)
    return {name: Usage(*np.min(each, axis=0).tolist()) for name, each in found.items()}


def command(*arguments: str) -> list[str]:
    return ["-m", "trueaxis", *arguments]


def code(text: str) -> list[str]:
    return ["-c", text]


def data(n: int, D: int, k: int = 3, share: float = 0.02) -> np.ndarray:
    """Return low-rank rows with noise, some of them outliers, in random order."""
    rng = np.random.default_rng(0)
    axes = np.linalg.qr(rng.standard_normal((D, k)))[0].T
    X = (rng.standard_normal((n, k)) * np.linspace(3, 1.5, k)) @ axes
    X += 0.3 * rng.standard_normal((n, D))
    X[: int(share * n)] += 20 * np.linalg.qr(rng.standard_normal((D, 1)))[0].T
    return X[rng.permutation(n)].round(6)


def write(path: Path, X: np.ndarray, *, labels: bool = False) -> None:
    names = [f"c{i}" for i in range(X.shape[1])]
    with path.open("w") as file:
        file.write(",".join(["id", *names, "site"] if labels else names) + "\n")
        for i, row in enumerate(X.tolist()):
            cells = map(repr, row)
            if labels:
                cells = [f"row-{i}", *cells, ("north", "south", "east")[i % 3]]
            file.write(",".join(cells) + "\n")


def verdict(value: float, limit: float) -> str:
    return "ok" if value <= limit else "beyond"


def imports(folder: Path, repeat: int) -> None:
    """Print what the imports of the commands take."""
    table = Sheet(
        "Imports of a command, s", "until", "CPU", "wall", "limit of CPU", "verdict"
    )
    fit = ["trueaxis", "fit", "small.csv"]
    report = ["trueaxis", "report", "small.csv"]
    found = least(
        {
            "--version": command("--version"),
            "--help": command("--help"),
            "fit, first row read": code(IMPORTS.format(fit)),
            "report, first row read": code(IMPORTS.format(report)),
            "fit of 200 x 20, end": command("fit", "small.csv"),
        },
        folder,
        repeat,
    )
    for name, used in found.items():
        times = f"{used.cpu:.3f}", f"{used.wall:.3f}"
        limited = "end" not in name
        limit = f"{IMPORT_LIMIT:g}" if limited else ""
        table.add(
            name, *times, limit, verdict(used.cpu, IMPORT_LIMIT) if limited else ""
        )
    table.show()
    floor = Sheet("What all imports of a fit consist of, s of CPU", "imports", "CPU")
    texts = {name: code(text) for name, text in FLOOR.items()}
    for name, used in least(texts, folder, repeat).items():
        floor.add(name, f"{used.cpu:.3f}")
    floor.show()


def fits(folder: Path, repeat: int) -> None:
    """Print what fits take, relative to reading their tables."""
    small = least(
        {"read": code(READ.format("small.csv")), "fit": command("fit", "small.csv")},
        folder,
        repeat,
    )
    table = Sheet(
        "trueaxis fit, relative to reading the table",
        "table",
        "reading, s of CPU",
        "fit, s of CPU",
        "ratio",
        "limit",
        "verdict",
        "without imports, s",
        "ratio",
        "wall, s",
        "memory, MiB",
    )
    for name in ("noise", "outliers", "positive", "wide"):
        found = least(
            {
                "read": code(READ.format(f"{name}.csv")),
                "fit": command("fit", f"{name}.csv", "-o", "model.npz"),
            },
            folder,
            repeat,
        )
        read, fit = found["read"], found["fit"]
        bare = [found[each].cpu - small[each].cpu for each in ("read", "fit")]
        ratio = fit.cpu / read.cpu
        limited = name != "wide"
        table.add(
            name,
            f"{read.cpu:.2f}",
            f"{fit.cpu:.2f}",
            f"{ratio:.2f}",
            f"{FIT_LIMIT:g}" if limited else "",
            verdict(ratio, FIT_LIMIT) if limited else "",
            f"{bare[0]:.2f} and {bare[1]:.2f}",
            f"{bare[1] / bare[0]:.2f}",
            f"{fit.wall:.2f}",
            f"{fit.memory:.0f}",
        )
    table.show()


def pages(folder: Path, repeat: int) -> None:
    """Print what the pages take."""
    table = Sheet("Pages", "command", "CPU, s", "wall, s", "limit", "verdict of CPU")
    options = ("--id", "id", "--label", "site", "-o", "page.html")
    found = least(
        {
            "report, 10,000 x 50 with labels": command(
                "report", "labelled.csv", *options
            ),
            "demo": command("demo", "-o", "demo.html"),
        },
        folder,
        repeat,
    )
    for name, used in found.items():
        table.add(
            name,
            f"{used.cpu:.2f}",
            f"{used.wall:.2f}",
            f"{PAGE_LIMIT:g}",
            verdict(used.cpu, PAGE_LIMIT),
        )
    table.show()


def write_tables(folder: Path, n: int) -> None:
    noise = np.random.default_rng(0).standard_normal((n, COLUMNS)).round(6)
    write(folder / "noise.csv", noise)
    outliers = data(n, COLUMNS)
    write(folder / "outliers.csv", outliers)
    write(folder / "positive.csv", (100 + outliers).round(6))
    write(folder / "wide.csv", data(*WIDE))
    write(folder / "small.csv", data(200, COLUMNS))
    write(folder / "labelled.csv", data(10_000, 50), labels=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rows", type=int, default=500_000)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--write", type=Path, help="only write the tables")
    args = parser.parse_args()
    if args.write:
        write_tables(args.write, args.rows)
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        # In another process: memory of this one would count as that of its children.
        usage([__file__, "--rows", str(args.rows), "--write", name], Path.cwd())
        CONSOLE.print(
            f"noise, outliers and positive have {args.rows:,} x {COLUMNS} numbers, "
            f"wide {WIDE[0]:,} x {WIDE[1]:,}"
        )
        imports(folder, args.repeat)
        fits(folder, args.repeat)
        pages(folder, args.repeat)


if __name__ == "__main__":
    main()
