"""A fitted method in a few lines of text.

Only what the model itself has is shown, so models from files have an overview, too, and
nothing is computed that is not there: verdicts that Dask's workers hold stay there.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from trueaxis.wording import counted, percent, share_of, shorten

MOST_COMPONENTS = 10  # components that are listed one by one
MOST_LOADINGS = 3  # columns that are named for every component


class Summary(str):
    """Text that is shown as it is, and not in quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def overview(model: Any, names: Any, facts: dict[str, str]) -> Summary:
    """Return sizes, components and facts of a fitted method.

    Parameters
    ----------
    model : estimator
        Any fitted method.
    names : sequence of str
        Names of the columns.
    facts : dict
        Names and values, to list below the components.

    Returns
    -------
    Summary
    """
    k, D = model.components_.shape
    sizes = (
        counted(model.n_samples_, "row"),
        counted(D, "column"),
        counted(k, "component"),
    )
    ratios = model.explained_variance_ratio_.astype(float)
    total, loadings = np.cumsum(ratios), model.loadings_
    cells = [("component", "variance", "share", "total", "largest loadings")] + [
        (
            str(j + 1),
            f"{model.explained_variance_[j]:.3g}",
            percent(ratios[j]),
            percent(total[j]),
            _largest(loadings[j], names),
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
    wide = max(map(len, facts))
    listed = [f"{name.ljust(wide)}  {value}" for name, value in facts.items()]
    title = f"{type(model).__name__}: {', '.join(sizes)}"
    return Summary("\n".join([title, "", *lines, "", *listed]))


def facts_of(model: Any) -> dict[str, str]:
    """Return what is known of a fit besides its components, by name."""
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


def _largest(loadings: Any, names: Any) -> str:
    """Return the columns with the largest loadings of a component, and these."""
    order = np.argsort(-np.abs(loadings), kind="stable")[:MOST_LOADINGS]
    return ", ".join(
        f"{shorten(' '.join(str(names[j]).split()))} {loadings[j]:.2g}"
        for j in order
        if loadings[j]
    )
