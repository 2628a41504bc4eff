"""Write Python code that reads the same rows and recreates the same model."""

from __future__ import annotations

from dataclasses import fields
from typing import NamedTuple, Self

from trueaxis._tables.read import Choice
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
        chosen = [
            f"{field.name}={value!r}"
            for field in fields(choice)
            if (value := getattr(choice, field.name))
            and value != getattr(Choice(), field.name)
        ]
        if not chosen:
            needs = "from trueaxis.report import read_table"
            return cls(needs, f"read_table({path!r}).X")
        needs = "from trueaxis.report import Choice, read_table"
        return cls(needs, f"read_table({path!r}, Choice({', '.join(chosen)})).X")


def code(analysis: Analysis, origin: Origin | None) -> str:
    """Return code that defines `X`, and fits or loads `model`.

    Without an origin, the rows are left to be filled in by the reader.
    """
    n, D = analysis.raw.shape
    steps = [step for step in (analysis.scaler, analysis.model) if step is not None]
    imports = [
        f"from trueaxis import {', '.join(type(step).__name__ for step in steps)}"
    ]
    model = f"{steps[-1]!r}.fit(X)"
    if len(steps) > 1:
        imports.insert(0, "from sklearn.pipeline import make_pipeline")
        model = f"make_pipeline({', '.join(map(repr, steps))}).fit(X)"
    rows = f"...  # your {n:,} x {D:,} table"
    if origin is not None:
        if origin.model_file:
            imports, model = (
                ["from trueaxis import load"],
                f"load({origin.model_file!r})",
            )
        imports.append(origin.needs)
        rows = f"{origin.rows}  # {n:,} x {D:,}"
    return "\n".join([*imports, "", f"X = {rows}", f"model = {model}"])
