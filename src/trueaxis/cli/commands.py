"""Run the commands: one function per command, called by `main` with its options."""

from __future__ import annotations

import inspect
import shlex
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple

import click
import numpy as np
from click.core import ParameterSource
from numpy.typing import NDArray

from trueaxis._files import atomic_write
from trueaxis.cli import console
from trueaxis.cli.source import (
    STANDARD,
    Source,
    TableError,
    check_outputs,
    choice_from,
    encoding_from,
    open_source,
    written,
)
from trueaxis.data.memory import TooLarge
from trueaxis.datasets import sensors
from trueaxis.diagnostics.comparison import MAX_ROWS, suitable
from trueaxis.diagnostics.comparison import compare as compare_methods
from trueaxis.dswl.estimator import DSWL
from trueaxis.io.write import write_content
from trueaxis.methods import METHODS
from trueaxis.persistence import load, save
from trueaxis.pipeline import is_pipeline, join_pipeline, split_pipeline
from trueaxis.preprocessing.decisions import decide_scale
from trueaxis.preprocessing.encoder import TableEncoder
from trueaxis.preprocessing.scaler import ColumnScaler
from trueaxis.report.analysis import (
    Analysis,
    analyze,
    counts_of,
    ignore_feature_name_warning,
)
from trueaxis.report.page import render, require_jinja
from trueaxis.report.sentences import count_outliers, describe_threshold, fit_sentence
from trueaxis.wording import counted

FirstStep = TableEncoder | ColumnScaler | Literal["auto"] | None

# ---------------------------------------------------------------- findings


class RowFindings:
    """What a model finds in the rows of a table.

    Parameters
    ----------
    model : estimator or Pipeline
    source : Source
    seconds : float, optional
        Duration of the fit; None if the model was loaded.

    Attributes
    ----------
    analysis : Analysis or None
        All about the rows, if they are in memory.
    flags : list of ndarray of bool
        Whether rows are outliers, block by block.
    counts : Counter
        Number of rows of each kind; "unknown" is that of outliers.
    """

    def __init__(
        self, model: Any, source: Source, seconds: float | None = None
    ) -> None:
        self.model, self.source, self.seconds = model, source, seconds
        self.analysis: Analysis | None = None
        self.flags: list[NDArray[np.bool_]] = []
        self.counts: Counter[str] = Counter()
        method = split_pipeline(model).model
        # The verdicts of the fit save a pass over a large file, unless missing or wrong
        # cells have to be counted.
        if (
            not source.in_memory
            and seconds is not None
            and not getattr(method, "_cells", None)
        ):
            self.flags = [~np.asarray(method.support_)]
            bad = int(self.flags[0].sum())
            self.counts.update(regular=source.n_rows - bad, unknown=bad)

    def blocks(self) -> Iterator[Analysis]:
        """Yield the analysis of some rows at a time, and of all that are in memory."""
        if self.analysis is not None:
            yield self.analysis
            return
        source, self.flags, self.counts = self.source, [], Counter()
        for some, rows in source.blocks(self.model):
            labels = None if source.labels is None else source.labels[some]
            new, ids = self.seconds is None, source.ids[some]
            analysis = analyze(self.model, rows, ids=ids, labels=labels, new_rows=new)
            self.flags.append(analysis.diagnosis.flagged)
            self.counts.update(analysis.diagnosis.counts())
            self.analysis = analysis if source.in_memory else None
            yield analysis

    def run(self) -> None:
        """Find the outliers, unless that has been done."""
        if not self.flags:
            for _ in self.blocks():
                pass

    def show(self, aside: bool) -> None:
        """Print how many rows are outliers, and why the worst of them are."""
        if self.analysis is not None:
            console.show_analysis(self.analysis, aside)
            return
        threshold = describe_threshold(split_pipeline(self.model).model)
        console.show(count_outliers(self.counts, threshold), aside)

    def to_dict(self) -> dict[str, Any]:
        """Return what was read, the model and its findings as values for JSON."""
        content = {**self.source.to_dict(), "seconds": self.seconds}
        if self.analysis is not None:
            return content | self.analysis.to_dict(self.source.positions)
        outliers = {"outliers": counts_of(self.counts)}
        return content | split_pipeline(self.model).to_dict() | outliers


