"""A fitted method in a few lines: as text for `summary`, as HTML for notebooks.

Only what the model itself has is shown, so models from files have an overview, too, and
nothing is computed that is not there: verdicts that Dask's workers hold stay there.
"""

from __future__ import annotations

from html import escape
from typing import Any, NamedTuple

import numpy as np

from trueaxis.wording import counted, percent, share_of, shorten

MOST_COMPONENTS = 10  # components that are listed one by one
MOST_LOADINGS = 3  # columns that are named for every component


class Summary(str):
    """Text that is shown as it is, and not in quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


class ComponentLine(NamedTuple):
    """What is shown of a component.

    number : from 1
    variance : along it
    share, cumulated : parts of the total variance, of it, and with those before
    columns : those with the largest loadings, and these
    """

    number: int
    variance: float
    share: float
    cumulated: float
    columns: str


class Overview(NamedTuple):
    """What is shown of a fitted method.

    title : name and sizes
    components : lines, at most `MOST_COMPONENTS`
    more : what is to say about other components; may be empty
    facts : names and values, both text
    """

    title: str
    components: list[ComponentLine]
    more: str
    facts: dict[str, str]


def overview(model: Any, names: Any = None) -> Overview:
    """Collect what is shown of a fitted method.

    Parameters
    ----------
    model : estimator
        Any fitted method.
    names : sequence of str, optional
        Names of the columns, if the model has none.

    Returns
    -------
    Overview
    """
    if names is None:
        names = getattr(model, "feature_names_in_", None)
    if names is None:
        names = [f"x{i}" for i in range(model.n_features_in_)]
    k, D = model.components_.shape
    ratios = model.explained_variance_ratio_.astype(float)
    total, loadings = np.cumsum(ratios), model.loadings_
    lines = [
        ComponentLine(
            j + 1,
            float(model.explained_variance_[j]),
            float(ratios[j]),
            float(total[j]),
            _largest(loadings[j], names),
        )
        for j in range(min(k, MOST_COMPONENTS))
    ]
    more = ""
    if k > MOST_COMPONENTS:
        share = percent(ratios[MOST_COMPONENTS:].sum())
        more = f"{k - MOST_COMPONENTS:,} more components: {share} of the variance"
    sizes = (
        counted(model.n_samples_, "row"),
        counted(D, "column"),
        counted(k, "component"),
    )
    title = f"{type(model).__name__}: {', '.join(sizes)}"
    return Overview(title, lines, more, _facts(model))


def _facts(model: Any) -> dict[str, str]:
    score, orthogonal = model.cutoffs_
    rounds = counted(model.n_iter_, "iteration")
    end = "converged" if model.converged_ else "did not converge, stopped"
    facts = {
        "outliers": _outliers(model),
        "level": _level(model),
        "cut-offs": f"score distance {score:.3g}, orthogonal distance {orthogonal:.3g}",
    }
    if getattr(model, "_cells", None):
        finds = model._repair().wrong is not None
        facts["cells"] = "wrong and missing ones" if finds else "missing ones"
        facts["cells"] += " are replaced before rows are judged"
    return facts | {"fit": f"{end} after {rounds}"}


def _outliers(model: Any) -> str:
    support = getattr(model, "support_", None)
    if support is None:
        return "not known, as the model was saved without its rows"
    return share_of((~np.asarray(support)).sum(), len(support))


def _level(model: Any) -> str:
    level = f"{10**model.offset_:.3g}"
    if model.contamination is None:
        return f"{level}, the p-value below which a row is an outlier"
    return f"{level}, so that {percent(model.contamination)} of the rows are outliers"


def as_text(shown: Overview) -> Summary:
    """Return an overview as text."""
    heads = ("component", "variance", "share", "total", "largest loadings")
    cells = [heads] + [
        (str(c.number), f"{c.variance:.3g}", percent(c.share), percent(c.cumulated))
        + (c.columns,)
        for c in shown.components
    ]
    widths = [max(len(line[i]) for line in cells) for i in range(4)]
    lines = [
        "  ".join([*(cell.rjust(w) for cell, w in zip(line, widths, strict=False))])
        + f"  {line[4]}"
        for line in cells
    ]
    more = [f"({shown.more})"] if shown.more else []
    wide = max(map(len, shown.facts))
    facts = [f"{name.ljust(wide)}  {value}" for name, value in shown.facts.items()]
    return Summary("\n".join([shown.title, "", *lines, *more, "", *facts]))


def as_html(shown: Overview) -> str:
    """Return an overview as HTML, for light and dark backgrounds."""
    rows = "".join(
        f"<tr><td>{c.number}</td><td>{c.variance:.3g}</td><td>{percent(c.share)}</td>"
        f"<td>{percent(c.cumulated)}</td><td>{escape(c.columns)}</td></tr>"
        for c in shown.components
    )
    facts = "".join(
        f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>"
        for name, value in shown.facts.items()
    )
    more = f"<p>{escape(shown.more)}</p>" if shown.more else ""
    return (
        f"{STYLE}<div class='trueaxis-fit'><p><b>{escape(shown.title)}</b></p>"
        "<table><tr><th>component</th><th>variance</th><th>share</th><th>total</th>"
        f"<th>largest loadings</th></tr>{rows}</table>{more}<dl>{facts}</dl></div>"
    )


# Colors are inherited: notebooks may be dark.
STYLE = (
    "<style>.trueaxis-fit{font:13px/1.5 system-ui,sans-serif;margin:.6em 0;"
    "color:inherit}"
    ".trueaxis-fit p{margin:.2em 0}"
    ".trueaxis-fit table{border-collapse:collapse;margin:.4em 0;color:inherit}"
    ".trueaxis-fit :is(td,th){padding:.1em .8em .1em 0;text-align:right;border:0;"
    "background:none;color:inherit;font-variant-numeric:tabular-nums}"
    ".trueaxis-fit :is(td,th):last-child{text-align:left}"
    ".trueaxis-fit th{font-weight:normal;opacity:.7}"
    ".trueaxis-fit dl{display:grid;grid-template-columns:max-content auto;"
    "gap:0 .8em;margin:0}"
    ".trueaxis-fit dt{opacity:.7;font-weight:normal}"
    ".trueaxis-fit dd{margin:0}</style>"
)


def _largest(loadings: Any, names: Any) -> str:
    """Return the columns with the largest loadings of a component, and these."""
    order = np.argsort(-np.abs(loadings), kind="stable")[:MOST_LOADINGS]
    return ", ".join(
        f"{shorten(' '.join(str(names[j]).split()))} {loadings[j]:.2g}"
        for j in order
        if loadings[j]
    )
