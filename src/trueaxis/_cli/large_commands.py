"""Run the commands on files that are too large to be read at once."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from typing import Any

from numpy.typing import NDArray

from trueaxis._cli import console
from trueaxis._cli.cell_output import WrongCellCounter, describe_counts
from trueaxis._cli.json_output import line_summary
from trueaxis._cli.missing import HoleCounter, describe_holes
from trueaxis._cli.streaming import (
    RowIdentities,
    RunningCounts,
    forward_log,
    score_blocks,
    transform_blocks,
)
from trueaxis._cli.workflow import FitOptions, make_scaler
from trueaxis._persistence.model_files import save
from trueaxis._rows.base import Rows
from trueaxis._rows.memory import TooLarge
from trueaxis._rows.progress_bars import show_progress
from trueaxis._tables.read import STANDARD
from trueaxis._tables.write import write_blocks
from trueaxis.estimators import METHODS
from trueaxis.estimators.pipeline import join_pipeline, split_pipeline
from trueaxis.report.sentences import describe_line


def fit(
    data: str, rows: Rows, fit_options: FitOptions, output: str, as_json: bool
) -> None:
    """Fit rows block by block and print the number of outliers."""
    method = METHODS[fit_options.method]
    model: Any = method(n_components=fit_options.n_components, **fit_options.parameters)
    scaler = make_scaler(fit_options)
    start = time.perf_counter()
    # Entering `rows` lets the fits of scaler and model share the decoded file.
    with show_progress(), forward_log(console.remark), rows:
        scaled = rows if scaler is None else scaler.fit(rows).transform(rows)
        model.fit(scaled)
        seconds = time.perf_counter() - start
        if getattr(model, "_cells", None):  # rows with holes, or with wrong cells
            _note_holes(rows.scan(HoleCounter(rows.shape[1]))[1], rows.shape[0])
        wrong = None
        if fit_options.parameters.get("cells"):
            counter = WrongCellCounter(model._repair())
            wrong = scaled.scan(counter)[1].tolist()
    if output:
        _save(join_pipeline(scaler, model), output)
    n, bad = len(model.support_), int((~model.support_).sum())
    if as_json:
        content = {"source": data, "rows": n, "columns": list(rows.names or ())}
        content |= {"method": method.__name__, "n_components": model.n_components_}
        content |= line_summary(model)
        content |= {"outliers": {"count": bad}, "seconds": seconds}
        if wrong is not None:
            content["wrong_cells"] = dict(zip(("count", "rows"), wrong, strict=True))
        console.say_json(content | {"model": output or None})
        return
    console.say(
        f"{bad:,} of {n:,} rows are bad. {describe_line(model)} {method.__name__} with "
        f"{model.n_components_} components took {seconds:.2f} s. `trueaxis score` "
        "judges each row."
    )
    if wrong is not None:
        console.say(describe_counts(wrong[0], wrong[1]))
    if output:
        console.say(f"Model saved to {output}")


def _note_holes(by_column: NDArray[Any], n: int) -> None:
    for sentence in describe_holes(by_column, n):
        console.remark(f"Note: {sentence}")


def _save(model: Any, output: str) -> None:
    """Save a model, without its values per row if they do not fit into memory."""
    try:
        save(model, output)
    except TooLarge:
        save(model, output, training=False)
        console.remark(
            "The weights and verdicts of all rows do not fit into memory, so the model "
            "file does not contain them; `trueaxis score` computes the verdicts."
        )


def score(
    model: Any, rows: Rows, identities: RowIdentities, output: str, as_json: bool
) -> None:
    """Write the verdict of a model on each row and print the number of outliers."""
    counts = RunningCounts(rows.shape[1])
    _write(output, score_blocks(model, rows, identities, counts))
    _note_holes(counts.holes, counts.rows)
    bad = counts.outliers()
    if as_json:
        content = {"rows": counts.rows, **line_summary(split_pipeline(model).model)}
        console.say_json(content | {"outliers": bad, "output": output or None})
    elif output != STANDARD:
        line = describe_line(split_pipeline(model).model)
        console.say(f"{bad['count']:,} of {counts.rows:,} rows are bad. {line}")
        console.say(f"Scored rows saved to {output}")


def transform(
    model: Any, rows: Rows, identities: RowIdentities, names: Sequence[str], output: str
) -> None:
    """Write the scores of rows on the components."""
    counts = RunningCounts(rows.shape[1])
    blocks = transform_blocks(model, rows, identities, names, counts)
    if output.lower().endswith(".npy"):
        scores = ({name: block[name] for name in names} for block in blocks)
        _write(output, scores, rows.shape[0])
    else:
        _write(output, blocks)
    _note_holes(counts.holes, counts.rows)


def _write(output: str, blocks: Iterator[dict[str, Any]], n: int = 0) -> None:
    # Lines that scroll by on a terminal show the progress themselves.
    scrolling = output == STANDARD and sys.stdout.isatty()
    with nullcontext() if scrolling else show_progress():
        if output:
            write_blocks(output, blocks, n)
            return
        for _ in blocks:  # consumed only to count the rows
            pass
