"""Take every rule and constant of DSWL out, one at a time, and show what that does.

Each line of the table changes one thing from the start of a fit to its verdicts. The
tables and seeds are fresh, except for the labelled ones in DIR/outliers, which are
skipped without --data-home. All lines fit the same tables; the first ones change only
the seed of the fit, and say how large a difference can be without any meaning.

    python benchmarks/ablation.py [--seeds 2] [--only groups] [--data-home DIR]
"""

from __future__ import annotations

import argparse
import importlib
import multiprocessing
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from ablation_changes import CHANGES
from ablation_data import Outcome, Trial, outcome, trials
from sheet import CONSOLE, Sheet

# Set before the processes fork, as changes cannot be pickled.
TRIALS: list[Trial] = []
LINES: list[Change] = []


@dataclass(frozen=True)
class Change:
    """One line of the table: what is put in place of what."""

    stage: str
    title: str
    replaced: dict[str, Any] = field(default_factory=dict)
    parameters: dict[str, Any] = field(default_factory=dict)


def changes() -> list[Change]:
    """Return the references, and all changes."""
    seeds = [
        Change("reference", f"random_state={seed}", {}, {"random_state": seed})
        for seed in (1, 2)
    ]
    return [Change("reference", "as it is"), *seeds, *(Change(*c) for c in CHANGES)]


@contextmanager
def replaced(path: str, value: Any) -> Iterator[None]:
    """Replace an object of the engine wherever it was imported to.

    A path that ends in "!" replaces it in that module only. A function that is put in
    place of another one gets that one as its first argument.
    """
    module_name, name = path.rstrip("!").split(":")
    module = importlib.import_module(f"trueaxis.{module_name}")
    holder, _, name = name.rpartition(".")
    owner = getattr(module, holder) if holder else module
    ours = getattr(owner, name)
    new = _around(value, ours) if callable(value) else value
    owners = [owner]
    if not holder and not path.endswith("!"):
        owners += [
            other
            for key, other in list(sys.modules.items())
            if key.startswith("trueaxis.") and vars(other).get(name) is ours
        ]
    for each in owners:
        setattr(each, name, new)
    try:
        yield
    finally:
        for each in owners:
            setattr(each, name, ours)


def _around(function: Callable[..., Any], ours: Any) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        return function(ours, *args, **kwargs)

    return call


def run(line: int) -> list[Outcome | None]:
    """Fit all tables; None where the fit fails."""
    change = LINES[line]
    warnings.simplefilter("ignore")
    with ExitStack() as stack:
        for path, value in change.replaced.items():
            stack.enter_context(replaced(path, value))
        return [_attempt(trial, change.parameters) for trial in TRIALS]


def warm_up() -> None:
    """Fit some tables, so that the first line does not pay for caches."""
    threadpool_limits(1)  # one process per core instead
    for trial in TRIALS[::10]:
        _attempt(trial, {})


def _attempt(trial: Trial, parameters: dict[str, Any]) -> Outcome | None:
    try:
        return outcome(trial, **parameters)
    except Exception as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return None


# Figure, smallest difference that counts, and whether larger is better.
FIGURES = {
    "real AUC": (0.002, 1),
    "real F1": (0.01, 1),
    "textbook F1": (0.02, 1),
    "planted angle": (0.01, -1),
    "planted worst": (0.1, -1),
    "planted F1": (0.005, 1),
    "hard angle": (0.02, -1),
    "hard F1": (0.01, 1),
    "nothing %": (0.2, -1),
    "nothing p90 %": (0.7, -1),
    "CPU": (0.15, -1),
}


