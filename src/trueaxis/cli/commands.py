"""Run the commands: one function per command, called by `main` with its options."""

from __future__ import annotations

import inspect
import shlex
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from trueaxis import report as reports
from trueaxis.cli import console
from trueaxis.cli.findings import (
    RowFindings,
    fit_first_step,
    fit_source,
    save_model,
)
from trueaxis.cli.options import (
    choice_from,
    first_step_from,
    method_class,
    method_from,
    refuse_fit_options,
    refuse_standard_output,
    refuse_two_outputs,
)
from trueaxis.cli.repair import repair as repair
from trueaxis.cli.source import (
    STANDARD,
    TableError,
    check_outputs,
    open_source,
    write_table,
    written,
)
from trueaxis.datasets import sensors
from trueaxis.diagnostics.comparison import MAX_ROWS, suitable
from trueaxis.diagnostics.comparison import compare as compare_methods
from trueaxis.dswl.estimator import DSWL
from trueaxis.methods import METHODS
from trueaxis.persistence import load, save
from trueaxis.pipeline import is_pipeline, split_pipeline
from trueaxis.report.analysis import analyse
from trueaxis.report.given import ignore_feature_name_warning
from trueaxis.report.sentences import fit_sentence


@dataclass(frozen=True)
class RowFiles:
    """Files for the rows without outliers, and for the outliers.

    Attributes
    ----------
    clean, flagged : str
        "-" for standard output, "" for none.
    """

    clean: str
    flagged: str

    @property
    def targets(self) -> dict[str, str]:
        """The files by option."""
        return {"--clean": self.clean, "--flagged": self.flagged}

    def rows(self, findings: RowFindings) -> dict[str, NDArray[np.bool_]]:
        """Return which rows of the input go into which file."""
        outliers = {self.clean: False, self.flagged: True}
        return {
            target: findings.source.in_file(findings.flagged == outlier)
            for target, outlier in outliers.items()
            if target
        }

    def writers(self, findings: RowFindings) -> dict[str, Any]:
        """Return what writes the files; which rows, may only be known by then."""

        def write(target: str, file: Any) -> None:
            findings.source.write_rows(file, target, self.rows(findings)[target])

        return {name: partial(write, name) for name in self.targets.values() if name}

    def show(self, findings: RowFindings, aside: bool) -> None:
        """Print how many rows went where."""
        left = findings.source.n_left_out
        neither = f" ({console.count(left, 'row')} with missing cells in neither file)"
        for target, rows in self.rows(findings).items():
            kind = "clean row" if target == self.clean else "outlier"
            n = console.count(int(rows.sum()), kind)
            console.show_saved(n, target, aside, neither if left else "")

    def to_dict(self, findings: RowFindings) -> dict[str, Any]:
        """Return the files and their numbers of rows, for JSON."""
        written = {
            target: {"file": target, "rows": int(rows.sum())}
            for target, rows in self.rows(findings).items()
        }
        content = {
            "clean": written.get(self.clean), "flagged": written.get(self.flagged)
        }  # fmt: skip
        left = {"in_neither": findings.source.n_left_out}
        return content | (left if written else {})


def fit(
    data: str, output: str, clean: str, flagged: str, as_json: bool, **options: Any
) -> None:
    """Fit a table, print its outliers and save the model."""
    refuse_standard_output(output, "A model")
    refuse_two_outputs(as_json, clean=clean, flagged=flagged)
    first, method, files = (
        first_step_from(options),
        method_from(options),
        RowFiles(clean, flagged),
    )
    check_outputs((data,), files={"--output": output}, rows=files.targets)
    source = open_source(
        data,
        choice_from(options),
        method,
        targets=files.targets.values(),
        large=True,
    )
    findings = fit_source(source, first, method)
    findings.run()
    with written(files.writers(findings)):
        if output:
            save_model(findings.model, output)
    if as_json:
        content = findings.to_dict() | {"model": output or None}
        console.show_json("fit", data, content | files.to_dict(findings))
        return
    aside = STANDARD in files.targets.values()
    console.show_findings(findings, aside)
    if findings.analysis is not None:
        console.show(fit_sentence(findings.analysis, findings.seconds), aside)
    console.show_saved("Model", output, aside)
    files.show(findings, aside)


