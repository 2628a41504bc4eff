"""Run the commands: one function per command, called by `main` with its options.

Tables in memory are handled here and in `workflow`, files that are too large for
that in `large_commands`.
"""

from __future__ import annotations

import inspect
import webbrowser
from pathlib import Path
from typing import Any

from trueaxis._cli import console, large_commands
from trueaxis._cli.cell_output import describe_wrong_cells, wrong_cells_summary
from trueaxis._cli.cluster import connect
from trueaxis._cli.json_output import (
    as_records,
    comparison_columns,
    fit_summary,
    identity_columns,
    line_summary,
    outlier_summary,
    score_columns,
)
from trueaxis._cli.streaming import RowIdentities, open_if_large, open_on_workers
from trueaxis._cli.workflow import (
    FitOptions,
    draw_line,
    fit_scaler,
    fit_table,
    judge_table,
    read_for_fit,
    read_for_model,
)
from trueaxis._persistence.model_files import load, save
from trueaxis._tables.read import STANDARD, Choice, TableError
from trueaxis._tables.write import refuse_table, refuse_target, write_table
from trueaxis.diagnostics.comparison import compare as compare_methods
from trueaxis.diagnostics.comparison import suitable
from trueaxis.estimators import METHODS
from trueaxis.estimators.pipeline import split_pipeline
from trueaxis.report.analysis import Analysis, ignore_feature_name_warning
from trueaxis.report.sentences import fit_sentence


def fit(
    data: str, choice: Choice, fit_options: FitOptions, output: str, as_json: bool
) -> None:
    """Fit a table, print its outliers and save the model."""
    refuse_target(output, data)
    rows = open_if_large(None, data, choice, spool=True)
    if rows is not None:
        large_commands.fit(data, rows, fit_options, output, as_json)
        return
    with console.stages(["reading", "fitting", "diagnosing"]) as begin:
        result = fit_table(data, choice, fit_options, begin)
    if output:
        save(result.model, output)
    if as_json:
        content = fit_summary(data, result.analysis, result.seconds)
        content |= wrong_cells_summary(result.analysis)
        console.say_json(content | {"model": output or None})
        return
    _show(result.analysis)
    console.say(fit_sentence(result.analysis, result.seconds))
    if output:
        console.say(f"Model saved to {output}")


def _show(analysis: Analysis) -> None:
    console.show_analysis(analysis)
    for sentence in describe_wrong_cells(analysis):
        console.say(sentence)


def fit_by_workers(
    data: str,
    choice: Choice,
    fit_options: FitOptions,
    output: str,
    as_json: bool,
    address: str,
    workers: int,
) -> None:
    """Fit a file that the workers of a Dask cluster read."""
    refuse_target(output, data)
    with connect(address, workers) as client:
        rows = open_on_workers(data, choice, client)
        large_commands.fit(data, rows, fit_options, output, as_json)


def score(
    model_path: str,
    data: str,
    choice: Choice,
    level: float | None,
    output: str,
    as_json: bool,
) -> None:
    """Write the verdict of a saved model on each row."""
    refuse_table(output, data, model_path)
    model = load(model_path)
    if level is not None:
        draw_line(model, level)
    rows = open_if_large(model, data, choice)
    if rows is not None:
        identities = RowIdentities(data, choice)
        large_commands.score(model, rows, identities, output, as_json)
        return
    analysis = judge_table(model, model_path, data, choice).analysis
    if output:
        write_table(output, score_columns(analysis))
    if as_json:
        content = outlier_summary(analysis) | wrong_cells_summary(analysis)
        console.say_json(content | {"output": output or None})
    elif output != STANDARD:
        _show(analysis)
        console.say(f"Scored rows saved to {output}")


def transform(
    model_path: str, data: str, choice: Choice, output: str, as_json: bool
) -> None:
    """Write the scores of rows on the components of a saved model."""
    is_npy = output.lower().endswith(".npy")
    (refuse_target if is_npy else refuse_table)(output, data, model_path)
    if is_npy and (choice.id or choice.label):
        raise TableError(
            f"{output} holds numbers only, not names or labels of rows: choose "
            "the ending .parquet or .csv, or leave out --id and --label."
        )
    model = load(model_path)
    names = [str(name) for name in split_pipeline(model).model.get_feature_names_out()]
    rows = open_if_large(model, data, choice) if output else None
    if rows is not None:
        identities = RowIdentities(data, choice)
        large_commands.transform(model, rows, identities, names, output)
        _report_transform(names, rows.shape[0], output, as_json)
        return
    table = read_for_model(model, data, choice)
    with ignore_feature_name_warning():
        scores = model.transform(table.X)
    columns = {} if is_npy else identity_columns(table.ids, table.labels, len(scores))
    columns |= dict(zip(names, scores.T, strict=True))
    if output:
        write_table(output, columns)
    _report_transform(names, len(scores), output, as_json, scores)