class RowFiles(NamedTuple):
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
        return {f"--{name}": target for name, target in self._asdict().items()}

    def rows(self, findings: RowFindings) -> dict[str, NDArray[np.bool_]]:
        """Return which rows of the input go into which of the files."""
        findings.run()
        flagged, kinds = np.concatenate(findings.flags), {"clean": 0, "flagged": 1}
        return {
            name: findings.source.in_file(flagged == kind)
            for name, kind in kinds.items()
            if getattr(self, name)
        }

    def writers(self, findings: RowFindings) -> dict[str, Any]:
        """Return the functions that write the files when all verdicts are known."""

        def write(name: str, target: str, file: Any) -> None:
            findings.source.write_rows(file, target, self.rows(findings)[name])

        named = self._asdict().items()
        return {target: partial(write, name, target) for name, target in named}

    def to_dict(self, findings: RowFindings) -> dict[str, Any]:
        """Return the files and their numbers of rows, for JSON."""
        found = self.rows(findings).items()
        return dict.fromkeys(self._fields) | {
            name: {"file": getattr(self, name), "rows": int(rows.sum())}
            for name, rows in found
        }

    def show(self, findings: RowFindings, aside: bool) -> None:
        """Print how many rows went where."""
        kinds = {"clean": "clean row", "flagged": "outlier"}
        for name, rows in self.rows(findings).items():
            n = counted(int(rows.sum()), kinds[name])
            console.show_saved(n, getattr(self, name), aside)


# ---------------------------------------------------------------- fitting


def method_from(options: dict[str, Any]) -> Any:
    """Return the method to fit, with its parameters."""
    name = options.get("method", "dswl")
    parameters, level = dict(options.get("parameters", ())), options.get("level")
    method = method_class(name, "--method")
    known = {*method().get_params()} - {"n_components"}
    for given in parameters.keys() - known:
        raise click.BadParameter(
            f"{name} has no parameter {given!r}; it has {', '.join(sorted(known))}.",
            param_hint="--set",
        )
    if level is not None:
        for given in parameters.keys() & {"level", "contamination"}:
            raise click.UsageError(
                f"--level and --set {given} set the same threshold, by the share of "
                "regular rows or of all rows to flag: give one of them."
            )
        parameters = parameters | {"level": level}
    return method(n_components=options["components"], **parameters)


def first_step_from(options: dict[str, Any]) -> FirstStep:
    """Return the step before the method: an encoder, a scaler, or none.

    "auto" is a scaler if the columns share no unit.
    """
    scale, encoding = options["scale"], encoding_from(options)
    if encoding:
        named: dict[str, Any] = {
            kind: names or True for kind, names in encoding.items()
        }
        return TableEncoder(**named, scale=scale or "auto")
    if scale == "auto":
        return "auto"
    return None if scale in (None, "none") else ColumnScaler()


def method_class(name: str, option: str) -> Any:
    """Return the class of a method; raise a usage error for an unknown name."""
    if name not in METHODS:
        text = f"{name!r} is not a method: choose one of {', '.join(METHODS)}."
        raise click.BadParameter(text, param_hint=option)
    return METHODS[name]


def refuse_fit_options() -> None:
    """Raise if an option of a fit was given together with --model."""
    ctx = click.get_current_context()
    names = {"components", "scale", "encoding", "method", "parameters", "level"}
    for param in ctx.command.params:
        source = ctx.get_parameter_source(param.name or "")
        if param.name in names and source is ParameterSource.COMMANDLINE:
            raise click.UsageError(
                f"{param.opts[-1]} is for a fit, but --model uses a saved model: leave "
                "out one of them."
            )


def fit_source(source: Source, first: FirstStep, method: Any) -> Any:
    """Fit a method to a table, after a scaler or an encoder if there is one."""
    # Within this context, the passes of both steps share what is decoded.
    shared: Any = nullcontext() if source.in_memory else source.rows
    with shared:
        step, rows = fit_first_step(source, first)
        method.fit(rows)
    # The first step of the model has the names of the user's columns.
    if not isinstance(step, TableEncoder):
        (step or method).feature_names_in_ = np.array(source.columns, dtype=object)
    return join_pipeline(step, method)


