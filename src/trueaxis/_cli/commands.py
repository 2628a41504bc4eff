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
from trueaxis._cli.errors import NOTES
from trueaxis._cli.json_output import (
    as_records,
    comparison_columns,
    head_summary,
    identity_columns,
    line_summary,
    result_summary,
    score_columns,
    table_summary,
)
from trueaxis._cli.rows_output import RowFiles, RowSource, RowSplit
from trueaxis._cli.streaming import RowIdentities, open_if_large, open_on_workers
from trueaxis._cli.workflow import (
    CommandResult,
    FitOptions,
    draw_line,
    fit_first_step,
    fit_table,
    judge_table,
    prepare,
    read_for_fit,
    read_for_model,
    rows_for,
)
from trueaxis._persistence.model_files import load, save
from trueaxis._tables.original import kept_standard_input
from trueaxis._tables.read import STANDARD, Choice, TableError
from trueaxis._tables.write import refuse_table, refuse_target, write_table
from trueaxis.diagnostics.comparison import compare as compare_methods
from trueaxis.diagnostics.comparison import suitable
from trueaxis.estimators import METHODS
from trueaxis.estimators.pipeline import split_pipeline
from trueaxis.report.analysis import Analysis, ignore_feature_name_warning
from trueaxis.report.sentences import fit_sentence


def fit(
    data: str,
    choice: Choice,
    fit_options: FitOptions,
    output: str,
    files: RowFiles,
    as_json: bool,
) -> None:
    """Fit a table, print its outliers and save the model."""
    refuse_target(output, data)
    files.refuse(data, output=output)
    rows = open_if_large(None, data, choice, spool=True)
    if rows is not None:
        source = files.open_large(data, choice)
        large_commands.fit(data, rows, fit_options, output, files, source, as_json)
        return
    with (
        kept_standard_input(data),
        console.stages(["reading", "fitting", "diagnosing"]) as begin,
    ):
        source = files.open(data, choice)
        result = fit_table(data, choice, fit_options, begin)
    split = split_rows(files, source, result)
    with split.written():
        if output:
            save(result.model, output)
    if as_json:
        content = result_summary("fit", data, result) | _cells_summary(result)
        _say_json(content | {"model": output or None} | split.summary())
        return
    to = console.stderr() if files.to_stdout else None
    _show(result.analysis, to)
    console.say(fit_sentence(result.analysis, result.seconds), to)
    if output:
        console.say(f"Model saved to {output}", to)
    split.say(to)


def split_rows(
    files: RowFiles, source: RowSource | None, result: CommandResult
) -> RowSplit:
    """Return which rows of a table that was analyzed are outliers."""
    flagged = result.analysis.diagnosis.flagged
    return files.split(source, flagged, result.table.positions)


def _show(analysis: Analysis, to: Any = None) -> None:
    console.show_analysis(analysis, to)
    for sentence in describe_wrong_cells(analysis):
        console.say(sentence, to)


def _cells_summary(result: CommandResult) -> dict[str, Any]:
    return wrong_cells_summary(result.analysis, result.table.positions)


def _say_json(content: dict[str, Any]) -> None:
    """Print JSON, with the notes that the command printed on the way."""
    console.say_json(content | {"notes": list(NOTES)})


def fit_by_workers(
    data: str,
    choice: Choice,
    fit_options: FitOptions,
    output: str,
    files: RowFiles,
    as_json: bool,
    address: str,
    workers: int,
) -> None:
    """Fit a file that the workers of a Dask cluster read."""
    refuse_target(output, data)
    files.refuse(data, output=output)
    source = files.open_large(data, choice)
    with connect(address, workers) as client:
        rows = open_on_workers(data, choice, client)
        large_commands.fit(data, rows, fit_options, output, files, source, as_json)


