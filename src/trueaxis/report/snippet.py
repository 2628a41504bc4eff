"""TELL Python: code that gets the same rows, and the same model, again."""

from __future__ import annotations

from dataclasses import fields
from typing import NamedTuple, Self

from trueaxis._tables.read import Choice
from trueaxis.report.analysis import Analysis


class Origin(NamedTuple):
    """Where rows and model are from, as code.

    needs : the import that `rows` needs
    rows : an expression for the rows
    model_file : the model was loaded from; empty where it was fitted on the rows
    """

    needs: str
    rows: str
    model_file: str = ""

    @classmethod
    def table(cls, path: str, choice: Choice) -> Self:
        """Rows that `read_table` reads from a file."""
        # In quotes, so that no name of a file or a column can become code.
        usual, chosen = Choice(), []
        for name in (field.name for field in fields(choice)):
            value = getattr(choice, name)
            if value and value != getattr(usual, name):
                chosen.append(f"{name}={value!r}")
        if not chosen:
            needs = "from trueaxis._tables.read import read_table"
            return cls(needs, f"read_table({path!r}).X")
        needs = "from trueaxis._tables.read import Choice, read_table"
        return cls(needs, f"read_table({path!r}, Choice({', '.join(chosen)})).X")


def code(found: Analysis, origin: Origin | None) -> str:
    """Lines that fit the same again, or judge the same rows by a model file.

    Parameters
    ----------
    found : Analysis
    origin : Origin or None
        None leaves the rows to the reader.

    Returns
    -------
    str
        `X` and `model` are what it makes.
    """
    n, D = found.raw.shape
    steps = [step for step in (found.scaler, found.model) if step is not None]
    names = ", ".join(type(step).__name__ for step in steps)
    needs, made = [f"from trueaxis import {names}"], f"{steps[-1]!r}.fit(X)"
    if len(steps) > 1:
        needs.insert(0, "from sklearn.pipeline import make_pipeline")
        made = f"make_pipeline({', '.join(map(repr, steps))}).fit(X)"
    rows = f"...  # your {n:,} x {D:,} table"
    if origin is not None:
        rows = f"{origin.rows}  # {n:,} x {D:,}"
        if origin.model_file:
            needs, made = ["from trueaxis import load"], f"load({origin.model_file!r})"
        needs.append(origin.needs)
    lines = [*needs, "", f"X = {rows}", f"model = {made}"]
    if origin is not None and origin.model_file:
        lines.insert(-3, "from trueaxis.report.analysis import analyse")
        lines.append("found = analyse(model, X)")
    return "\n".join(lines)