def _report_transform(
    names: list[str], n: int, output: str, as_json: bool, scores: Any = None
) -> None:
    if as_json:
        content = {"rows": n, "columns": names, "output": output or None}
        console.say_json(content if output else content | {"scores": scores})
    elif output != STANDARD:
        console.say(
            f"Scores of {n:,} rows on {len(names)} components saved to {output}: "
            f"{', '.join(names)}"
        )


def report(
    data: str,
    choice: Choice,
    fit_options: FitOptions,
    model_path: str,
    output: str,
    as_json: bool,
    show: bool,
    command: str,
) -> None:
    """Write the report on a table that is fitted, or judged by a saved model."""
    from trueaxis.report import STAGES, check_dependencies, render, write

    check_dependencies()
    refuse_target(output, data, model_path)
    with console.stages(["reading", "fitting", "diagnosing", *STAGES]) as begin:
        if model_path:
            begin("diagnosing")
            result = judge_table(load(model_path), model_path, data, choice)
        else:
            result = fit_table(data, choice, fit_options, begin)
        page = render(
            result.analysis, source=Path(data).name, origin=result.origin,
            command=command, seconds=result.seconds, progress=begin,
        )  # fmt: skip
    write(page, output)
    if as_json:
        if model_path:
            content = outlier_summary(result.analysis)
        else:
            content = fit_summary(data, result.analysis, result.seconds)
        content |= wrong_cells_summary(result.analysis)
        console.say_json(content | {"report": output})
    else:
        _show(result.analysis)
        console.say(f"Report saved to {output}")
    if show:
        webbrowser.open(Path(output).resolve().as_uri())


def compare(
    data: str,
    choice: Choice,
    fit_options: FitOptions,
    methods: list[str],
    output: str,
    as_json: bool,
) -> None:
    """Fit several methods to one table and compare them."""
    refuse_table(output, data)
    table = read_for_fit(data, choice, METHODS[(methods or ["dswl"])[0]])
    scaler = fit_scaler(fit_options, table)
    X = table.X if scaler is None else scaler.transform(table.X)
    left_out = [] if methods else sorted(METHODS.keys() - set(suitable(*X.shape)))
    with console.stages(methods or suitable(*X.shape)) as begin:
        results = compare_methods(
            X, methods or None, n_components=fit_options.n_components,
            **fit_options.parameters, progress=begin,
        )  # fmt: skip
    columns = comparison_columns(results)
    if output:
        write_table(output, columns)
    if as_json:
        rows = as_records(columns)
        first = results[0].model
        content = {"n_components": first.n_components_, **line_summary(first)}
        console.say_json(content | {"methods": rows, "left_out": left_out})
    elif output != STANDARD:
        console.show_comparison(results)
    if left_out:
        console.say(
            "Left out, because they would take long on "
            f"{X.shape[0]:,} x {X.shape[1]:,}: {', '.join(left_out)}. To fit them "
            "anyway, name them with --methods.",
            console.stderr(),
        )


def export(model_path: str, output: str, as_json: bool) -> None:
    """Convert a model file to an ONNX graph."""
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
    from trueaxis.reproduction import reproduce as runner
    from trueaxis.reproduction.study import cores

    folder = Path(output or ("results/quick" if quick else "results"))
    # A quick run must not overwrite the page of the full study.
    in_docs = not quick and output is None and Path("docs").is_dir()
    target = Path(page or (Path("docs") if in_docs else folder) / "reproduction.md")
    names = runner.NAMES if study == "all" else (study,)
    studies = [
        runner.prepare(name, data_home, quick, download=not offline) for name in names
    ]
    for prepared in studies:
        for name in getattr(prepared, "missing", ()):
            console.say(
                f"Note: {name} is left out: the data set is neither in "
                f"{data_home or 'TRUEAXIS_DATA (not set)'} nor in the cache. Give a "
                "folder that has it with --data-home.",
                console.stderr(),
            )
    with console.bars() as begin:
        runner.reproduce(studies, folder, target, jobs=jobs or cores(), begin=begin)
    console.say(f"Results saved to {folder}, the page to {target}")


def methods(as_json: bool) -> None:
    """List the methods that can be fitted."""
    docstrings = {name: inspect.getdoc(cls) or "" for name, cls in METHODS.items()}
    summaries = {name: text.splitlines()[0] for name, text in docstrings.items()}
    if as_json:
        console.say_json(summaries)
        return
    width = max(map(len, summaries))
    for name, line in summaries.items():
        console.say(f"{name:<{width}}  {line}")