def score(
    model: str,
    data: str,
    output: str,
    level: float | None,
    clean: str,
    flagged: str,
    as_json: bool,
    **options: Any,
) -> None:
    """Write the verdict of a saved model on each row."""
    refuse_two_outputs(as_json, output=output, clean=clean, flagged=flagged)
    # Rows on standard output leave no place for the verdicts.
    if not as_json and STANDARD not in (clean, flagged):
        output = output or STANDARD
    files = RowFiles(clean, flagged)
    check_outputs((data, model), tables={"--output": output}, rows=files.targets)
    loaded = load(model)
    if level is not None:
        method = loaded[-1] if is_pipeline(loaded) else loaded
        method.set_params(level=level, contamination=None)
        method._set_line(float(np.log10(level)))
    source = open_source(
        data, choice_from(options), loaded, targets=files.targets.values(), large=True
    )
    findings = RowFindings(loaded, source)

    def write_verdicts(file: Any) -> None:
        write_table(file, output, findings.verdicts())

    # The verdicts come first: they tell which rows go where.
    writers = {output: write_verdicts} | files.writers(findings)
    with written(writers):
        findings.run()
    if as_json:
        content = findings.to_dict() | {"model": model, "output": output or None}
        console.show_json("score", data, content | files.to_dict(findings))
        return
    aside = STANDARD in (output, *files.targets.values())
    if output != STANDARD:
        console.show_findings(findings, aside)
    console.show_saved("Scored rows", output, aside)
    files.show(findings, aside)


def transform(
    model: str, data: str, output: str, as_json: bool, **options: Any
) -> None:
    """Write the scores of rows on the components of a saved model."""
    refuse_two_outputs(as_json, output=output)
    output, choice = output or ("" if as_json else STANDARD), choice_from(options)
    is_npy = output.lower().endswith(".npy")
    kind = "files" if is_npy else "tables"
    check_outputs((data, model), **{kind: {"--output": output}})
    if is_npy and (choice.id or choice.label):
        raise TableError(
            f"{output} holds numbers only, not names or labels of rows: choose "
            "the ending .parquet or .csv, or leave out --id and --label."
        )
    loaded = load(model)
    names = [str(name) for name in split_pipeline(loaded).model.get_feature_names_out()]
    source = open_source(data, choice, loaded, large=bool(output))

    def blocks() -> Any:
        for some, rows in source.blocks(loaded):
            with ignore_feature_name_warning():
                scores = np.asarray(loaded.transform(rows))
            columns: dict[str, Any] = {} if is_npy else {"row": source.ids[some]}
            if source.labels is not None:
                columns["label"] = source.labels[some]
            yield columns | dict(zip(names, scores.T, strict=True))

    def write_scores(file: Any) -> None:
        write_table(file, output, blocks(), source.n_rows)

    with written({output: write_scores}):
        pass
    if as_json:
        content = source.to_dict()
        content |= {"read_columns": content["columns"], "columns": names}
        content |= {"model": model, "output": output or None}
        if not output:  # a table in memory, which is one block
            columns = next(blocks())
            content["scores"] = np.column_stack([columns[name] for name in names])
        console.show_json("transform", data, content)
        return
    what = f"Scores of {source.n_rows:,} rows on {len(names)} components"
    console.show_saved(what, output)


def report(data: str, output: str, model: str, as_json: bool, **options: Any) -> None:
    """Write the report on a table that is fitted, or judged by a saved model."""
    refuse_standard_output(output, "The report")
    if model:
        refuse_fit_options()
    choice, method = choice_from(options), method_from(options)
    reports.check_dependencies()
    check_outputs((data, model), files={"--output": output})
    with console.stages() as begin:
        taker = load(model) if model else method
        source = open_source(data, choice, taker)
        if model:
            findings = RowFindings(taker, source)
        else:
            begin("fitting")
            findings = fit_source(source, first_step_from(options), method)
        begin("diagnosing")
        findings.run()
        assert findings.analysis is not None  # the table is in memory
        page = reports.render(
            findings.analysis,
            source=Path(data).name,
            command=shlex.join(["trueaxis", *click.get_current_context().obj]),
            seconds=findings.seconds,
        )
    reports.write(page, output)
    if as_json:
        content = findings.to_dict() | {"model": model or None, "report": output}
        console.show_json("report", data, content)
        return
    console.show_findings(findings)
    console.show_saved("Report", output)


