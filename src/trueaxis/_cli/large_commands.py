"""Run the commands on files that are too large to be read at once."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trueaxis._cli import console
from trueaxis._cli.cell_output import WrongCellCounter, describe_counts
from trueaxis._cli.errors import NOTES
from trueaxis._cli.json_output import (
    head_summary,
    line_summary,
    missing_summary,
    model_summary,
)
from trueaxis._cli.missing import HoleCounter, describe_holes
from trueaxis._cli.options import FitOptions
from trueaxis._cli.rows_output import RowFiles, RowSource
from trueaxis._cli.streaming import (
    RowIdentities,
    RunningCounts,
    forward_log,
    score_blocks,
    transform_blocks,
)
from trueaxis._cli.workflow import make_scaler
from trueaxis._persistence.model_files import save
from trueaxis._rows.base import Rows
from trueaxis._rows.memory import TooLarge
from trueaxis._rows.progress_bars import show_progress
from trueaxis.estimators import METHODS
from trueaxis.estimators.pipeline import join_pipeline, split_pipeline
from trueaxis.io.formats import STANDARD
from trueaxis.io.write import write_blocks
from trueaxis.report.sentences import describe_line


def fit(
    data: str,
    rows: Rows,
    fit_options: FitOptions,
    output: str,
    files: RowFiles,
    source: RowSource | None,
    as_json: bool,
) -> None:
    """Fit rows block by block and print the number of outliers."""
    pipeline, seconds, holes, wrong = _fit(rows, fit_options)
    model = split_pipeline(pipeline).model
    split = files.split(source, ~np.asarray(model.support_))
    with show_progress(), split.written():
        if output:
            _save(pipeline, output)
    n, bad = len(model.support_), int((~model.support_).sum())
    if as_json:
        names = _column_names(rows)
        content = {**head_summary("fit", data), "rows": n, "columns": names}
        content |= {"missing": missing_summary(holes, names)}
        content |= model_summary(split_pipeline(pipeline))
        content |= {"seconds": seconds, **line_summary(model)}
        content |= {"outliers": {"count": bad}, "model": output or None}
        if wrong is not None:
            content["wrong_cells"] = dict(zip(("count", "rows"), wrong, strict=True))
        _say_json(content | split.summary())
        return
    to = console.stderr() if files.to_stdout else None
    console.say(
        f"{bad:,} of {n:,} rows are bad. {describe_line(model)} "
        f"{type(model).__name__} with {model.n_components_} components took "
        f"{seconds:.2f} s. `trueaxis score` judges each row.",
        to,
    )
    if wrong is not None:
        console.say(describe_counts(wrong[0], wrong[1]), to)
    if output:
        console.say(f"Model saved to {output}", to)
    split.say(to)


class _Fitted(NamedTuple):
    """A model after its scaler, and what the passes have counted.

    holes : missing cells of every column
    wrong : wrong cells and rows that have some; None if they were not looked for
    """

    pipeline: Any
    seconds: float
    holes: NDArray[Any]
    wrong: list[int] | None


def _fit(rows: Rows, fit_options: FitOptions) -> _Fitted:
    method = METHODS[fit_options.method]
    model: Any = method(n_components=fit_options.n_components, **fit_options.parameters)
    scaler = make_scaler(fit_options)
    start = time.perf_counter()
    holes, wrong = np.zeros(rows.shape[1], dtype=int), None
    # Entering `rows` lets the fits of scaler and model share the decoded file.
    with show_progress(), forward_log(console.remark), rows:
        scaled = rows if scaler is None else scaler.fit(rows).transform(rows)
        model.fit(scaled)
        seconds = time.perf_counter() - start
        if getattr(model, "_cells", None):  # rows with holes, or with wrong cells
            holes = rows.scan(HoleCounter(rows.shape[1]))[1]
            _note_holes(holes, rows.shape[0])
        if fit_options.parameters.get("cells"):
            counter = WrongCellCounter(model._repair())
            wrong = scaled.scan(counter)[1].tolist()
    return _Fitted(join_pipeline(scaler, model), seconds, holes, wrong)


def _say_json(content: dict[str, Any]) -> None:
    console.say_json(content | {"notes": list(NOTES)})


def _note_holes(by_column: NDArray[Any], n: int) -> None:
    for sentence in describe_holes(by_column, n):
        console.note(sentence)


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
    model: Any,
    model_path: str,
    data: str,
    rows: Rows,
    identities: RowIdentities,
    output: str,
    files: RowFiles,
    source: RowSource | None,
    as_json: bool,
) -> None:
    """Write the verdict of a model on each row and print the number of outliers."""
    counts = RunningCounts(rows.shape[1])
    flags: list[NDArray[np.bool_]] = []
    blocks = score_blocks(model, rows, identities, counts)
    _write(output, _watched(blocks, flags), keep_on=bool(files))
    split = files.split(source, np.concatenate(flags))
    with show_progress(), split.written():
        pass
    _note_holes(counts.holes, counts.rows)
    bad, method = counts.outliers(), split_pipeline(model).model
    if as_json:
        names = _column_names(rows)
        content = {**head_summary("score", data), "rows": counts.rows, "columns": names}
        content |= {"missing": missing_summary(counts.holes, names)}
        content |= model_summary(split_pipeline(model)) | line_summary(method)
        content |= {"outliers": bad, "model": model_path, "output": output or None}
        _say_json(content | split.summary())
        return
    to = console.stderr() if output == STANDARD or files.to_stdout else None
    if output != STANDARD:
        line = describe_line(method)
        console.say(f"{bad['count']:,} of {counts.rows:,} rows are bad. {line}", to)
    if output not in ("", STANDARD):
        console.say(f"Scored rows saved to {output}", to)
    split.say(to)


def _watched(
    blocks: Iterator[dict[str, Any]], flags: list[NDArray[np.bool_]]
) -> Iterator[dict[str, Any]]:
    """Yield blocks of verdicts, and remember which rows are outliers."""
    for block in blocks:
        flags.append(np.asarray(block["outlier"], dtype=bool))
        yield block


def transform(
    model: Any, rows: Rows, identities: RowIdentities, names: Sequence[str], output: str
) -> dict[str, Any]:
    """Write the scores of rows on the components; return what JSON tells of them."""
    counts = RunningCounts(rows.shape[1])
    blocks = transform_blocks(model, rows, identities, names, counts)
    if output.lower().endswith(".npy"):
        scores = ({name: block[name] for name in names} for block in blocks)
        _write(output, scores, rows.shape[0])
    else:
        _write(output, blocks)
    _note_holes(counts.holes, counts.rows)
    read = _column_names(rows)
    return {
        "rows": counts.rows,
        "read_columns": read,
        "columns": list(names),
        "missing": missing_summary(counts.holes, read),
    }


def _column_names(rows: Rows) -> list[str]:
    """Return the names of the columns that are read, as in memory."""
    return [str(name) for name in rows.names or map("x{}".format, range(rows.shape[1]))]


def _write(
    output: str, blocks: Iterator[dict[str, Any]], n: int = 0, *, keep_on: bool = False
) -> None:
    # Lines that scroll by on a terminal show the progress themselves.
    scrolling = output == STANDARD and sys.stdout.isatty()
    with nullcontext() if scrolling else show_progress():
        if output:
            try:
                write_blocks(output, blocks, n)
                return
            except BrokenPipeError:
                # That nobody reads standard output does not cost the other files.
                if not (keep_on and output == STANDARD):
                    raise
        for _ in blocks:  # consumed only to count the rows
            pass