def figures(outcomes: list[Outcome | None]) -> dict[str, float]:
    """Summarize the outcomes of one line; failed fits count as no outlier found."""

    def column(suite: str, name: str, failed: float) -> np.ndarray:
        pairs = zip(TRIALS, outcomes, strict=True)
        mine = [(t, o) for t, o in pairs if t.suite == suite]
        values = [failed if o is None else getattr(o, name) for _, o in mine]
        out = np.array([v for v in values if not np.isnan(v)])
        return out if len(out) else np.array([np.nan])

    planted, hard = (column(s, "ratio", 10.0) for s in ("planted", "hard"))
    flagged = 100 * column("nothing", "flagged", 1.0)
    return {
        "real AUC": column("real", "auc", 0.5).mean(),
        "real F1": column("real", "f1", 0.0).mean(),
        "textbook F1": column("textbook", "f1", 0.0).mean(),
        "planted angle": np.exp(np.log(planted).mean()),
        "planted worst": planted.max(),
        "planted F1": column("planted", "f1", 0.0).mean(),
        "hard angle": np.exp(np.log(hard).mean()),
        "hard F1": column("hard", "f1", 0.0).mean(),
        "nothing %": flagged.mean(),
        "nothing p90 %": np.quantile(flagged, 0.9),
        "CPU": sum(o.seconds for o in outcomes if o is not None),
    }


def differences(
    mine: dict[str, float], base: dict[str, float], noise: dict[str, float]
) -> str:
    """Say what became worse and what better, beyond what a seed changes."""
    words: dict[str, list[str]] = {"worse": [], "better": []}
    for name, (least, sign) in FIGURES.items():
        difference = mine[name] - base[name]
        if abs(difference) > max(least, noise[name]):
            word = "better" if difference * sign > 0 else "worse"
            words[word].append(f"{name} {shown(name, difference, '+')}")
    said = [f"{word}: {', '.join(what)}" for word, what in words.items() if what]
    return "; ".join(said) or "no visible effect"


def shown(name: str, value: float, sign: str = "") -> str:
    digits = 1 if "%" in name else 2 if "worst" in name or name == "CPU" else 3
    return "" if np.isnan(value) else f"{value:{sign}.{digits}f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--quick", action="store_true", help="one seed")
    parser.add_argument("--only", help="stages or titles that contain this")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument(
        "--data-home", type=Path, default=os.environ.get("TRUEAXIS_DATA")
    )
    args = parser.parse_args()
    home = Path(args.data_home) / "outliers" if args.data_home else None
    if home is None or not home.is_dir():
        CONSOLE.print("Labelled tables: no data. Pass --data-home DIR.")
        home = None
    TRIALS.extend(trials(1 if args.quick else args.seeds, home))
    LINES.extend(
        line
        for line in changes()
        if not args.only
        or line.stage == "reference"
        or args.only in f"{line.stage} {line.title}"
    )
    with multiprocessing.get_context("fork").Pool(args.jobs, warm_up) as pool:
        results = []
        for result in pool.imap(run, range(len(LINES))):
            results.append(result)
            said = {name: shown(name, x) for name, x in figures(result).items()}
            done = f"{len(results)}/{len(LINES)} {LINES[len(results) - 1].title}"
            print(done, *said.values(), file=sys.stderr)
    show(LINES, results)


def show(lines: list[Change], results: list[list[Outcome | None]]) -> None:
    base, *all_figures = [figures(result) for result in results]
    second = base["CPU"]
    for each in (base, *all_figures):
        each["CPU"] /= second
    noise = {
        name: 1.5 * max(abs(each[name] - base[name]) for each in all_figures[:2])
        for name in FIGURES
    }
    table = Sheet(
        f"Ablation: {len(TRIALS)} tables, {second:.0f} s of CPU time",
        "stage", "changed", *FIGURES, "fits changed %", "what that does",
    )  # fmt: skip
    for line, result, each in zip(lines, results, (base, *all_figures), strict=True):
        moved = [
            a is None or b is None or a.fingerprint != b.fingerprint
            for a, b in zip(result, results[0], strict=True)
        ]
        said = "" if line.stage == "reference" else differences(each, base, noise)
        if said == "no visible effect" and not any(moved):
            said = "nothing at all"
        cells = (shown(name, each[name]) for name in FIGURES)
        table.add(line.stage, line.title, *cells, f"{100 * np.mean(moved):.0f}", said)
    table.show()


if __name__ == "__main__":
    main()
