"""Try an installed trueaxis: a fit, a saved model, the commands, and every extra.

Run by the interpreter of the environment, with `-I` so that nothing of the checkout is
found but the examples, whose folder is the argument. An extra that is not installed
must be asked for by its name.
"""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import trueaxis
from trueaxis.datasets import planted

EXAMPLES = Path(sys.argv[1])
PUMPS, NEW_PUMPS = EXAMPLES / "pumps.csv", EXAMPLES / "new_pumps.csv"


def check(fact: bool, failure: str) -> None:
    """End with a sentence unless a fact holds, with `python -O` as well."""
    if not fact:
        sys.exit(f"smoke: {failure}")


def command(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run the command `trueaxis` of this environment."""
    script = Path(sys.executable).with_name("trueaxis")
    return subprocess.run([script, *arguments], capture_output=True, text=True)


def output(*arguments: str | Path) -> str:
    """Run a command that succeeds; what it printed."""
    done = command(*arguments)
    check(done.returncode == 0, f"trueaxis {arguments}: {done.stderr}")
    return done.stdout


def try_package(folder: Path) -> None:
    """Fit, save and load a model."""
    home = Path(trueaxis.__file__)
    check(home.is_relative_to(sys.prefix), f"trueaxis comes from {home}")
    check((home.parent / "py.typed").exists(), "the types are not marked as such")
    X = planted("ocs").X
    model = trueaxis.DSWL(3).fit(X)
    check((model.predict(X) == -1).any(), "no outlier was found")
    trueaxis.save(model, folder / "model.npz")
    again = trueaxis.load(folder / "model.npz")
    same = np.array_equal(again.score_samples(X), model.score_samples(X))
    check(same, "a loaded model has other scores")


def try_commands(folder: Path) -> None:
    """Fit and judge the example's tables."""
    version = output("--version")
    check(trueaxis.__version__ in version, f"the command's version is {version}")
    model, scores = folder / "pumps.npz", folder / "scores.csv"
    output("fit", PUMPS, "-k", "2", "-o", model)
    output("score", model, NEW_PUMPS, "-o", scores)
    rows = len(NEW_PUMPS.read_text().splitlines())
    check(len(scores.read_text().splitlines()) == rows, "a row has no score")


def try_extra(extra: str, modules: tuple[str, ...], arguments: tuple) -> str:
    """Run what needs an extra: it works, or it asks for the extra."""
    done = command(*arguments)
    if all(importlib.util.find_spec(module) for module in modules):
        check(done.returncode == 0, f"{extra} is installed, but: {done.stderr}")
        return "works"
    asked = f"trueaxis[{extra}]" in " ".join(done.stderr.split())
    polite = done.returncode and asked and "Traceback" not in done.stderr
    check(polite, f"{extra} is not installed, but not asked for: {done.stderr}")
    return "is asked for"


def try_plot() -> str:
    """Draw: it works, or asks for the extra."""
    X = planted("ocs").X
    model = trueaxis.DSWL(3).fit(X)
    try:
        trueaxis.plots.OutlierMapDisplay.from_estimator(model, X)
    except ImportError as error:
        check("trueaxis[plot]" in str(error), f"plot is not asked for: {error}")
        return "is asked for"
    return "works"


def main() -> None:
    """Try everything in a temporary folder."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        try_package(folder)
        try_commands(folder)
        pumps, page = folder / "pumps.npz", folder / "page.html"
        sheet, parquet = folder / "scores.xlsx", folder / "clean.parquet"
        tries = [
            ("report", ("jinja2",), ("report", PUMPS, "-o", page)),
            ("io", ("xlsxwriter",), ("score", pumps, NEW_PUMPS, "-o", sheet)),
            ("io", ("pyarrow",), ("fit", PUMPS, "-k", "2", "--clean", parquet)),
            ("parquet", ("pyarrow",), ("fit", parquet, "-k", "2")),
            ("io", ("python_calamine",), ("fit", sheet, "-k", "2")),
            ("onnx", ("onnx",), ("export", pumps, folder / "pumps.onnx")),
        ]
        # Files to read, where they cannot be written.
        parquet.write_bytes(b"PAR1")
        sheet.write_bytes(b"PK")
        found = {"plot": try_plot()}
        found |= {extra: try_extra(extra, *rest) for extra, *rest in tries}
        check(not page.exists() or "</html>" in page.read_text("utf-8"), "half a page")
    print("smoke:", *(f"{extra} {how}," for extra, how in found.items()), "all is well")


if __name__ == "__main__":
    main()
