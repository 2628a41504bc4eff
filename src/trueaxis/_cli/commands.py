"""DO what the command line asks: read, fit or load, gather, write, tell.

Every function is one command; `cli` has their options. Numbers come from `analysis` and
`comparison`.
"""

from __future__ import annotations

import inspect
import webbrowser
from pathlib import Path
from typing import Any

from trueaxis._cli import console
from trueaxis._cli import large_commands as bulk
from trueaxis._cli.cluster import cluster
from trueaxis._cli.json_output import (
    as_records,
    judgement,
    scored,
    side_by_side,
    summary,
    who,
)
from trueaxis._cli.streaming import RowIdentities, large_rows, rows_of_workers
from trueaxis._cli.workflow import (
    FitOptions,
    fitted,
    judged,
    read,
    scaler_for,
    table_for,
)
from trueaxis._persistence.model_files import load, save
from trueaxis._tables.read import STANDARD, Choice, TableError
from trueaxis._tables.write import refuse_table, refuse_target, write_table
from trueaxis.diagnostics.comparison import compare as compare_methods
from trueaxis.diagnostics.comparison import suitable
from trueaxis.estimators import METHODS
from trueaxis.estimators.pipeline import split_pipeline
from trueaxis.report.analysis import names_are_known
from trueaxis.report.sentences import how_it_went


def fit(
    data: str, choice: Choice, recipe: FitOptions, output: str, as_json: bool
) -> None:
    """Fit a table, say which rows are bad, keep the model."""
    refuse_target(output, data)
    rows = large_rows(None, data, choice, spool=True)
    if rows is not None:
        bulk.fit(data, rows, recipe, output, as_json)
        return
    with console.stages(["reading", "fitting", "looking"]) as begin:
        work = fitted(data, choice, recipe, begin)
    if output:
        save(work.model, output)
    if as_json:
        content = summary(data, work.found, work.seconds)
        console.say_json(content | {"model": output or None})
        return
    console.show_analysis(work.found)
    console.say(how_it_went(work.found, work.seconds))
    if output:
        console.say(f"Model saved to {output}")


def fit_by_workers(
    data: str,
    choice: Choice,
    recipe: FitOptions,
    output: str,
    as_json: bool,
    address: str,
    workers: int,
) -> None:
    """Fit a file that the workers of a Dask cluster read."""
    refuse_target(output, data)
    with cluster(address, workers) as client:
        rows = rows_of_workers(data, choice, client)
        bulk.fit(data, rows, recipe, output, as_json)


def score(
    model_path: str, data: str, choice: Choice, output: str, as_json: bool
) -> None:
    """Judge rows by a model: one line for each."""
    refuse_table(output, data, model_path)
    model = load(model_path)
    rows = large_rows(model, data, choice)
    if rows is not None:
        bulk.score(model, rows, RowIdentities(data, choice), output, as_json)
        return
    found = judged(model, model_path, data, choice).found
    if output:
        write_table(output, scored(found))
    if as_json:
        console.say_json(judgement(found) | {"output": output or None})
    elif output != STANDARD:
        console.show_analysis(found)
        console.say(f"Scored rows saved to {output}")


def transform(
    model_path: str, data: str, choice: Choice, output: str, as_json: bool
) -> None:
    """Scores of rows on the components."""
    numbers = output.lower().endswith(".npy")
    (refuse_target if numbers else refuse_table)(output, data, model_path)
    if numbers and (choice.id or choice.label):
        raise TableError(
            f"{output} holds numbers only, and has no place for names and labels of "
            "rows: choose the ending .parquet or .csv, or leave out --id and --label."
        )
    model = load(model_path)
    names = [str(name) for name in split_pipeline(model).model.get_feature_names_out()]
    rows = large_rows(model, data, choice) if output else None
    if rows is not None:
        bulk.transform(model, rows, RowIdentities(data, choice), names, output)
        _say_transformed(names, rows.shape[0], output, as_json)
        return
    table = table_for(model, data, choice)
    with names_are_known():
        scores = model.transform(table.X)
    fields = {} if numbers else who(table.ids, table.labels, len(scores))
    fields |= dict(zip(names, scores.T, strict=True))
    if output:
        write_table(output, fields)
    _say_transformed(names, len(scores), output, as_json, scores)


def _say_transformed(
    names: list[str], n: int, output: str, as_json: bool, scores: Any = None
) -> None:
    if as_json:
        content = {"rows": n, "columns": names, "output": output or None}
        console.say_json(content if output else content | {"scores": scores})
    elif output != STANDARD:
        console.say(
            f"{len(names)} scores of {n:,} rows saved to {output}: {', '.join(names)}"
        )


