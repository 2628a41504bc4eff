"""SHOW: all there is to tell about a model and rows as one page for a browser.

The page is a single file that asks nothing of the network. It shows what `analysis`
holds and computes nothing itself. It needs Jinja2 and matplotlib, which
``pip install 'trueaxis[report]'`` brings.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from trueaxis._files import atomic_write
from trueaxis.report.analysis import Analysis, analyse
from trueaxis.report.content import words
from trueaxis.report.figures import draw
from trueaxis.report.points import gather, shortened
from trueaxis.report.snippet import Origin

__all__ = ["STAGES", "look_for_needs", "render", "write", "write_report"]

STAGES = ("trust path", "figures", "page")
NEEDS = {"jinja2": "Jinja2", "matplotlib": "matplotlib"}


def write_report(
    model: Any,
    X: Any,
    path: str | Path,
    *,
    ids: Any = None,
    labels: Any = None,
    of_the_fit: bool | None = None,
    title: str | None = None,
    source: str | None = None,
    origin: Origin | None = None,
    command: str | None = None,
    seconds: float | None = None,
    progress: Callable[[str], None] | None = None,
) -> None:
    """Write the report about a fitted model and rows as one HTML file.

    Parameters
    ----------
    model : estimator or Pipeline
        Any fitted method, alone or behind a `ColumnScaler`.
    X : array-like of shape (n, D)
        Rows, those of the fit or new ones.
    path : str or Path
        The file; it is whole or not there at all.
    ids : array-like of shape (n,), optional
        Names of the rows; the index of a frame, or numbers from 0, if not given.
    labels : array-like of shape (n,), optional
        Something known about every row, to be shown beside it.
    of_the_fit : bool, optional
        Whether these are the rows of the fit, see `trueaxis.report.analysis.analyse`.
    title, source, origin, command, seconds, progress
        See `render`.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from trueaxis import DSWL
    >>> from trueaxis.datasets import sensors
    >>> from trueaxis.report import write_report
    >>> X = sensors().X
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "report.html"
    >>> write_report(DSWL(2).fit(X), X, path, title="Pump")
    >>> path.read_text(encoding="utf-8")[:15]
    '<!doctype html>'
    """
    look_for_needs()
    page = render(
        analyse(model, X, ids=ids, labels=labels, of_the_fit=of_the_fit),
        title=title,
        source=source,
        origin=origin,
        command=command,
        seconds=seconds,
        progress=progress,
    )
    write(page, path)


def render(
    found: Analysis,
    *,
    title: str | None = None,
    source: str | None = None,
    origin: Origin | None = None,
    command: str | None = None,
    seconds: float | None = None,
    progress: Callable[[str], None] | None = None,
) -> str:
    """Text of the report about an analysis.

    Parameters
    ----------
    found : Analysis
        See `trueaxis.report.analysis.analyse`.
    title : str, optional
        Heading; made from the source if not given.
    source : str, optional
        Name of the file that the rows are from.
    origin : Origin, optional
        How Python gets the rows again, and the model where it was loaded; see
        `trueaxis.report.snippet`. The code on the page leaves the rows open without it.
    command : str, optional
        The command line that made the report.
    seconds : float, optional
        Time that the fit took.
    progress : callable, optional
        Is told the name of every stage as it begins, see `STAGES`.

    Returns
    -------
    str
        A whole HTML page.
    """
    look_for_needs()
    from trueaxis.report.page import filled

    tell = progress or (lambda stage: None)
    path = None
    if found.has_trust_path:
        tell("trust path")
        path = found.trust_path()
    tell("figures")
    drawn = draw(found, path)
    found = shortened(found)
    tell("page")
    told = words(
        found, path, title=title, source=source, origin=origin, command=command,
        seconds=seconds,
    )  # fmt: skip
    return filled(told, gather(found), drawn)


def write(page: str, path: str | Path) -> None:
    """Write a page to a file, whole or not at all."""
    with atomic_write(path) as file:
        file.write(page.encode("utf-8"))


def look_for_needs() -> None:
    """Say what is missing, before any work is done."""
    for module, name in NEEDS.items():
        try:
            importlib.import_module(module)
        except ImportError:
            raise ImportError(
                f"The report needs {name}, which is not installed: "
                "pip install 'trueaxis[report]'"
            ) from None
