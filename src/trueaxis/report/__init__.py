"""Write a report on a model and rows as one HTML page.

The page is a single file that loads nothing from the network. It shows what `analysis`
has computed. It needs Jinja2 and matplotlib: ``pip install 'trueaxis[report]'``. These,
and all modules of this folder, are only imported by functions: commands read their
table first.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trueaxis._files import atomic_write
from trueaxis._rows.threads import own_floats

if TYPE_CHECKING:
    from trueaxis.report.analysis import Analysis
    from trueaxis.report.snippet import Origin

__all__ = [
    "STAGES",
    "check_dependencies",
    "render",
    "write",
    "write_report",
]

STAGES = ("trust path", "figures", "page")
NEEDS = {"jinja2": "Jinja2", "matplotlib": "matplotlib"}


@own_floats
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
    check_dependencies()
    from trueaxis.report.analysis import analyse

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


@own_floats
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
    """Return the report on an analysis as HTML.

    Parameters
    ----------
    found : Analysis
        See `trueaxis.report.analysis.analyse`.
    title : str, optional
        Heading; by default it names the source.
    source : str, optional
        Name of the file that the rows come from.
    origin : Origin, optional
        How to get the rows, and a loaded model, in Python; see
        `trueaxis.report.snippet`. Without it, the code on the page leaves the rows to
        be filled in.
    command : str, optional
        The command that wrote the report.
    seconds : float, optional
        Duration of the fit.
    progress : callable, optional
        Called with the name of every stage as it begins, see `STAGES`.

    Returns
    -------
    str
        A complete HTML page.
    """
    check_dependencies()
    from trueaxis.report.content import text_values
    from trueaxis.report.figures import draw
    from trueaxis.report.levels import levels_of
    from trueaxis.report.page import fill_template
    from trueaxis.report.page_data import rows_on_page, script_data, shorten_names

    begin = progress or (lambda stage: None)
    path = None
    if found.has_trust_path:
        begin("trust path")
        path = found.trust_path()
    begin("figures")
    short = shorten_names(found)
    figures = draw(short, path)
    begin("page")
    levels = levels_of(short)
    rows = rows_on_page(levels)
    text = text_values(
        levels, rows, path, title=title, source=source, origin=origin, command=command,
        seconds=seconds,
    )  # fmt: skip
    return fill_template(text, script_data(levels, rows, found), figures)


def write(page: str, path: str | Path) -> None:
    """Write a page to a file, which stays unchanged if writing fails."""
    with atomic_write(path) as file:
        file.write(page.encode("utf-8"))


def check_dependencies() -> None:
    """Raise if a package that the report needs is not installed."""
    for module, name in NEEDS.items():
        if importlib.util.find_spec(module) is None:
            raise ImportError(
                f"The report needs {name}, which is not installed: "
                "pip install 'trueaxis[report]'"
            )
