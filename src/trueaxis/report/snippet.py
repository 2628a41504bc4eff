"""Write Python code that reads the same rows and recreates the same model."""

from __future__ import annotations

from dataclasses import fields
from typing import NamedTuple, Self

from trueaxis.io import Choice
from trueaxis.report.analysis import Analysis


class Origin(NamedTuple):
    """Where rows and model come from, as code.

    needs : import statement for `rows`
    rows : expression for the rows
    model_file : file of the model; empty if it was fitted on the rows
    """

    needs: str
    rows: str
    model_file: str = ""

    @classmethod
    def table(cls, path: str, choice: Choice) -> Self:
        """Return the origin of rows that `read_table` reads from a file."""
        # repr quotes names of files and columns, so that none can become code.
        default, chosen = Choice(), []
        for name in (field.name for field in fields(choice)):
            value = getattr(choice, name)
            if value and value != getattr(default, name):
                chosen.append(f"{name}={value!r}")
        if not chosen:
            needs = "from trueaxis.io import read_table"
            return cls(needs, f"read_table({path!r}).X")
        needs = "from trueaxis.io import Choice, read_table"
        return cls(needs, f"read_table({path!r}, Choice({', '.join(chosen)})).X")


def code(analysis: Analysis, origin: Origin | None) -> str:
    """Return code that repeats the fit, or scores the rows with the model file.

    Parameters
    ----------
    analysis : Analysis
    origin : Origin or None
        None leaves the rows to be filled in by the reader.

    Returns
    -------
    str
        Code that defines `X` and `model`.
    """
    n, D = analysis.raw.shape
    steps = [step for step in (analysis.scaler, analysis.model) if step is not None]
    names = ", ".join(type(step).__name__ for step in steps)
    imports, model = [f"from trueaxis import {names}"], f"{steps[-1]!r}.fit(X)"
    if len(steps) > 1:
        imports.insert(0, "from sklearn.pipeline import make_pipeline")
        model = f"make_pipeline({', '.join(map(repr, steps))}).fit(X)"
    rows = f"...  # your {n:,} x {D:,} table"
    loads = origin is not None and origin.model_file
    if origin is not None:
        rows = f"{origin.rows}  # {n:,} x {D:,}"
        if loads:
            imports = ["from trueaxis import load"]
            model = f"load({origin.model_file!r})"
        imports.append(origin.needs)
    if loads:
        imports.append("from trueaxis.report.analysis import analyse")
    lines = [*imports, "", f"X = {rows}", f"model = {model}"]
    if loads:
        lines.append("analysis = analyse(model, X)")
    return "\n".join(lines)