def fit_first_step(source: Source, first: FirstStep) -> tuple[Any, Any]:
    """Return the fitted step before the method, or None, and the rows after it."""
    if not source.in_memory and (first == "auto" or isinstance(first, TableEncoder)):
        raise TableError(
            f"--encode and --scale auto look at all rows at once, but {source.name} is "
            "read block by block: leave them out, or choose --scale none or robust."
        )
    if isinstance(first, TableEncoder):
        for name in {*first.log} & {*source.left_out}:
            raise TableError(
                f"--encode log names {name!r}, which is left out "
                f"({source.left_out[name]}) and has no logarithm: leave it out there."
            )
    if first == "auto":
        how, sentence = decide_scale(source.frame)
        if sentence:
            console.note(sentence)
        first = None if how == "none" else ColumnScaler()
    if first is None:
        return None, source.rows
    rows = source.rows_for(first)
    first.fit(rows)
    for text in getattr(first, "notes_", ()):
        console.note(text)
    return first, first.transform(rows)


def save_model(model: Any, output: str) -> None:
    """Save a model, without its values per row if they do not fit into memory."""
    try:
        save(model, output)
    except TooLarge:
        save(model, output, training=False)
        console.remark(
            "The weights and verdicts of all rows do not fit into memory, so the model "
            "file does not contain them; `trueaxis score` computes the verdicts."
        )


# ---------------------------------------------------------------- commands


def fit(
    data: str, output: str, clean: str, flagged: str, as_json: bool, **options: Any
) -> None:
    """Fit a table, print its outliers and save the model."""
    files, choice = RowFiles(clean, flagged), choice_from(options)
    first, method = first_step_from(options), method_from(options)
    check_outputs(as_json, (data,), files={"--output": output}, rows=files.targets)
    source = open_source(data, choice, method, targets=files, large=True)
    start = time.perf_counter()
    model = fit_source(source, first, method)
    findings = RowFindings(model, source, time.perf_counter() - start)
    findings.run()
    with written(files.writers(findings)):
        if output:
            save_model(model, output)
    if as_json:
        content = findings.to_dict() | {"model": output or None}
        console.show_json("fit", data, content | files.to_dict(findings))
        return
    aside = STANDARD in files
    findings.show(aside)
    console.show(fit_sentence(method, findings.seconds), aside)
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
    files = RowFiles(clean, flagged)
    # Standard output can have either rows or verdicts.
    if not as_json and STANDARD not in files:
        output = output or STANDARD
    inputs, tables = (data, model), {"--output": output}
    check_outputs(as_json, inputs, tables=tables, rows=files.targets)
    loaded = load(model)
    if level is not None:
        method = loaded[-1] if is_pipeline(loaded) else loaded
        method.set_params(level=level, contamination=None)
        method._set_threshold(float(np.log10(level)))
    choice = choice_from(options)
    source = open_source(data, choice, loaded, targets=files, large=True)
    findings = RowFindings(loaded, source)

    def write_verdicts(file: Any) -> None:
        blocks = (analysis.columns() for analysis in findings.blocks())
        write_content(file, output, blocks, source.n_rows)

    # Verdicts are computed first, because they decide which rows go where.
    with written({output: write_verdicts} | files.writers(findings)):
        findings.run()
    if as_json:
        content = findings.to_dict() | {"model": model, "output": output or None}
        console.show_json("score", data, content | files.to_dict(findings))
        return
    aside = STANDARD in (output, *files)
    if output != STANDARD:
        findings.show(aside)
    console.show_saved("Scored rows", output, aside)
    files.show(findings, aside)


