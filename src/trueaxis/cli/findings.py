"""Fit a model to the table of a command, and find the outliers among its rows."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from trueaxis.cli import console
from trueaxis.cli.source import Source, TableError
from trueaxis.data.memory import TooLarge
from trueaxis.diagnostics import KINDS
from trueaxis.persistence import save
from trueaxis.pipeline import join_pipeline, split_pipeline
from trueaxis.preprocessing.decisions import decide_scale, log_hint
from trueaxis.preprocessing.encoder import TableEncoder
from trueaxis.preprocessing.scaler import ColumnScaler
from trueaxis.report.analysis import Analysis, analyse, level_of

FirstStep = TableEncoder | ColumnScaler | Literal["auto"] | None
SAMPLE_ROWS = 1 << 15  # are enough to see whether a column is skewed


@dataclass
class RowFindings:
    """What a model finds in the rows of a table.

    Attributes
    ----------
    model : estimator or Pipeline
    source : Source
    seconds : float or None
        Duration of the fit; None if the model was loaded.
    analysis : Analysis or None
        All about the rows, if they are in memory.
    flags : list of ndarray of bool
        Whether rows are outliers, block by block.
    kinds : Counter
        Number of rows of each kind.
    wrong : ndarray of shape (2,), or None
        Number of wrong cells of a large file, and of rows that have some.
    """

    model: Any
    source: Source
    seconds: float | None = None
    analysis: Analysis | None = None
    flags: list[NDArray[np.bool_]] = field(default_factory=list)
    kinds: Counter[str] = field(default_factory=Counter)
    wrong: NDArray[np.int_] | None = None

    def verdicts(self) -> Iterator[dict[str, Any]]:
        """Yield the verdicts on the rows as columns of a table, block by block."""
        for analysis in self._analyses():
            yield analysis.columns()

    def run(self) -> None:
        """Find the outliers, unless that has been done."""
        if not self.flags:
            for _ in self._analyses():
                pass

    def _analyses(self) -> Iterator[Analysis]:
        if self.analysis is not None:
            yield self.analysis
            return
        flagged: list[NDArray[np.bool_]] = []
        kinds: Counter[str] = Counter()
        wrong = None
        source, of_the_fit = self.source, self.seconds is not None
        for some, rows in source.blocks(self.model):
            labels = None if source.labels is None else source.labels[some]
            analysis = analyse(
                self.model,
                rows,
                ids=source.ids[some],
                labels=labels,
                of_the_fit=of_the_fit,
            )
            flagged.append(analysis.diagnosis.flagged)
            kinds.update(analysis.counts)
            if analysis.finds_wrong_cells and not self.source.in_memory:
                row = analysis.wrong_cells.row
                found = np.array([len(row), len(np.unique(row))])
                wrong = found if wrong is None else wrong + found
            if self.source.in_memory:
                self.analysis = analysis
            yield analysis
        self.flags, self.kinds, self.wrong = flagged, kinds, wrong

    @property
    def flagged(self) -> NDArray[np.bool_]:
        """Whether each row is an outlier."""
        self.run()
        return np.concatenate(self.flags)

    def to_dict(self) -> dict[str, Any]:
        """Return what was read, the model and its findings as values for JSON."""
        self.run()
        content = {**self.source.to_dict(), "seconds": self.seconds}
        if self.analysis is not None:
            return content | self.analysis.to_dict(self.source.positions)
        parts = split_pipeline(self.model)
        kinds = {kind: self.kinds[kind] for kind in KINDS[1:]} if self.kinds else {}
        content |= parts.to_dict() | {
            "level": level_of(parts.model),
            "contamination": parts.model.contamination,
            "outliers": {"count": int(self.flagged.sum()), **kinds},
        }
        if self.wrong is not None:
            content["wrong_cells"] = {"count": self.wrong[0], "rows": self.wrong[1]}
        return content


def fit_source(source: Source, first: FirstStep, method: Any) -> RowFindings:
    """Fit a method to a table, after a first step; what it finds there."""
    start = time.perf_counter()
    model = fit_model(source, first, method)
    findings = RowFindings(model, source, time.perf_counter() - start)
    # The verdicts of the fit save a pass over a large file, unless there are cells to
    # be counted that are missing or wrong.
    if not source.in_memory and not getattr(method, "_cells", None):
        findings.flags = [~np.asarray(method.support_)]
    return findings


def fit_model(source: Source, first: FirstStep, method: Any) -> Any:
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
            "read block by block: leave them out, or choose --scale none, standard or "
            "robust."
        )
    if isinstance(first, TableEncoder):
        named = first.log if isinstance(first.log, list) else ()
        for name in {*named} & {*source.left_out}:
            raise TableError(
                f"--encode log names {name!r}, which is left out "
                f"({source.left_out[name]}) and has no logarithm: leave it out there."
            )
    elif source.in_memory:
        _hint_at_logarithms(source)
    if first == "auto":
        how, sentence = decide_scale(source.frame)
        if sentence:
            console.note(sentence)
        first = None if how == "none" else ColumnScaler(how)
    if first is None:
        return None, source.rows
    rows = source.rows_for(first)
    first.fit(rows)
    for text in getattr(first, "notes_", ()):
        console.note(text)
    return first, first.transform(rows)


def _hint_at_logarithms(source: Source) -> None:
    """Say which columns would be more symmetric as logarithms."""
    frame, n = source.frame, source.n_rows
    if n > SAMPLE_ROWS:
        some = np.random.default_rng(0).integers(0, n, SAMPLE_ROWS)
        frame = tuple(replace(each, values=each.values[some]) for each in frame)
    for text in log_hint(frame, "--encode log"):
        console.note(text)


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
