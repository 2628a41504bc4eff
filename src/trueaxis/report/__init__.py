"""Write a report on a model and rows as one HTML page.

The page is a single file that loads nothing from the network. It shows what `analysis`
has computed. It needs Jinja2: ``pip install 'trueaxis[report]'``. Jinja2, and all
modules of this folder, are only imported by functions: commands read their table first.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trueaxis._files import atomic_write
from trueaxis.data.threads import own_floats

if TYPE_CHECKING:
    from trueaxis.report.analysis import Analysis

__all__ = [
    "check_dependencies",
    "render",
    "write",
    "write_report",
]


@own_floats
def write_report(
    model: Any,
    X: Any,
    path: str | Path,
    *,
    ids: Any = None,
    labels: Any = None,
    of_the_fit: bool = True,
    **texts: Any,
) -> None:
    """Write a report on a fitted model and rows as one HTML file.

    Parameters
    ----------
    model : estimator or Pipeline
        Any fitted method, alone or after a `ColumnScaler`.
    X : array-like of shape (n, D)
        Rows of the fit, or new ones.
    path : str or Path
        File to write; it stays unchanged if writing fails.
    ids : array-like of shape (n,), optional
        Names of the rows; by default the index of a frame, or numbers from 0.
    labels : array-like of shape (n,), optional
        Labels of the rows, to be shown with them.
    of_the_fit : bool, default=True
        Whether the model was fitted on these rows: the page says if it was not.
    **texts
        Title, source, command and seconds: see `render`.

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
    check_dependencies()
    from trueaxis.report.analysis import analyse

    found = analyse(model, X, ids=ids, labels=labels, of_the_fit=of_the_fit)
    write(render(found, **texts), path)


@own_floats
def render(
    found: Analysis,
    *,
    title: str | None = None,
    source: str | None = None,
    command: str | None = None,
    seconds: float | None = None,
) -> str:
    """Return the report on an analysis as HTML.

    Parameters
    ----------
    found : Analysis
        See `trueaxis.report.analysis.analyse`.
    title : str, optional
        Heading; by default it names the source.
    source : str, optional
        Name of the file that the rows come from.
    command : str, optional
        The command that wrote the report.
    seconds : float, optional
        Duration of the fit.

    Returns
    -------
    str
        A complete HTML page.
    """
    check_dependencies()
    from trueaxis.report.page import page_of

    return page_of(found, title, source, command, seconds)


def write(page: str, path: str | Path) -> None:
    """Write a page to a file, which stays unchanged if writing fails."""
    with atomic_write(path) as file:
        file.write(page.encode("utf-8"))


def check_dependencies() -> None:
    """Raise if a package that the report needs is not installed."""
    if importlib.util.find_spec("jinja2") is None:
        raise ImportError(
            "The report needs Jinja2, which is not installed: "
            "pip install 'trueaxis[report]'"
        )