def transform(
    model: str, data: str, output: str, as_json: bool, **options: Any
) -> None:
    """Write the scores of rows on the components of a saved model."""
    output, choice = output or ("" if as_json else STANDARD), choice_from(options)
    check_outputs(as_json, (data, model), tables={"--output": output})
    loaded = load(model)
    names = [str(name) for name in split_pipeline(loaded).model.get_feature_names_out()]
    source = open_source(data, choice, loaded, large=bool(output))

    def blocks() -> Any:
        for some, rows in source.blocks(loaded):
            with ignore_feature_name_warning():
                scores = np.asarray(loaded.transform(rows))
            columns: dict[str, Any] = {"row": source.ids[some]}
            if source.labels is not None:
                columns["label"] = source.labels[some]
            yield columns | dict(zip(names, scores.T, strict=True))

    def write_scores(file: Any) -> None:
        write_content(file, output, blocks(), source.n_rows)

    with written({output: write_scores}):
        pass
    if as_json:
        content = source.to_dict() | {"read_columns": list(source.columns)}
        content |= {"columns": names, "model": model, "output": output or None}
        if not output:  # a table in memory, which is one block
            columns = next(blocks())
            content["scores"] = np.column_stack([columns[name] for name in names])
        console.show_json("transform", data, content)
        return
    what = f"Scores of {source.n_rows:,} rows on {len(names)} components"
    console.show_saved(what, output)


def report(data: str, output: str, model: str, as_json: bool, **options: Any) -> None:
    """Write the report on a table that is fitted, or judged by a saved model."""
    if model:
        refuse_fit_options()
    choice, method = choice_from(options), method_from(options)
    require_jinja()
    check_outputs(as_json, (data, model), files={"--output": output})
    taker = load(model) if model else method
    source, start = open_source(data, choice, taker), time.perf_counter()
    findings = RowFindings(taker, source)
    if not model:
        fitted = fit_source(source, first_step_from(options), method)
        findings = RowFindings(fitted, source, time.perf_counter() - start)
    findings.run()
    assert findings.analysis is not None  # the table is in memory
    page = render(
        findings.analysis,
        source=Path(data).name,
        command=shlex.join(["trueaxis", *click.get_current_context().obj]),
        seconds=findings.seconds,
    )
    write_page(page, output)
    if as_json:
        content = findings.to_dict() | {"model": model or None, "report": output}
        console.show_json("report", data, content)
        return
    findings.show(aside=False)
    console.show_saved("Report", output)


def write_page(page: str, output: str) -> None:
    """Write the page of a report to a file."""
    with atomic_write(output) as file:
        file.write(page.encode("utf-8"))


def compare(
    data: str,
    output: str,
    methods: tuple[list[str], ...],
    as_json: bool,
    **options: Any,
) -> None:
    """Fit several methods to one table and compare them."""
    named = [name for each in methods for name in each]
    for name in named:
        method_class(name, "--methods")
    method = method_from(options)
    check_outputs(as_json, (data,), tables={"--output": output})
    reference = METHODS[(named or ["dswl"])[0]]()
    source = open_source(data, choice_from(options), reference)
    _, X = fit_first_step(source, first_step_from(options))
    n, D = X.shape
    fitted = min(n, MAX_ROWS)
    chosen = named or suitable(fitted, D)
    left_out = [] if named else sorted(METHODS.keys() - set(chosen))
    results = compare_methods(
        X,
        named or None,
        n_components=method.n_components,
        level=method.level,
        max_rows=MAX_ROWS,
    )
    records = [result.to_dict() for result in results]

    def write_records(file: Any) -> None:
        columns = {name: [each[name] for each in records] for name in records[0]}
        write_content(file, output, iter([columns]), len(records))

    console.remark_on_scope(fitted, n, D, left_out)
    with written({output: write_records}):
        pass
    if as_json:
        model = results[0].model
        content = source.to_dict() | {
            "n_components": model.n_components_,
            "level": 10**model.offset_,
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
    if not output.lower().endswith(".onnx"):
        raise click.UsageError(f"{output!r} does not end in .onnx: add this ending.")
    check_outputs(as_json, (model,), files={"OUTPUT": output})
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
    require_jinja()
    check_outputs(False, (), files={"--output": output})
    table = sensors()
    labels = np.where(table.fault == "", "healthy", table.fault)
    model = DSWL(n_components=2).fit(table.X)
    model.feature_names_in_ = np.array(table.columns, dtype=object)
    found = analyze(model, table.X, labels=labels)
    page = render(
        found,
        title="Readings of a pump",
        source="sensors() of trueaxis.datasets",
        command="trueaxis demo",
    )
    write_page(page, output)
    console.show_analysis(found)
    console.show_saved("Report", output)
    console.show(f"Open it in a browser: {Path(output).resolve().as_uri()}")
