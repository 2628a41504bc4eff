"""Run the commands: one function per command, called by `main` with its options.

Tables in memory are handled here and in `workflow`, files that are too large for
that in `large_commands`. What needs scikit-learn is imported after a table is read.
"""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trueaxis._cli import console, import_sklearn
from trueaxis._cli.errors import NOTES
from trueaxis._cli.missing import read_for_fit
from trueaxis._cli.options import FitOptions
from trueaxis._cli.rows_output import RowFiles, RowSource, RowSplit
from trueaxis._cli.streaming import RowIdentities, open_if_large
from trueaxis.io import Choice, TableError
from trueaxis.io.formats import STANDARD
from trueaxis.io.original import kept_standard_input
from trueaxis.io.write import refuse_table, refuse_target, write_table

if TYPE_CHECKING:
    from trueaxis._cli.workflow import CommandResult
    from trueaxis.report.analysis import Analysis


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
        import_sklearn()
        from trueaxis._cli import large_commands

        large_commands.fit(data, rows, fit_options, output, files, source, as_json)
        return
    with (
        kept_standard_input(data),
        console.stages(["reading", "fitting", "diagnosing"]) as begin,
    ):
        source = files.open(data, choice)
        begin("reading")
        table = read_for_fit(data, choice, fit_options.method)
        import_sklearn()
        from trueaxis._cli.workflow import fit_table
        from trueaxis._persistence.model_files import save

        def keep(model: Any) -> None:
            # Before the diagnosis, which may fail; other files appear together with it.
            if output and not files:
                save(model, output)

        result = fit_table(table, data, choice, fit_options, begin, keep)
    split = split_rows(files, source, result)
    with split.written():
        if output and files:
            save(result.model, output)
    if as_json:
        content = _summary("fit", data, result)
        _say_json(content | {"model": output or None} | split.summary())
        return
    from trueaxis.report.sentences import fit_sentence

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
    from trueaxis._cli.cell_output import describe_wrong_cells

    console.show_analysis(analysis, to)
    for sentence in describe_wrong_cells(analysis):
        console.say(sentence, to)


def _summary(command: str, data: str, result: CommandResult) -> dict[str, Any]:
    """Return what JSON tells about a table that was fitted, or judged by a model."""
    from trueaxis._cli.cell_output import wrong_cells_summary
    from trueaxis._cli.json_output import result_summary

    cells = wrong_cells_summary(result.analysis, result.table.positions)
    return result_summary(command, data, result) | cells


def _say_json(content: dict[str, Any]) -> None:
    """Print JSON, with the notes that the command printed on the way."""
    console.say_json(content | {"notes": list(NOTES)})


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
    import_sklearn()
    from trueaxis._cli import large_commands
    from trueaxis._cli.json_output import score_columns
    from trueaxis._cli.workflow import draw_line, judge_table
    from trueaxis._persistence.model_files import load

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
        content = _summary("score", data, result)
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
    import_sklearn()
    from trueaxis._cli import json_output, large_commands
    from trueaxis._cli.workflow import read_for_model, transform_table
    from trueaxis._persistence.model_files import load
    from trueaxis.estimators.pipeline import split_pipeline

    model = load(model_path)
    names = [str(name) for name in split_pipeline(model).model.get_feature_names_out()]
    rows = open_if_large(model, data, choice) if output else None
    if rows is not None:
        identities = RowIdentities(data, choice)
        content = large_commands.transform(model, rows, identities, names, output)
        if as_json:
            head = json_output.head_summary("transform", data) | content
            _say_json(head | {"model": model_path, "output": output or None})
        else:
            _say_transformed(names, rows.shape[0], output)
        return
    table = read_for_model(model, data, choice)
    scores, columns = transform_table(model, table), {}
    if not is_npy:
        columns = json_output.identity_columns(table.ids, table.labels, len(scores))
    columns |= dict(zip(names, scores.T, strict=True))
    if output:
        write_table(output, columns)
    if as_json:
        content = json_output.head_summary("transform", data)
        content |= json_output.table_summary(table)
        content |= {"read_columns": content.pop("columns")}
        content |= {"columns": names, "model": model_path, "output": output or None}
        _say_json(content if output else content | {"scores": scores})
        return
    _say_transformed(names, len(scores), output)


