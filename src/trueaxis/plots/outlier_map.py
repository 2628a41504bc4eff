"""Rows: the map of their distances, and their weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trueaxis.diagnostics import Diagnosis, diagnose, row_labels
from trueaxis.plots.canvas import (
    SMALL,
    TEXT,
    Display,
    distance_axis,
    draw_kinds,
    label_points,
    legend_below,
    name_axes,
)

WITH_WEIGHTS = (
    "pca", "dswl", "r1-pca", "l2p-pca", "rpca-om", "rpca-di", "angle-pca", "l21-max",
    "rwl-an", "t-rpca", "drpca", "rpca-rp", "rspca", "two-way",
)  # fmt: skip
FAINT = 1e-12  # weights below this part of the largest are drawn as if they were 0


@dataclass(eq=False)
class OutlierMapDisplay(Display):
    """Score distance against orthogonal distance of every row, with the cut-offs.

    Right of the vertical line rows are far inside the subspace, above the horizontal
    one far off it. If a row lies beyond 15 cut-offs, that axis is linear up to the
    cut-off and logarithmic beyond it, so that regular rows remain a cloud.

    Parameters
    ----------
    diagnosis : Diagnosis
        Distances, cut-offs and kinds, see `trueaxis.diagnostics.diagnose`.
    labels : ndarray of shape (n,)
        Of the rows.

    Examples
    --------
    >>> from trueaxis import DSWL
    >>> from trueaxis.datasets import sensors
    >>> from trueaxis.plots import OutlierMapDisplay
    >>> X = sensors().X
    >>> shown = OutlierMapDisplay.from_estimator(DSWL(2).fit(X), X, n_labels=3)
    >>> shown.ax_.get_xlabel()
    'score distance (inside the subspace)'
    >>> int(shown.diagnosis.flagged.sum())
    33
    """

    diagnosis: Diagnosis
    labels: NDArray[Any]

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        X: ArrayLike,
        *,
        n_labels: int = 5,
        scale: Literal["auto", "linear", "symlog"] = "auto",
        ax: Any = None,
    ) -> Self:
        """Diagnose rows and draw their map.

        Parameters
        ----------
        model : estimator
            Any fitted method.
        X : array-like of shape (n, D)
            Rows, those of the fit or new ones.
        n_labels, scale, ax
            See `plot`.

        Returns
        -------
        OutlierMapDisplay
        """
        found = diagnose(model, X)
        shown = cls(found, row_labels(X, len(found.kind)))
        return shown.plot(ax, n_labels=n_labels, scale=scale)

    def plot(
        self,
        ax: Any = None,
        *,
        n_labels: int = 5,
        scale: Literal["auto", "linear", "symlog"] = "auto",
    ) -> Self:
        """Draw the map.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where; a new figure if not given.
        n_labels : int, default=5
            Number of outliers, the worst ones, that are labelled.
        scale : {"auto", "linear", "symlog"}, default="auto"
            Of both axes; "auto" takes "symlog" for an axis with a row beyond 15
            cut-offs.

        Returns
        -------
        self
        """
        ax, found = self._canvas(ax, (6.4, 4.8)), self.diagnosis
        says = []
        for axis, distance, cutoff, rule in (
            (ax.xaxis, found.score, found.score_cutoff, ax.axvline),
            (ax.yaxis, found.orthogonal, found.orthogonal_cutoff, ax.axhline),
        ):
            says.append(distance_axis(axis, distance, cutoff, scale))
            rule(cutoff, color=TEXT, lw=1, ls="--", zorder=1)
        draw_kinds(ax, found.score, found.orthogonal, found.kind, clip_on=False)
        flagged = int(found.flagged.sum())
        name_axes(
            ax,
            f"Outlier map: {flagged} of {len(found.kind)} rows beyond the cut-offs",
            f"score distance (inside the subspace){says[0]}",
            f"orthogonal distance (off the subspace){says[1]}",
        )
        legend_below(ax)
        worst = found.worst_first()[:n_labels]
        if len(worst):
            x, y = found.score[worst], found.orthogonal[worst]
            near = found.worst_first()[:500]
            marks = np.column_stack([found.score[near], found.orthogonal[near]])
            label_points(ax, x, y, self.labels[worst], marks)
        return self


@dataclass(eq=False)
class WeightsDisplay(Display):
    """Weights of the rows of the fit, sorted, in colours of their kinds.

    Rows of weight 0 (or below 1e-12 of the largest) lie on the bottom edge.

    Parameters
    ----------
    weights : ndarray of shape (n,)
        `weights_` of the model.
    kind : ndarray of shape (n,), str
        See `trueaxis.diagnostics.KINDS`.

    Examples
    --------
    >>> from trueaxis import DSWL
    >>> from trueaxis.datasets import sensors
    >>> from trueaxis.plots import WeightsDisplay
    >>> X = sensors().X
    >>> shown = WeightsDisplay.from_estimator(DSWL(2).fit(X), X)
    >>> int((shown.weights == 0).sum())
    9
    """

    weights: NDArray[np.float64]
    kind: NDArray[np.str_]

    @classmethod
    def from_estimator(cls, model: Any, X: ArrayLike, *, ax: Any = None) -> Self:
        """Take the weights of a model and draw them.

        Parameters
        ----------
        model : estimator
            Fitted, of a method that has weights.
        X : array-like of shape (n, D)
            The rows of the fit.
        ax : matplotlib axes, optional

        Returns
        -------
        WeightsDisplay
        """
        found = diagnose(model, X)
        weights = getattr(model, "weights_", None)
        if weights is None:
            raise TypeError(
                f"{type(model).__name__} has no weights_, it does not weigh rows. "
                f"Methods that do: {', '.join(WITH_WEIGHTS)}."
            )
        if len(weights) != len(found.kind):
            raise ValueError(
                f"X has {len(found.kind)} rows, but the model has weights of "
                f"{len(weights)}: pass the rows of the fit."
            )
        return cls(np.asarray(weights), found.kind).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw the weights.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where; a new figure if not given.

        Returns
        -------
        self
        """
        ax, w = self._canvas(ax, (6.4, 4.2)), self.weights
        order = np.argsort(-w, kind="stable")
        n, sorted_w = len(w), w[order]
        faint = sorted_w <= FAINT * sorted_w[0]
        # The line of equal weights is in view, also where it lies below all points.
        low, high = min(sorted_w[~faint].min(), 1 / n), sorted_w[0]
        margin = max(high / low, 4.0) ** 0.12
        ax.set_yscale("log")
        ax.set_xlim(-0.02 * n, 1.02 * n + 1)
        # Room between the smallest weight and the edge, where those of 0 are.
        bottom, top = low / margin, high * margin
        ax.set_ylim(bottom, top)
        shown = np.where(faint, bottom, sorted_w)
        draw_kinds(ax, np.arange(1, n + 1), shown, self.kind[order], clip_on=False)
        ax.axhline(1 / n, color=TEXT, lw=1, ls="--", zorder=1)
        ax.text(
            0.995, 1 / n, "equal weights", va="bottom", ha="right", fontsize=SMALL,
            color=TEXT, transform=ax.get_yaxis_transform(),
        )  # fmt: skip
        if faint.any():
            edge = (
                f"{faint.sum()} rows on the edge:\n{(w == 0).sum()} of weight 0, the "
            )
            edge += f"others below {FAINT * high:.0e}"
            ax.text(
                0.02, 0.04, edge, fontsize=SMALL, color=TEXT, transform=ax.transAxes
            )
        name_axes(
            ax,
            f"Weights of {n} rows",
            "rows, largest weight first",
            "weight (sum is 1)",
        )
        legend_below(ax)
        return self
