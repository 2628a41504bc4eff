"""DO what the command line asks with files that are too large to be read at once."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from typing import Any

from trueaxis._cli import console
from trueaxis._cli.streaming import (
    RowIdentities,
    RunningCounts,
    scored_blocks,
    spoken,
    transformed_blocks,
)
from trueaxis._cli.workflow import FitOptions, scaler_of
from trueaxis._persistence.model_files import save
from trueaxis._rows.base import Rows
from trueaxis._rows.memory import TooLarge
from trueaxis._rows.progress_bars import show_progress
from trueaxis._tables.read import STANDARD
from trueaxis._tables.write import write_blocks
from trueaxis.estimators import METHODS
from trueaxis.estimators.pipeline import join_pipeline


def fit(data: str, rows: Rows, recipe: FitOptions, output: str, as_json: bool) -> None:
    """Fit rows that are read block by block; `score` tells about each of them."""
    method = METHODS[recipe.method]
    model = method(n_components=recipe.n_components, **recipe.parameters)
    scaler = scaler_of(recipe)
    start = time.perf_counter()
    # The rows are held, so that both fits share what was decoded.
    with (
        show_progress(),
        spoken(console.remark),
        rows,
    ):
        model.fit(rows if scaler is None else scaler.fit(rows).transform(rows))
    seconds = time.perf_counter() - start
    if output:
        _keep(join_pipeline(scaler, model), output)
    n, bad = len(model.support_), int((~model.support_).sum())
    if as_json:
        content = {"source": data, "rows": n, "columns": list(rows.names or ())}
        content |= {"method": method.__name__, "n_components": model.n_components_}
        content |= {"outliers": {"count": bad}, "seconds": seconds}
        console.say_json(content | {"model": output or None})
        return
    console.say(
        f"{bad:,} of {n:,} rows are bad. {method.__name__} with {model.n_components_} "
        f"components in {seconds:.2f} s. `trueaxis score` tells about each row."
    )
    if output:
        console.say(f"Model saved to {output}")


def _keep(model: Any, output: str) -> None:
    """Save a model; without what is as long as the data, if that does not fit here."""
    try:
        save(model, output)
    except TooLarge:
        save(model, output, training=False)
        console.remark(
            "The weights and verdicts of all rows do not fit into memory here, so that "
            "the model file is without them; `trueaxis score` gives the verdicts."
        )


def score(
    model: Any, rows: Rows, known: RowIdentities, output: str, as_json: bool
) -> None:
    """Judge rows by a model: one line for each, in the file."""
    tally = RunningCounts()
    _stream(output, scored_blocks(model, rows, known, tally))
    bad = tally.outliers()
    if as_json:
        content = {"rows": tally.rows, "outliers": bad, "output": output or None}
        console.say_json(content)
    elif output != STANDARD:
        console.say(f"{bad['count']:,} of {tally.rows:,} rows are bad")
        console.say(f"Scored rows saved to {output}")


def transform(
    model: Any, rows: Rows, known: RowIdentities, names: Sequence[str], output: str
) -> None:
    """Write scores of rows on the components."""
    blocks = transformed_blocks(model, rows, known, names)
    if output.lower().endswith(".npy"):
        only = ({name: fields[name] for name in names} for fields in blocks)
        _stream(output, only, rows.shape[0])
    else:
        _stream(output, blocks)


def _stream(output: str, blocks: Iterator[dict[str, Any]], n: int = 0) -> None:
    # Lines on a terminal show by themselves how far it is.
    lines = output == STANDARD and sys.stdout.isatty()
    with nullcontext() if lines else show_progress():
        if output:
            write_blocks(output, blocks, n)
            return
        for _ in blocks:  # counted only
            pass
