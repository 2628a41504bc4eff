"""Plan how the columns of a table become numbers, and carry it out.

`make_plan` decides which columns are analyzed, and as what; `encode_parts` does it for
the rows of the fit and for new ones. `TableEncoder` scales what comes out.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trueaxis._columns import Column, describe_left_out, examine, quote, select
from trueaxis._frames import is_number
from trueaxis._validation import warn
from trueaxis.estimators.encoder.categories import (
    count_levels,
    describe_unknown,
    describe_weights,
    indicators,
    names_rows,
)
from trueaxis.estimators.encoder.logs import columns_to_log, log_hint

PartKind = Literal["number", "log", "category"]
PART_KINDS = ("number", "log", "category")


@dataclass(frozen=True)
class Part:
    """A column that is analyzed.

    Attributes
    ----------
    index : int
        Position of the column in the table of the fit.
    kind : {"number", "log", "category"}
    levels : tuple of str
        Of a category.
    """

    index: int
    kind: PartKind
    levels: tuple[str, ...] = ()

    @property
    def width(self) -> int:
        """Number of encoded columns."""
        return len(self.levels) if self.kind == "category" else 1

    def names(self, name: str) -> list[str]:
        """Return the names of the encoded columns, given that of the column."""
        if self.kind == "category":
            return [f"{name}={level}" for level in self.levels]
        return [f"log10({name})" if self.kind == "log" else name]


class Choices(NamedTuple):
    """The parameters of a `TableEncoder` that a plan depends on."""

    columns: str | Iterable[str] | None
    drop: str | Iterable[str]
    categories: bool | str | Iterable[str]
    log: str | Iterable[str]


class EncodingPlan(NamedTuple):
    """What becomes of the columns of a table.

    parts : the columns that are analyzed
    left_out : reasons why other columns are not
    notes : sentences for the user
    """

    parts: tuple[Part, ...]
    left_out: dict[str, str]
    notes: list[str]


def make_plan(columns: Sequence[Column], choices: Choices) -> EncodingPlan:
    """Decide which columns are analyzed, and as what.

    Raises
    ------
    ValueError
        If a choice names a column that does not exist, or that cannot be used in that
        way, or if no column is left.
    """
    by_name = {column.name: column for column in columns}
    wanted, named = _wanted(list(by_name), choices)
    asked = wanted if choices.columns is not None else []
    categories, left_out = _categories([by_name[n] for n in wanted], choices, named)
    others = [by_name[n] for n in wanted if n not in categories and n not in left_out]
    _refuse_mixed(others)
    for column in others:
        if column.kind == "number":
            _as_numbers(column)  # refuses infinite values
    findings = examine(others, asked)
    left_out |= findings.left_out
    _refuse_unusable(left_out, named & set(wanted))
    left_out |= {c.name: "empty" for c in others if _is_empty_number(c)}
    kept = [c for c in others if c.name not in left_out]
    logs = _logs(kept, wanted, choices.log)
    if not kept and not categories:
        reasons = " ".join(describe_left_out(_in_order(left_out, by_name)))
        raise ValueError(
            f"No column is left to analyze. {reasons} Pass columns of numbers, or use "
            "categories=True for text."
        )
    index = {name: i for i, name in enumerate(by_name)}
    parts = tuple(
        Part(index[name], "category", tuple(categories[name]))
        if name in categories
        else Part(index[name], "log" if name in logs else "number")
        for name in wanted
        if name in categories or name not in left_out
    )
    left_out = _in_order(left_out, by_name)
    notes = [*describe_left_out(left_out), *findings.remarks]
    notes += _describe_logs(kept, logs, choices.log)
    notes += describe_weights({n: len(v) for n, v in categories.items()}, len(kept))
    return EncodingPlan(parts, left_out, notes)


def encode_parts(
    parts: Sequence[Part], columns: Sequence[Column]
) -> NDArray[np.float64]:
    """Return the encoded table: numbers, logarithms and indicators.

    Parameters
    ----------
    parts : sequence of Part
    columns : sequence of Column
        The column of each part.
    """
    blocks = []
    for part, column in zip(parts, columns, strict=True):
        if part.kind == "category":
            block, unknown = indicators(column, part.levels)
            if unknown:
                warn(describe_unknown(column.name, unknown))
            blocks.append(block)
        else:
            values = _as_numbers(column)
            if part.kind == "log":
                _refuse_nonpositive(column.name, values)
                values = np.log10(values)
            blocks.append(values[:, None])
    return np.hstack(blocks)


def encoded_names(parts: Iterable[Part], names: Sequence[Any]) -> list[str]:
    """Return the names of the encoded columns, all different."""
    found: dict[str, None] = {}
    for part in parts:
        for name in part.names(str(names[part.index])):
            while name in found:  # such as a column of numbers named site=north
                name += "'"
            found[name] = None
    return list(found)


# -------------------------------------------------------------------- choice of columns


def _wanted(names: list[str], choices: Choices) -> tuple[list[str], set[str]]:
    """Return the names of the wanted columns, and all names that were spelled out."""
    chosen, spelled = names, set()
    if choices.columns is not None:
        chosen, spelled = (
            select(choices.columns, names, "columns"),
            _spelled(choices.columns),
        )
    dropped = set(select(choices.drop, names, "drop"))
    wanted = [name for name in chosen if name not in dropped]
    if not wanted:
        raise ValueError("No column is left to analyze: drop fewer columns.")
    return wanted, spelled


def _spelled(patterns: str | Iterable[str]) -> set[str]:
    return {patterns} if isinstance(patterns, str) else set(patterns)


def _categories(
    columns: Sequence[Column], choices: Choices, named: set[str]
) -> tuple[dict[str, list[str]], dict[str, str]]:
    """Return the levels of categorical columns, and which were left out, and why."""
    chosen = choices.categories
    names = [column.name for column in columns]
    if isinstance(chosen, (bool, np.bool_)):
        asked = set(named) if chosen else set()
        candidates = [c for c in columns if chosen and _is_category(c)]
    else:
        asked = set(select(chosen, names, "categories"))
        candidates = [column for column in columns if column.name in asked]
    levels: dict[str, list[str]] = {}
    left_out: dict[str, str] = {}
    for column in candidates:
        if column.kind == "nested":
            raise ValueError(
                f"Column {column.name!r} holds lists or records, which are no "
                "categories: drop it."
            )
        found = count_levels(column)
        if len(found) < 2:
            left_out[column.name] = "constant" if found else "empty"
        elif column.name not in asked and names_rows(found):
            left_out[column.name] = "names"
        else:
            levels[column.name] = list(found)
    return levels, left_out


def _is_category(column: Column) -> bool:
    """Return whether a column has text, or only says yes or no."""
    if column.kind != "number":
        return column.kind == "text"
    no, yes, unknown = column.values == 0, column.values == 1, np.isnan(column.values)
    return bool(no.any() and yes.any() and (no | yes | unknown).all())


def _logs(
    columns: Sequence[Column], wanted: Sequence[str], log: str | Iterable[str]
) -> set[str]:
    """Return the names of the columns whose logarithms are analyzed."""
    if isinstance(log, str) and log == "auto":
        return set(columns_to_log(columns))
    by_name = {column.name: column for column in columns}
    spelled, found = _spelled(log), set()
    for name in select(log, wanted, "log"):
        if name in by_name:
            _refuse_nonpositive(name, by_name[name].values)
            found.add(name)
        elif name in spelled:
            raise ValueError(
                f"log names {name!r}, which is not analyzed as a number: leave it out "
                "of log."
            )
    return found


def _describe_logs(
    columns: Sequence[Column], logs: Collection[str], log: Any
) -> list[str]:
    if not (isinstance(log, str) and log == "auto"):
        return log_hint([column for column in columns if column.name not in logs])
    names = [column.name for column in columns if column.name in logs]
    if not names:
        return []
    return [
        f"The logarithm of {quote(names)} is analyzed: skewed towards large values "
        "before, and more symmetric now."
    ]


# ------------------------------------------------------------------------------- checks


def _refuse_mixed(columns: Iterable[Column]) -> None:
    """Raise if a column has text in a few cells, and numbers in the others."""
    for column in columns:
        if column.kind != "text":
            continue
        known = [cell for cell in column.values if cell is not None]
        n = sum(map(is_number, known))
        if len(known) / 2 < n < len(known):  # all are numbers in a pandas category
            row, cell = _first_text(column)
            raise ValueError(
                f"Column {column.name!r} has numbers in {n} cells and text in "
                f"{len(known) - n}, such as {cell!r} in row {row}: replace the text "
                "by None if it means missing, or drop the column "
                f"(drop=[{column.name!r}])."
            )


def _first_text(column: Column) -> tuple[int, Any]:
    for row, cell in enumerate(column.values):
        if cell is not None and not is_number(cell):
            return row, cell
    return 0, None


def _refuse_unusable(left_out: dict[str, str], named: set[str]) -> None:
    """Raise if a column that was asked for by name would be left out."""
    for name, reason in left_out.items():
        if name in named and reason in ("text", "calendar", "nested"):
            remedy = (
                f"add it to the categories (categories=[{name!r}])"
                if reason == "text"
                else "convert it to numbers"
            )
            raise ValueError(
                f"columns names {name!r}, which has no numbers ({reason}): {remedy}, "
                "or leave it out."
            )


def _is_empty_number(column: Column) -> bool:
    return column.kind == "number" and bool(np.isnan(column.values).all())


def _as_numbers(column: Column) -> NDArray[np.float64]:
    """Return the numbers of a column that was one of numbers in the fit."""
    if column.kind == "number":
        values: NDArray[np.float64] = column.values
        if np.isinf(values).any():
            row = int(np.flatnonzero(np.isinf(values))[0])
            raise ValueError(
                f"Column {column.name!r} has {values[row]} in row {row}: correct "
                "infinite values, or leave them empty (NaN)."
            )
        return values
    if all(cell is None for cell in column.values):
        return np.full(len(column.values), np.nan)
    row, cell = _first_text(column)
    raise ValueError(
        f"Column {column.name!r} was analyzed as numbers in the fit, but has {cell!r} "
        f"in row {row} ({column.kind}): convert it to numbers, with None for missing "
        "cells."
    )


def _refuse_nonpositive(name: str, values: NDArray[np.float64]) -> None:
    bad = np.flatnonzero(values <= 0)
    if len(bad):
        raise ValueError(
            f"Column {name!r} has {values[bad[0]]:g} in row {bad[0]} (values that are "
            f"not positive: {len(bad)} of {len(values)}), which has no logarithm: "
            "leave such cells empty (NaN) if they mean that nothing was measured, or "
            "leave the column out of log."
        )


def _in_order(left_out: dict[str, str], names: Iterable[str]) -> dict[str, str]:
    return {name: left_out[name] for name in names if name in left_out}