def _say_transformed(names: list[str], n: int, output: str) -> None:
    if output != STANDARD:
        console.say(
            f"Scores of {n:,} rows on {len(names)} components saved to {output}: "
            f"{names[0]}{f' to {names[-1]}' if len(names) > 1 else ''}"
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
            result = _judge(model_path, data, choice)
        else:
            begin("reading")
            table = read_for_fit(data, choice, fit_options.method)
            import_sklearn()
            from trueaxis._cli.workflow import fit_table

            result = fit_table(table, data, choice, fit_options, begin)
        page = render(
            result.analysis, source=Path(data).name, origin=result.origin,
            command=command, seconds=result.seconds, progress=begin,
        )  # fmt: skip
    split = split_rows(files, source, result)
    with split.written():
        write(page, output)
    if as_json:
        content = _summary("report", data, result)
        content |= {"model": model_path or None, "report": output}
        _say_json(content | split.summary())
    else:
        to = console.stderr() if files.to_stdout else None
        _show(result.analysis, to)
        console.say(f"Report saved to {output}", to)
        split.say(to)
    if show:
        import webbrowser

        webbrowser.open(Path(output).resolve().as_uri())


def _judge(model_path: str, data: str, choice: Choice) -> CommandResult:
    import_sklearn()
    from trueaxis._cli.workflow import judge_table
    from trueaxis._persistence.model_files import load

    return judge_table(load(model_path), model_path, data, choice)


def compare(
    data: str,
    choice: Choice,
    fit_options: FitOptions,
    methods: list[str],
    all_rows: bool,
    output: str,
    as_json: bool,
) -> None:
    """Fit several methods to one table and compare them."""
    refuse_table(output, data)
    table = read_for_fit(data, choice, (methods or ["dswl"])[0])
    import_sklearn()
    from trueaxis._cli import json_output
    from trueaxis._cli.workflow import fit_first_step, prepare
    from trueaxis.diagnostics.comparison import MAX_ROWS, suitable
    from trueaxis.diagnostics.comparison import compare as compare_methods
    from trueaxis.estimators import METHODS

    X = prepare(fit_first_step(fit_options, table), table)
    n, D = X.shape
    fitted = n if all_rows else min(n, MAX_ROWS)
    chosen = methods or suitable(fitted, D)
    left_out = [] if methods else sorted(METHODS.keys() - set(chosen))
    with console.stages(chosen) as begin:
        results = compare_methods(
            X, methods or None, n_components=fit_options.n_components,
            **fit_options.parameters, max_rows=None if all_rows else MAX_ROWS,
            progress=begin,
        )  # fmt: skip
    columns = json_output.comparison_columns(results)
    if output not in ("", STANDARD):
        write_table(output, columns)
    console.remark_on_scope(fitted, n, D, left_out)
    if as_json:
        first = results[0].model
        content = json_output.head_summary("compare", data)
        content |= json_output.table_summary(table)
        content |= {"n_components": first.n_components_}
        content |= json_output.line_summary(first)
        content |= {"methods": json_output.as_records(columns), "left_out": left_out}
        _say_json(content | {"fitted_rows": fitted, "output": output or None})
    elif output == STANDARD:
        write_table(output, columns)
    else:
        console.show_comparison(results)
        if output:
            console.say(f"Comparison saved to {output}")


def export(model_path: str, output: str, as_json: bool) -> None:
    """Convert a model file to an ONNX graph."""
    import_sklearn()
    from trueaxis._cli.json_output import head_summary
    from trueaxis._persistence.model_files import load
    from trueaxis._persistence.onnx_export import export_onnx

    refuse_target(output, model_path)
    model = load(model_path)
    export_onnx(model, output)
    if as_json:
        content = head_summary("export", model_path)
        _say_json(content | {"model": model_path, "onnx": output})
    else:
        console.say(f"ONNX graph saved to {output}")


def methods(as_json: bool) -> None:
    """List the methods that can be fitted."""
    import_sklearn()
    from trueaxis.estimators import METHODS

    docstrings = {name: inspect.getdoc(cls) or "" for name, cls in METHODS.items()}
    summaries = {name: text.splitlines()[0] for name, text in docstrings.items()}
    if as_json:
        console.say_json(summaries)
        return
    width = max(map(len, summaries))
    for name, line in summaries.items():
        console.say(f"{name:<{width}}  {line}")
