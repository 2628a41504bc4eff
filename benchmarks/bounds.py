"""Compare every command with the fit: CPU time and peak memory on tables of all shapes.

All tables have as many cells, from two columns to a million of them. Every command runs
in a fresh process, and so does the fit that it is compared with, `DSWL(k).fit` of the
same array: the start of Python and the imports, about half a second and 100 MB, are
part of both.
The script fails if a command takes more than `LIMIT` times the CPU time or the memory
of the fit.

    python benchmarks/bounds.py [--cells 4000000] [--columns 2 20] [--commands score]
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

import numpy as np

from command_speed import Usage, code, command, usage
from sheet import CONSOLE, Sheet

LIMIT = 20.0
COLUMNS = (2, 20, 200, 2000, 20_000, 200_000, 1_000_000)
CSV_COLUMNS = 2000  # of the one shape that is read from text as well
FIT = """
import numpy as np
from trueaxis import DSWL
DSWL({k}).fit(np.load("x.npy"))
"""
# Public functions of Python, with a fit before each of them.
CALL = """
import numpy as np
from trueaxis import DSWL, diagnostics
from trueaxis.report import write_report
X = np.load("x.npy")
model = DSWL({k}).fit(X)
{call}
"""
CALLS = {
    "diagnose": "diagnostics.diagnose(model, X)",
    "outlier_table": "diagnostics.outlier_table(model, X)",
    "explain": "diagnostics.explain(model, X[:1])",
    "effect": "diagnostics.effect(model, X)",
    "cell_map": "diagnostics.cell_map(model, X)",
    "cell_table": "diagnostics.cell_table(model, X)",
    "summary": "diagnostics.summary(model)",
    "write_report": "write_report(model, X, 'report.html')",
}


def commands(data: str, k: int) -> dict[str, list[str]]:
    """Return the commands to measure; those before make the model of those after."""
    size = ["-k", str(k)]
    return {
        "fit": command("fit", data, *size, "-o", "m.npz"),
        "fit, auto": command("fit", data),
        "fit, scaled": command("fit", data, *size, "--scale", "robust"),
        "fit, rows": command(
            "fit", data, *size, "--clean", f"clean-{data}", "--flagged", f"bad-{data}"
        ),
        "score": command("score", "m.npz", data, "-o", "scores.csv"),
        "transform": command("transform", "m.npz", data, "-o", "t.csv"),
        "report": command("report", data, *size),
        "report, model": command("report", data, "--model", "m.npz"),
        "repair": command("repair", data, *size, "-o", f"repaired-{data}"),
        "fill": command("repair", data, *size, "--no-cells", "-o", f"filled-{data}"),
        "compare": command("compare", data, *size),
        "export": command("export", "m.npz", "m.onnx"),
    } | {
        name: code(CALL.format(k=k, call=call)) for name, call in CALLS.items()
    }  # fmt: skip


def table(n: int, D: int) -> tuple[np.ndarray, int]:
    """Return rows near a subspace, some of them outliers, and its dimension."""
    k = max(1, min(3, n - 2, D - 1))
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, k)) @ rng.standard_normal((k, D))
    X += 0.3 * rng.standard_normal((n, D))
    X[: n // 50] += 20 * rng.standard_normal(D)
    return X[rng.permutation(n)], k


def measure(n: int, D: int, data: str, wanted: list[str], folder: Path) -> Sheet:
    """Measure the commands on a table of n rows and D columns."""
    X, k = table(n, D)
    np.save(folder / "x.npy", X)
    if data.endswith(".csv"):
        names = ",".join(f"c{j}" for j in range(D))
        np.savetxt(folder / data, X, "%.6f", ",", header=names, comments="")
    del X
    fit = usage(code(FIT.format(k=k)), folder)
    sheet = Sheet(
        f"{n:,} x {D:,}, {data}: the fit takes {fit.cpu:.1f} s, {fit.memory:.0f} MB",
        "command", "CPU time, x fit", "memory, x fit", "above the limit",
    )  # fmt: skip
    for name, arguments in commands(data, k).items():
        if name != "fit" and wanted and name not in wanted:
            continue
        found = usage(arguments, folder)
        ratios = ratios_of(found, fit)
        above = "yes" if max(ratios) > LIMIT else ""
        sheet.add(name, *(f"{ratio:.1f}" for ratio in ratios), above)
        CONSOLE.print(f"{D:,} columns, {name}: {found}", style="dim")
    return sheet


def ratios_of(found: Usage, fit: Usage) -> tuple[float, float]:
    """Return CPU time and memory relative to those of the fit."""
    return found.cpu / fit.cpu, found.memory / fit.memory


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--cells", type=int, default=4_000_000)
    parser.add_argument("--columns", type=int, nargs="*", default=COLUMNS)
    parser.add_argument("--commands", nargs="*", default=[])
    options = parser.parse_args()
    failed = False
    for D in options.columns:
        for data in ("x.npy", "x.csv") if D == CSV_COLUMNS else ("x.npy",):
            with tempfile.TemporaryDirectory() as folder:
                n = options.cells // D
                sheet = measure(n, D, data, options.commands, Path(folder))
            sheet.show()
            failed |= any(row[-1] for row in sheet.rows)
    if failed:
        CONSOLE.print(f"[red]Some commands take more than {LIMIT:g} times the fit.[/]")
        sys.exit(1)


if __name__ == "__main__":
    main()
