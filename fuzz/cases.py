"""The cases: a seed decides what is done, and everything about it."""

from __future__ import annotations

import gc
import importlib
import io
import os
import shutil
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import NamedTuple

import numpy as np

from fuzz import calls, commands, files, large
from fuzz.properties import Broken, Finding, Refused, Watch
from fuzz.tables import Rng, often

# What cases do, and how many of a thousand do it.
KINDS: dict[str, tuple[Callable[[Rng, Watch], str], float]] = {
    "fit": (calls.fit, 350),
    "scale": (calls.scale, 80),
    "encode": (calls.encode, 50),
    "diagnose": (calls.diagnose, 50),
    "plot": (calls.draw, 3),
    "report": (calls.report, 1),
    "read": (files.read, 150),
    "rows": (files.rows, 85),
    "model file": (files.model_file, 170),
    "command": (commands.command, 59),
    "large": (large.fit, 1),
    "process": (commands.process, 1),
}

# Imported before any case: imports open files, set variables and take memory, once.
PRELOADED = (
    "jinja2", "matplotlib.pyplot", "onnx", "pandas", "polars", "pyarrow.feather",
    "pyarrow.parquet", "python_calamine", "xlsxwriter",
)  # fmt: skip


def preload() -> None:
    """Import what cases need, so that no case is charged for it."""
    for module in PRELOADED:
        importlib.import_module(module)
    import pyarrow.csv

    pyarrow.csv.read_csv(io.BytesIO(b"a\n1\n"))  # opens a pipe for signals, once
    files.honest()
    gc.collect()
    gc.freeze()  # what is imported need not be searched after every case


class Outcome(NamedTuple):
    """What became of a case."""

    seed: int
    kind: str
    result: str  # "passed", "refused" or "found"
    seconds: float
    story: str
    findings: list[Finding]
    traceback: str = ""


def run_case(seed: int, folder: Path, kinds: list[str] | None = None) -> Outcome:
    """Run the case of a seed in an empty folder; return what became of it."""
    rng = np.random.default_rng(seed)
    names = kinds or list(KINDS)
    shares = np.array([KINDS[name][1] for name in names])
    kind = names[int(rng.choice(len(names), p=shares / shares.sum()))]
    # Some users let NumPy raise; those of commands cannot.
    strict = often(rng, 0.2) and kind not in ("command", "large", "process")
    watch, trace = Watch(folder), ""
    start = time.perf_counter()
    with _workspace(watch), watch.observe():
        try:
            with np.errstate(all="raise") if strict else nullcontext():
                KINDS[kind][0](rng, watch)
        except Refused as refusal:
            watch.result = "refused"
            trace = str(refusal)
        except Broken as broken:
            watch.findings.append(broken.finding)
            trace = traceback.format_exc()
        except Exception as error:
            # A check of others failed, or a call that must never fail did.
            name = type(error).__name__
            watch.report(f"{name} outside a call", traceback.format_exc(limit=-3))
            trace = traceback.format_exc()
    story = f"{watch.story}{', NumPy raises' if strict else ''}"
    result = "found" if watch.findings else watch.result
    seconds = time.perf_counter() - start
    return Outcome(seed, kind, result, seconds, story, watch.findings, trace)


@contextmanager
def _workspace(watch: Watch) -> Iterator[None]:
    """Work in folders that are empty, and emptied again afterwards."""
    before, tempdir = os.getcwd(), tempfile.tempdir
    folders = (watch.given, watch.out, watch.cwd, watch.tmp)
    for path in folders:
        path.mkdir(exist_ok=True)
    os.chdir(watch.cwd)
    tempfile.tempdir = str(watch.tmp)
    try:
        yield
    finally:
        os.chdir(before)
        tempfile.tempdir = tempdir
        for path in folders:
            for item in path.iterdir():
                shutil.rmtree(item) if item.is_dir() else item.unlink()