def score(
    model_path: str,
    data: str,
    choice: Choice,
    level: float | None,
    output: str,
    files: RowFiles,
    as_json: bool,
) -> None:
    """Write the verdict of a saved model on each row."""
    refuse_table(output, data, model_path)
    files.refuse(data, model_path, output=output)
    model = load(model_path)
    if level is not None:
        draw_line(model, level)
    rows = open_if_large(model, data, choice)
    if rows is not None:
        identities = RowIdentities(data, choice)
        source = files.open_large(data, choice)
        large_commands.score(
            model, model_path, data, rows, identities, output, files, source, as_json
        )
        return
    with kept_standard_input(data):
        source = files.open(data, choice)
        result = judge_table(model, model_path, data, choice)
    analysis = result.analysis
    split = split_rows(files, source, result)
    with split.written():
        if output not in ("", STANDARD):
            write_table(output, score_columns(analysis))
    if as_json:
        content = result_summary("score", data, result) | _cells_summary(result)
        content |= {"model": model_path, "output": output or None}
        _say_json(content | split.summary())
        return
    to = console.stderr() if output == STANDARD or files.to_stdout else None
    if output != STANDARD:
        _show(analysis, to)
    if output not in ("", STANDARD):
        console.say(f"Scored rows saved to {output}", to)
    split.say(to)
    if output == STANDARD:
        write_table(output, score_columns(analysis))


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
        content = large_commands.transform(model, rows, identities, names, output)
        if as_json:
            head = head_summary("transform", data) | content
            _say_json(head | {"model": model_path, "output": output or None})
        else:
            _say_transformed(names, rows.shape[0], output)
        return
    table = read_for_model(model, data, choice)
    with ignore_feature_name_warning():
        scores = model.transform(rows_for(split_pipeline(model).scaler, table))
    columns = {} if is_npy else identity_columns(table.ids, table.labels, len(scores))
    columns |= dict(zip(names, scores.T, strict=True))
    if output:
        write_table(output, columns)
    if as_json:
        content = {**head_summary("transform", data), **table_summary(table)}
        content |= {"read_columns": content.pop("columns")}
        content |= {"columns": names, "model": model_path, "output": output or None}
        _say_json(content if output else content | {"scores": scores})
        return
    _say_transformed(names, len(scores), output)


def _say_transformed(names: list[str], n: int, output: str) -> None:
    if output != STANDARD:
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
    files: RowFiles,
    as_json: bool,
    show: bool,
    command: str,
) -> None:
    """Write the report on a table that is fitted, or judged by a saved model."""
    from trueaxis.report import STAGES, check_dependencies, render, write

    check_dependencies()
    refuse_target(output, data, model_path)
    files.refuse(data, model_path, output=output)
    with (
        kept_standard_input(data),
        console.stages(["reading", "fitting", "diagnosing", *STAGES]) as begin,
    ):
        source = files.open(data, choice)
        if model_path:
            begin("diagnosing")
            result = judge_table(load(model_path), model_path, data, choice)
        else:
            result = fit_table(data, choice, fit_options, begin)
        page = render(
            result.analysis, source=Path(data).name, origin=result.origin,
            command=command, seconds=result.seconds, progress=begin,
        )  # fmt: skip
    split = split_rows(files, source, result)
    with split.written():
        write(page, output)
    if as_json:
        content = result_summary("report", data, result) | _cells_summary(result)
        content |= {"model": model_path or None, "report": output}
        _say_json(content | split.summary())
    else:
        to = console.stderr() if files.to_stdout else None
        _show(result.analysis, to)
        console.say(f"Report saved to {output}", to)
        split.say(to)
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
    X = prepare(fit_first_step(fit_options, table), table)
    left_out = [] if methods else sorted(METHODS.keys() - set(suitable(*X.shape)))
    with console.stages(methods or suitable(*X.shape)) as begin:
        results = compare_methods(
            X, methods or None, n_components=fit_options.n_components,
            **fit_options.parameters, progress=begin,
        )  # fmt: skip
    columns = comparison_columns(results)
    if output not in ("", STANDARD):
        write_table(output, columns)
    if left_out:
        console.remark(
            "Left out, because they would take long on "
            f"{X.shape[0]:,} x {X.shape[1]:,}: {', '.join(left_out)}. To fit them "
            "anyway, name them with --methods."
        )
    if as_json:
        first = results[0].model
        content = {**head_summary("compare", data), **table_summary(table)}
        content |= {"n_components": first.n_components_, **line_summary(first)}
        content |= {"methods": as_records(columns), "left_out": left_out}
        _say_json(content | {"output": output or None})
    elif output == STANDARD:
        write_table(output, columns)
    else:
        console.show_comparison(results)
        if output:
            console.say(f"Comparison saved to {output}")


def export(model_path: str, output: str, as_json: bool) -> None:
    """Convert a model file to an ONNX graph."""
    from trueaxis._persistence.onnx_export import export_onnx

    refuse_target(output, model_path)
    model = load(model_path)
    export_onnx(model, output)
    if as_json:
        content = head_summary("export", model_path)
        _say_json(content | {"model": model_path, "onnx": output})
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
