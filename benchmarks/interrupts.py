"""Measure how long commands and methods go on after Ctrl-C and SIGTERM.

Every command, and `fit` with every method, is started again and again, and gets a
signal after a random part of the time that it takes, or of the first ten seconds. The
script fails if one of them goes on for more than `LIMIT` seconds, ends with another
exit code than 130 or 143 or with more than one line, damages the file that it would
have replaced, or leaves another one behind.

    python benchmarks/interrupts.py [--rows 3000] [--columns 1200] [--moments 4]
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple
from zipfile import BadZipFile, ZipFile

import numpy as np

from sheet import CONSOLE, Sheet
from trueaxis.methods import METHODS

LIMIT = 2.0
LONGEST = 10.0  # seconds of a command in which it is interrupted
DEAF = 60.0  # seconds after which a command that goes on is killed
SIGNALS = (signal.SIGINT, signal.SIGTERM)
PYTHON_STARTS = 0.1  # seconds, of an idle machine
OLD = b"what was there before"
SCRATCH = "scratch"


class Ended(NamedTuple):
    """How a process ended: seconds after the signal, and what was wrong."""

    seconds: float
    fault: str


def targets(wide: Path, long: Path, model: Path) -> dict[str, list[str]]:
    """Return the command lines; the last argument is the file that each would write."""
    fit = ["fit", str(wide), "-k", "3"]
    return {
        "fit": ["fit", str(wide), "-o", "m.npz"],
        "fit, long table": ["fit", str(long), "-o", "m.npz"],
        "fit, rows": [*fit, "-o", "m.npz", "--flagged", "bad.npy"],
        "score": ["score", str(model), str(wide), "-o", "scores.csv"],
        "score, Excel": ["score", str(model), str(wide), "-o", "scores.xlsx"],
        "transform": ["transform", str(model), str(wide), "-o", "t.csv"],
        "report": ["report", str(wide), "-o", "report.html"],
        "repair": ["repair", str(wide), "-k", "3", "-o", "repaired.npy"],
        "compare": ["compare", str(wide), "-k", "3", "-o", "methods.csv"],
        "export": ["export", str(model), "m.onnx"],
        "demo": ["demo", "-o", "demo.html"],
    } | {
        f"fit --method {method}": [*fit, "--method", method, "-o", "m.npz"]
        for method in METHODS
    }  # fmt: skip


def start(arguments: list[str], folder: Path) -> subprocess.Popen[str]:
    scratch = folder / SCRATCH
    scratch.mkdir(exist_ok=True)
    return subprocess.Popen(
        [sys.executable, "-m", "trueaxis", *arguments],
        cwd=folder, env=os.environ | {"TMPDIR": str(scratch)},
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        # Background jobs of a shell ignore Ctrl-C, and so do their children.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        start_new_session=True,  # so that it can be killed with its children
    )  # fmt: skip


def whole(arguments: list[str]) -> tuple[float, bytes]:
    """Return the seconds that a command takes, up to `DEAF`, and what it writes."""
    with tempfile.TemporaryDirectory() as folder:
        begin = time.monotonic()
        process = start(arguments, Path(folder))
        try:
            told = process.communicate(timeout=DEAF)[1]
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            return DEAF, OLD
        if process.returncode:
            raise RuntimeError(f"{arguments} failed: {told}")
        return time.monotonic() - begin, Path(folder, arguments[-1]).read_bytes()


def is_whole(path: Path) -> bool:
    """Return whether a model or sheet, which tells when it was written, is complete."""
    try:
        return ZipFile(path).testzip() is None
    except BadZipFile:
        return False


def interrupt(
    arguments: list[str], after: float, number: signal.Signals, complete: bytes
) -> Ended | None:
    """Interrupt a command; return None if it was ready before."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        output = folder / arguments[-1]
        output.write_bytes(OLD)
        process = start(arguments, folder)
        time.sleep(after)
        if process.poll() is not None:
            process.communicate()
            return None
        begin = time.monotonic()
        process.send_signal(number)
        try:
            told = process.communicate(timeout=DEAF)[1].splitlines()
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            return Ended(DEAF, "deaf")
        seconds = time.monotonic() - begin
        if process.returncode == 0 and seconds < LIMIT:
            return None  # it was about to end
        if process.returncode == -number and after < 1.0:
            return None  # Python had hardly begun
        faults = []
        if process.returncode != 128 + number:
            faults.append(f"exit code {process.returncode}")
        lines = [line for line in told if not line.startswith("Note: ")]
        if len(lines) != 1:
            faults.append(f"{len(lines)} lines: {lines[-1:]}")
        others = {*os.listdir(folder)} - {output.name, SCRATCH}
        # Experiments can be resumed, and a model is saved before it is examined.
        others -= {"results", "m.npz"}
        others |= {*os.listdir(folder / SCRATCH)}
        if others:
            faults.append(f"files: {sorted(others)}")
        if output.read_bytes() not in (OLD, complete) and not is_whole(output):
            faults.append("damaged")
        return Ended(seconds, ", ".join(faults))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=3000)
    parser.add_argument("--columns", type=int, default=1200)
    parser.add_argument("--moments", type=int, default=4)
    parser.add_argument("--only", default="", help="part of the names to measure")
    options = parser.parse_args()
    rng, random_ = np.random.default_rng(0), random.Random(0)
    sheet = Sheet(
        f"{options.rows:,} x {options.columns:,}: after a signal",
        "command", "takes, s", "signals", "longest end, s", "wrong",
    )  # fmt: skip
    with tempfile.TemporaryDirectory() as name:
        wide, long, model = (Path(name, file) for file in ("w.npy", "l.npy", "m.npz"))
        X = rng.standard_normal((options.rows, 5)) @ rng.standard_normal(
            (5, options.columns)
        )
        np.save(wide, X + 0.1 * rng.standard_normal(X.shape))
        np.save(long, rng.standard_normal((300_000, 20)))
        fitted = start(["fit", str(wide), "-k", "3", "-o", str(model)], Path(name))
        if fitted.wait():
            raise RuntimeError(fitted.communicate()[1])
        failed = False
        for title, arguments in targets(wide, long, model).items():
            if options.only not in title:
                continue
            takes, complete = whole(arguments)
            ends = []
            for i in range(options.moments):
                after = PYTHON_STARTS + random_.random() * max(
                    min(takes, LONGEST) - PYTHON_STARTS, 0.1
                )
                ends.append(interrupt(arguments, after, SIGNALS[i % 2], complete))
            found = [end for end in ends if end is not None]
            worst = max((end.seconds for end in found), default=0.0)
            faults = [end.fault for end in found if end.fault]
            if worst > LIMIT:
                faults.append("too late")
            if not found:
                faults.append("always ready before the signal")
            failed |= bool(faults)
            sheet.add(
                title,
                f"{takes:.1f}",
                str(len(found)),
                f"{worst:.2f}",
                "; ".join(faults),
            )
            CONSOLE.print(f"{title}: {worst:.2f} s {faults or ''}", style="dim")
    sheet.show()
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
