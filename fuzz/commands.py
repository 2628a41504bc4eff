"""Cases that run commands: in this process, or as a real one that gets signals."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pandas as pd
from click.testing import CliRunner

import trueaxis
from fuzz.files import ENDINGS, draw_model_file, write_file
from fuzz.properties import PHRASES, Broken, Refused, Watch, attempt, expect
from fuzz.tables import Rng, often, pick
from trueaxis.cli.main import main

OLD = b"an older file"  # what a command that fails must leave as it is

OPTIONS: dict[str, list[Any]] = {
    "--id": ["name", "x0", "nowhere"],
    "--columns": ["x0,x1", "flow*", "nowhere", "x0:x2", ""],
    "--drop": ["x0", "*", "nowhere"],
    "--na": ["-999", "x,y"],
    "--read": [
        *("decimal=.", "decimal=,", "decimal=x", "delimiter=;", "delimiter=ab"),
        *("header=yes", "header=no", "skip=1", "skip=-1", "skip=99", "comment=none"),
        *("sheet=1", "sheet=x", "encoding=cp1252", "encoding=klingon", "x", "x=1"),
        *("missing=fill", "missing=error", "missing=drop"),
    ],
}
LABELS: dict[str, list[Any]] = {"--label": ["name", "x1"]}
FIT_OPTIONS: dict[str, list[Any]] = {
    "-k": ["1", "2", "0.9", "auto", "99", "-1", "nan", "x"],
    "--scale": ["none", "robust", "auto", "x"],
}
LINE_OPTIONS: dict[str, list[Any]] = {
    "--level": ["0.01", "0.5", "0", "nan", "x"],
    "--set": ["contamination=0.1", "contamination=1", "contamination=x"],
    "--encode": ["log", "log=x0", "log=nowhere", "categories", "categories=name"],
}
METHOD_OPTIONS: dict[str, list[Any]] = {
    "--method": [*trueaxis.methods.METHODS, "nothing"],
    "--set": ["trust=0.7", "max_iter=3", "trust=nan", "tau=[1,1,1]", "x", "tol=1e400"],
}

COMMANDS = ["fit"] * 4 + ["score"] * 3 + ["repair"] * 2
COMMANDS += ["transform", "compare", "export", "methods", "report"]


def _options(rng: Rng, *tables: dict[str, list[Any]]) -> list[str]:
    drawn = []
    for name, values in [item for table in tables for item in table.items()]:
        if often(rng, 0.04):
            drawn += [name, str(pick(rng, values))]
    return drawn


def draw_command(rng: Rng, watch: Watch) -> tuple[list[str], list[Path]]:
    """Return a command line, and the files that it may write."""
    data, story = write_file(rng, watch.given, ENDINGS, 0.3)
    watch.story = story
    command = pick(rng, COMMANDS)
    if command == "report" and often(rng, 0.7):
        command = "fit"  # pages take long
    arguments, outputs = [command], []
    if command == "methods":
        return arguments + ["--json"] * often(rng, 0.5), []
    if command in ("score", "transform", "export"):
        model, X = draw_model_file(rng, watch.given)
        arguments.append(str(model))
        if often(rng, 0.6):  # rows that fit the model
            data = watch.given / "rows.csv"
            pd.DataFrame(X).to_csv(data, index=False)
    if command != "export":
        arguments.append(str(data))
        arguments += _options(rng, OPTIONS)
    if command in ("fit", "report", "repair", "compare"):
        arguments += _options(rng, FIT_OPTIONS)
    if command in ("fit", "report", "compare"):
        arguments += _options(rng, LINE_OPTIONS)
    if command in ("score", "transform", "report"):
        arguments += _options(rng, LABELS)
    if command in ("fit", "report"):
        arguments += _options(rng, METHOD_OPTIONS)
    if command == "compare":
        arguments += ["--methods", "dswl,pca"]
    endings = {"fit": ".npz", "report": ".html", "export": ".onnx"}
    output = (
        watch.out
        / f"output{endings.get(command) or pick(rng, ['.csv', '.xlsx', '.x'])}"
    )
    if command == "export":
        arguments.append(str(output))
        outputs.append(output)
    elif command == "report" or often(rng, 0.5):
        arguments += ["-o", str(output)]
        outputs.append(output)
    if command == "repair" and outputs:
        outputs.append(watch.out / f"output-changes{output.suffix}")
    if command in ("fit", "score") and often(rng, 0.15):
        clean = watch.out / "clean.csv"
        arguments += [pick(rng, ["--clean", "--flagged"]), str(clean)]
        outputs.append(clean)
    if often(rng, 0.3):
        arguments.append("--json")
    return arguments, outputs


def command(rng: Rng, watch: Watch) -> str:
    """Run a command in this process."""
    arguments, outputs = draw_command(rng, watch)
    watch.story = story = f"trueaxis {' '.join(arguments)} ({watch.story})"
    old = [path for path in outputs if often(rng, 0.3)]
    for path in old:
        path.write_bytes(OLD)
    watch.wrote.update(outputs)
    # With this variable, commands raise what they would turn into a message.
    raw = often(rng, 0.6)
    result = CliRunner().invoke(
        main, arguments, env={"TRUEAXIS_TRACEBACK": "1"} if raw else {}
    )
    code, error = result.exit_code, result.exception
    if error is not None and not isinstance(error, SystemExit):
        attempt(lambda: _raise(error))
    check_streams(code, result.stdout, result.stderr, "--json" in arguments)
    if code == 0:
        for path in outputs:
            changed = path.exists() and path.read_bytes() != OLD
            optional = "changes" in path.name
            expect(changed or optional, "a command succeeded without its file", path)
        return story
    for path in outputs:
        if path in old:
            expect(path.read_bytes() == OLD, "a failing command changed a file", path)
        elif path.exists() and path.suffix != ".npz":
            # A model is kept although its diagnosis fails.
            raise Broken("a failing command left a file", path.name)
    raise Refused(result.stderr[-300:])


def _raise(error: BaseException) -> None:
    raise error


def check_streams(code: int, stdout: str, stderr: str, as_json: bool) -> None:
    """Check the exit code of a command and what it printed."""
    everything = stdout + stderr
    expect("Traceback (most" not in everything, "traceback", everything[-800:])
    expect(code in (0, 1, 2), "undocumented exit code", code)
    leak = [line for line in stderr.splitlines()
            if line.startswith("Note: ") and PHRASES.search(line)]  # fmt: skip
    expect(not leak, "leaked warning in a note", leak)
    expect("\x1b" not in everything, "escape sequence", everything[-300:])
    if code:
        sentence = re.search(r"(?s)(Error: .*)", stderr)
        expect(sentence and len(sentence[1].split()) >= 5, "failed without a sentence",
               stderr[-300:])  # fmt: skip
    elif as_json:
        try:
            json.loads(stdout, parse_constant=_refuse_constant)
        except ValueError as error:
            raise Broken("output is no JSON", f"{error}: {stdout[:300]}") from error


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


# ----------------------------------------------------------------------- real processes

GRACE = 2.0  # seconds until a command ends that was interrupted, on an idle machine
PATIENCE = 60.0  # seconds for a command on a busy machine


def process(rng: Rng, watch: Watch) -> str:
    """Run a command as a process, with closed or full streams, or interrupt it."""
    trouble = pick(rng, ["interrupt", "terminate", "stdout closed", "stderr closed",
                         "stdin closed", "stdout full", "reader left"])  # fmt: skip
    size = int(rng.integers(50, 400)), int(rng.integers(3, 10))
    data = watch.given / "table.csv"
    X = rng.standard_normal(size)
    lines = [",".join(map(repr, row)) for row in X.tolist()]
    data.write_text("\n".join([",".join(f"x{i}" for i in range(size[1])), *lines]))
    output = watch.out / "model.npz"
    output.write_bytes(OLD)
    watch.wrote.add(output)
    arguments = [sys.executable, "-m", "trueaxis", "fit", str(data), "-o", str(output)]
    more = ["", "--json", "--method pcp", "--set cells=true"]
    arguments += pick(rng, more).split()
    watch.story = story = f"{trouble}: {' '.join(arguments[2:])}"
    delay = float(rng.uniform(0.0, 4.0))
    code, stderr, seconds = _run(arguments, trouble, delay, watch)
    watch.limits = watch.limits._replace(seconds=PATIENCE)
    expect("Traceback (most" not in stderr, "traceback", stderr[-800:])
    stopped = {"interrupt": 130, "terminate": 143}.get(trouble)
    # A signal before the command is set up ends Python itself.
    early = {-signal.SIGINT, -signal.SIGTERM}
    expected = {0, stopped} | early if stopped else {0, 1}
    expect(code in expected, "exit code", code)
    content = output.read_bytes()
    if content != OLD:
        attempt(lambda: trueaxis.load(output))
    elif code == 0:
        raise Broken("a command succeeded without its file", story)
    if trouble in ("stdout closed", "stderr closed", "stdin closed"):
        expect(code == 0, "a closed stream stops a command", f"{code}: {stderr}")
    if stopped:
        expect(seconds < 15 * GRACE, "deaf to a signal", f"{seconds:.1f} s, {story}")
    return story


def _run(
    arguments: list[str], trouble: str, delay: float, watch: Watch
) -> tuple[int, str, float]:
    """Run a process in some trouble; return its code, errors, and how long it took.

    After a signal, the time is what it took to end.
    """
    errors = watch.folder / "stderr"
    close = {"stdin closed": "<&-", "stdout closed": ">&-", "stderr closed": "2>&-"}
    shell = ["sh", "-c", f'exec "$@" {close.get(trouble, "")}', "sh", *arguments]
    with errors.open("wb") as file, open(os.devnull, "r+b") as null:
        stdout: Any = null
        if trouble == "stdout full" and os.path.exists("/dev/full"):
            stdout = open("/dev/full", "wb")
        elif trouble == "reader left":
            stdout = subprocess.PIPE
        started = subprocess.Popen(shell, stdin=null, stdout=stdout, stderr=file)
        if stdout is subprocess.PIPE:
            assert started.stdout is not None
            started.stdout.close()
        elif stdout is not null:
            stdout.close()
        signals = {"interrupt": signal.SIGINT, "terminate": signal.SIGTERM}
        sent = time.monotonic()
        try:
            if trouble in signals:
                time.sleep(delay)
                sent = time.monotonic()
                started.send_signal(signals[trouble])
            code = started.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            started.kill()
            started.wait()
            raise Broken("a command hangs", f"{trouble} after {delay:.1f} s") from None
    text = errors.read_text(errors="replace")
    errors.unlink()
    return code, text, time.monotonic() - sent