def report(
    data: str,
    choice: Choice,
    recipe: FitOptions,
    model_path: str,
    output: str,
    as_json: bool,
    show: bool,
    command: str,
) -> None:
    """Write the page about a table: fit it, or judge it by a model."""
    from trueaxis.report import STAGES, look_for_needs, render, write

    look_for_needs()
    refuse_target(output, data, model_path)
    with console.stages(["reading", "fitting", "looking", *STAGES]) as begin:
        if model_path:
            begin("looking")
            work = judged(load(model_path), model_path, data, choice)
        else:
            work = fitted(data, choice, recipe, begin)
        page = render(
            work.found, source=Path(data).name, origin=work.origin, command=command,
            seconds=work.seconds, progress=begin,
        )  # fmt: skip
    write(page, output)
    if as_json:
        if model_path:
            content = judgement(work.found)
        else:
            content = summary(data, work.found, work.seconds)
        console.say_json(content | {"report": output})
    else:
        console.show_analysis(work.found)
        console.say(f"Report saved to {output}")
    if show:
        webbrowser.open(Path(output).resolve().as_uri())


def compare(
    data: str,
    choice: Choice,
    recipe: FitOptions,
    methods: list[str],
    output: str,
    as_json: bool,
) -> None:
    """Fit several methods to one table and lay them side by side."""
    refuse_table(output, data)
    table = read(data, choice)
    scaler = scaler_for(recipe, table)
    X = table.X if scaler is None else scaler.transform(table.X)
    left_out = [] if methods else sorted(METHODS.keys() - set(suitable(*X.shape)))
    with console.stages(methods or suitable(*X.shape)) as begin:
        found = compare_methods(
            X, methods or None, n_components=recipe.n_components, progress=begin
        )
    fields = side_by_side(found)
    if output:
        write_table(output, fields)
    if as_json:
        rows = as_records(fields)
        k = found[0].model.n_components_
        console.say_json({"n_components": k, "methods": rows, "left_out": left_out})
    elif output != STANDARD:
        console.show_comparison(found)
    if left_out:
        console.say(
            f"Left out, since they would take long on {X.shape[0]:,} x {X.shape[1]:,}: "
            f"{', '.join(left_out)}. Name them with --methods to wait for them.",
            console.aside(),
        )


def export(model_path: str, output: str, as_json: bool) -> None:
    """Turn a model file into an ONNX graph."""
    from trueaxis._persistence.onnx_export import export_onnx

    refuse_target(output, model_path)
    model = load(model_path)
    export_onnx(model, output)
    if as_json:
        console.say_json({"model": model_path, "onnx": output})
    else:
        console.say(f"ONNX graph saved to {output}")


def reproduce(
    study: str,
    data_home: str | None,
    quick: bool,
    jobs: int | None,
    output: str | None,
    page: str | None,
    offline: bool,
) -> None:
    """Repeat the paper's experiments."""
    from trueaxis.reproduction import reproduce as experiments
    from trueaxis.reproduction.study import cores

    folder = Path(output or ("results/quick" if quick else "results"))
    # Quick numbers must not replace those of the whole study.
    keeps = not quick and output is None and Path("docs").is_dir()
    target = Path(page or (Path("docs") if keeps else folder) / "reproduction.md")
    names = experiments.NAMES if study == "all" else (study,)
    studies = [
        experiments.prepare(name, data_home, quick, download=not offline)
        for name in names
    ]
    for one in studies:
        for name in getattr(one, "missing", ()):
            console.say(
                f"Note: {name} is left out, since there is no such data set in "
                f"{data_home or 'TRUEAXIS_DATA (not set)'} or the cache. Name a folder "
                "that has it with --data-home.",
                console.aside(),
            )
    with console.bars() as begin:
        experiments.reproduce(
            studies, folder, target, jobs=jobs or cores(), begin=begin
        )
    console.say(f"Results saved to {folder}, the page to {target}")


def methods(as_json: bool) -> None:
    """List the methods that can be fitted."""
    lines = {name: inspect.getdoc(cls) or "" for name, cls in METHODS.items()}
    first = {name: text.splitlines()[0] for name, text in lines.items()}
    if as_json:
        console.say_json(first)
        return
    width = max(map(len, first))
    for name, line in first.items():
        console.say(f"{name:<{width}}  {line}")