def compare(
    data: str,
    output: str,
    methods: list[str],
    all_rows: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Fit several methods to one table and compare them."""
    refuse_two_outputs(as_json, output=output)
    for name in methods:
        method_class(name, "--methods")
    for name in options["parameters"].keys() - {"contamination"}:
        raise click.BadParameter(
            f"Not all methods have a parameter {name!r}: set contamination, or give "
            "--level.",
            param_hint="--set",
        )
    method = method_from(options)
    check_outputs((data,), tables={"--output": output})
    source = open_source(
        data, choice_from(options), METHODS[(methods or ["dswl"])[0]]()
    )
    _, X = fit_first_step(source, first_step_from(options))
    n, D = X.shape
    fitted = n if all_rows else min(n, MAX_ROWS)
    chosen = methods or suitable(fitted, D)
    left_out = [] if methods else sorted(METHODS.keys() - set(chosen))
    with console.stages() as begin:
        results = compare_methods(
            X,
            methods or None,
            n_components=method.n_components,
            level=method.level,
            contamination=method.contamination,
            max_rows=None if all_rows else MAX_ROWS,
            progress=begin,
        )
    records = [result.to_dict() for result in results]

    def write_records(file: Any) -> None:
        columns = {name: [each[name] for each in records] for name in records[0]}
        write_table(file, output, [columns])

    console.remark_on_scope(fitted, n, D, left_out)
    with written({output: write_records}):
        pass
    if as_json:
        model = results[0].model
        content = source.to_dict() | {
            "n_components": model.n_components_,
            "level": 10**model.offset_,
            "contamination": model.contamination,
            "methods": records,
            "left_out": left_out,
            "fitted_rows": fitted,
            "output": output or None,
        }
        console.show_json("compare", data, content)
    elif output != STANDARD:
        console.show_comparison(results)
        console.show_saved("Comparison", output)


def export(model: str, output: str, as_json: bool) -> None:
    """Convert a model file to an ONNX graph."""
    refuse_standard_output(output, "A graph")
    if not output.lower().endswith(".onnx"):
        raise click.UsageError(f"{output!r} does not end in .onnx: add this ending.")
    check_outputs((model,), files={"OUTPUT": output})
    save(load(model), output)
    if as_json:
        console.show_json("export", model, {"model": model, "onnx": output})
    else:
        console.show_saved("ONNX graph", output)


def methods(as_json: bool) -> None:
    """List the methods that can be fitted."""
    docstrings = {name: inspect.getdoc(cls) or "" for name, cls in METHODS.items()}
    summaries = {name: text.splitlines()[0] for name, text in docstrings.items()}
    if as_json:
        console.print_json(summaries)
        return
    width = max(map(len, summaries))
    for name, line in summaries.items():
        console.show(f"{name:<{width}}  {line}")


def demo(output: str) -> None:
    """Fit the sensor table, print the findings, write the report."""
    refuse_standard_output(output, "The report")
    check_outputs((), files={"--output": output})
    table = sensors()
    labels = np.where(table.fault == "", "healthy", table.fault)
    model = DSWL(n_components=2).fit(table.X)
    model.feature_names_in_ = np.array(table.columns, dtype=object)
    reports.write_report(
        model,
        table.X,
        output,
        labels=labels,
        of_the_fit=True,
        title="Readings of a pump",
        source="sensors() of trueaxis.datasets",
        command="trueaxis demo",
    )
    console.show_analysis(analyse(model, table.X, labels=labels, of_the_fit=True))
    path = Path(output).resolve()
    console.show_saved("Report", output)
    console.show(f"Open it in a browser: {path.as_uri()}")
