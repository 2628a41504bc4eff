"""A fitted method in a few lines of text.

Only attributes of the model are shown, so models from files have a summary, too, and
nothing is computed: verdicts that Dask's workers hold are not fetched.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from trueaxis.data.threads import ignore_float_errors
from trueaxis.pipeline import column_names, fitted_parts
from trueaxis.wording import counted, percent, shorten

MOST_COMPONENTS = 10  # components that are listed one by one
MOST_LOADINGS = 3  # columns that are named for every component


class Summary(str):
    """Text that is shown as it is, and not in quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


@ignore_float_errors
def summary(model: Any) -> Summary:
    """Summarize a fitted model in a few lines of text.

    Parameters
    ----------
    model : estimator or Pipeline
        Any fitted method, alone or at the end of a pipeline.

    Returns
    -------
    str
        Sizes, components with their variances and the columns with the largest
        `loadings_`, outliers among the rows of the fit, level, cut-offs, and whether
        the fit converged. It is shown as it is, without `print`.

    Examples
    --------
    >>> from trueaxis import DSWL
    >>> from trueaxis.datasets import sensors
    >>> from trueaxis.diagnostics import summary
    >>> text = summary(DSWL(2).fit(sensors().X))
    >>> text.splitlines()[0]
    'DSWL: 200 rows, 6 columns, 2 components'
    """
    method = fitted_parts(model).model
    facts = _about_fit(method)
    before = [type(step).__name__ for _, step in getattr(model, "steps", [])[:-1]]
    if before:
        facts["columns"] = f"as {' and '.join(before)} gave them to the fit"
    k, D = method.components_.shape
    sizes = zip((method.n_samples_, D, k), ("row", "column", "component"), strict=True)
    title = ", ".join(counted(*each) for each in sizes)
    wide = max(map(len, facts))
    listed = [f"{name.ljust(wide)}  {value}" for name, value in facts.items()]
    table = _components(method, column_names(model))
    lines = [f"{type(method).__name__}: {title}", "", *table, "", *listed]
    return Summary("\n".join(lines))


def _components(model: Any, names: Any) -> list[str]:
    """Return variances and largest loadings of the components, as lines of a table."""
    k, ratios = len(model.components_), model.explained_variance_ratio_.astype(float)
    total = np.cumsum(ratios)
    cells = [("component", "variance", "share", "total", "largest loadings")] + [
        (
            str(j + 1),
            f"{model.explained_variance_[j]:.3g}",
            percent(ratios[j]),
            percent(total[j]),
            _largest(model.loadings_[j], names),
        )
        for j in range(min(k, MOST_COMPONENTS))
    ]
    widths = [max(len(line[i]) for line in cells) for i in range(4)]
    lines = [
        "  ".join([cell.rjust(w) for cell, w in zip(line, widths, strict=False)])
        + f"  {line[4]}"
        for line in cells
    ]
    if k > MOST_COMPONENTS:
        share = percent(ratios[MOST_COMPONENTS:].sum())
        lines += [f"({k - MOST_COMPONENTS:,} more components: {share} of the variance)"]
    return lines


def _largest(loadings: Any, names: Any) -> str:
    """Return the columns with the largest loadings of a component, and these."""
    order = np.argsort(-np.abs(loadings), kind="stable")[:MOST_LOADINGS]
    return ", ".join(
        f"{shorten(' '.join(str(names[j]).split()))} {loadings[j]:.2g}"
        for j in order
        if loadings[j]
    )


def _about_fit(model: Any) -> dict[str, str]:
    """Return facts about a fit besides its components, by name."""
    support, level = getattr(model, "support_", None), f"{10**model.offset_:.3g}"
    outliers = "not known, as the model was saved without its rows"
    if support is not None:
        bad, n = int((~np.asarray(support)).sum()), len(support)
        share = f" ({percent(bad / n)})" if bad else ""
        outliers = f"{bad:,} of {counted(n, 'row')}{share}"
    threshold = f"{level}, the p-value below which a row is an outlier"
    if model.contamination is not None:
        flagged = percent(model.contamination)
        threshold = f"{level}, so that {flagged} of the rows are outliers"
    score, orthogonal = model.cutoffs_
    facts = {
        "outliers": outliers,
        "level": threshold,
        "cut-offs": f"score distance {score:.3g}, orthogonal distance {orthogonal:.3g}",
    }
    if getattr(model, "_cells", None):
        finds = model._repair().wrong is not None
        cells = "wrong and missing ones" if finds else "missing ones"
        facts["cells"] = f"{cells} are replaced before rows are judged"
    end = "converged" if model.converged_ else "did not converge, stopped"
    return facts | {"fit": f"{end} after {counted(model.n_iter_, 'iteration')}"}
