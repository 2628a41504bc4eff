"""Displays of rows: the map of their distances, and their scores on two components."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaincinv

from trueaxis.data.threads import ignore_float_errors
from trueaxis.diagnostics import Diagnosis, diagnose, row_labels
from trueaxis.pipeline import fitted_parts
from trueaxis.plots.canvas import (
    BLUE,
    TEXT,
    Display,
    distance_axis,
    draw_kinds,
    label_points,
    legend_below,
    name_axes,
)
from trueaxis.wording import percent

LEVEL = 0.975  # share of normally distributed rows within a tolerance ellipse
EDGE_ELLIPSES = 10  # rows beyond this many robust ellipses are drawn on the edge
LINES = {"robust": (BLUE, "-"), "plain": ("black", "--")}


@dataclass(eq=False, repr=False)
class OutlierMapDisplay(Display):
    """Orthogonal distance against score distance of every row, with the cut-offs.

    Rows right of the vertical line are far from the center inside the subspace, rows
    above the horizontal line are far from the subspace. Rows of a separate cluster are
    outliers even within both cut-offs. If a distance exceeds 15 cut-offs, its axis is
    linear up to the cut-off and logarithmic beyond, so that regular rows remain visible
    as a cloud.

    Parameters
    ----------
    diagnosis : Diagnosis
        Distances, cut-offs and kinds, see `trueaxis.diagnostics.diagnose`.
    labels : ndarray of shape (n,)
        Labels of the rows.

    Examples
    --------
    >>> from trueaxis import DSWL
    >>> from trueaxis.datasets import sensors
    >>> from trueaxis.plots import OutlierMapDisplay
    >>> X = sensors().X
    >>> display = OutlierMapDisplay.from_estimator(DSWL(2).fit(X), X, n_labels=3)
    >>> display.ax_.get_xlabel()
    'score distance (inside the subspace)'
    >>> int(display.diagnosis.flagged.sum())
    33
    """

    diagnosis: Diagnosis
    labels: NDArray[Any]

    @classmethod
    def _of(cls, model: Any, X: ArrayLike) -> Self:
        diagnosis = diagnose(model, X)
        return cls(diagnosis, row_labels(X, len(diagnosis.share)))

    @ignore_float_errors
    def plot(self, ax: Any = None, *, n_labels: int = 5) -> Self:
        """Draw the map.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Axes to draw on; a new figure if not given.
        n_labels : int, default=5
            Number of outliers to label, worst first.

        Returns
        -------
        self
        """
        ax, diagnosis = self._canvas(ax, (6.4, 4.8)), self.diagnosis
        score, orthogonal = diagnosis.score, diagnosis.orthogonal
        notes = []
        for axis, distance, cutoff, draw_line in (
            (ax.xaxis, score, diagnosis.cutoffs.score, ax.axvline),
            (ax.yaxis, orthogonal, diagnosis.cutoffs.orthogonal, ax.axhline),
        ):
            notes.append(distance_axis(axis, distance, cutoff))
            draw_line(cutoff, color=TEXT, lw=1, ls="--", zorder=1)
        draw_kinds(ax, score, orthogonal, diagnosis.kind)
        flagged = int(diagnosis.flagged.sum())
        name_axes(
            ax,
            f"Outlier map: {flagged} of {len(score)} rows are outliers",
            f"score distance (inside the subspace){notes[0]}",
            f"orthogonal distance (off the subspace){notes[1]}",
        )
        legend_below(ax)
        worst = diagnosis.worst_first()[:n_labels]
        if len(worst):
            near = diagnosis.worst_first()[:500]
            markers = np.column_stack([score[near], orthogonal[near]])
            labels = self.labels[worst]
            label_points(ax, score[worst], orthogonal[worst], labels, markers)
        return self


@dataclass(eq=False, repr=False)
class ScoresDisplay(Display):
    """Scores on two components, with robust and plain axes and tolerance ellipses.

    Both ellipses would contain 97.5 % of normally distributed rows, one according to
    the variances of the model, the other to the covariance of the scores of all rows.
    Rows beyond 10 robust ellipses are drawn on the edge. With a single component, the
    vertical axis is the orthogonal distance.

    Parameters
    ----------
    scores : ndarray of shape (n, k)
    variances, variance_ratio : ndarray of shape (k,)
        Explained variances of the components, and their shares of the total.
    diagnosis : Diagnosis
        Kinds, and orthogonal distances if there is a single component.

    Examples
    --------
    >>> from trueaxis import DSWL
    >>> from trueaxis.datasets import sensors
    >>> from trueaxis.plots import ScoresDisplay
    >>> X = sensors().X
    >>> display = ScoresDisplay.from_estimator(DSWL(2).fit(X), X)
    >>> display.ax_.get_ylabel()[:20]  # and its share of the variance
    'score on component 2'
    """

    scores: NDArray[np.float64]
    variances: NDArray[np.float64]
    variance_ratio: NDArray[np.float64]
    diagnosis: Diagnosis

    @classmethod
    def _of(cls, model: Any, X: ArrayLike) -> Self:
        method = fitted_parts(model).model
        scores = np.asarray(model.transform(X), dtype=float)
        variances = method.explained_variance_.astype(float)
        ratio = method.explained_variance_ratio_
        return cls(scores, variances, ratio, diagnose(model, X))

    @ignore_float_errors
    def plot(self, ax: Any = None, *, components: Sequence[int] | None = None) -> Self:
        """Draw the scores.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Axes to draw on; a new figure if not given.
        components : one or two ints, default the first two
            Indices, from 0.

        Returns
        -------
        self
        """
        some = list(_check_components(components, len(self.variances)))
        scores, variances = self.scores[:, some], self.variances[some]
        ax = self._canvas(ax, (6.4, 5.2))
        spreads = _spreads(scores, variances)
        x, beyond = _view(scores, 0, spreads, ax.set_xlim)
        names = [
            f"score on component {j + 1} ({percent(self.variance_ratio[j])} of "
            "variance)"
            for j in some
        ]
        if len(names) == 1:
            y, cutoff = self.diagnosis.orthogonal, self.diagnosis.cutoffs.orthogonal
            note = distance_axis(ax.yaxis, y, cutoff)
            names.append(f"orthogonal distance (off the subspace){note}")
            ax.axhline(cutoff, color=TEXT, lw=1, ls=":", zorder=1, label="cut-off")
        else:
            y, above = _view(scores, 1, spreads, ax.set_ylim)
            beyond |= above
        for name, (center, covariance) in spreads.items():
            _draw_spread(ax, name, center, covariance)
        draw_kinds(ax, x, y, self.diagnosis.kind)
        edge = f", {beyond.sum()} of them beyond the edge" if beyond.any() else ""
        name_axes(ax, f"Scores of {len(x)} rows{edge}", *names)
        legend_below(ax)
        return self


def _spreads(
    scores: NDArray[Any], variances: NDArray[Any]
) -> dict[str, tuple[NDArray[Any], NDArray[Any]]]:
    """Return centers and covariances of the scores, of all rows and robust ones."""
    n, j = scores.shape
    plain = np.cov(scores.T) if n > 1 else np.zeros((j, j))
    return {
        "plain": (scores.mean(axis=0), np.reshape(plain, (j, j))),
        "robust": (np.zeros(j), np.diag(variances)),
    }


def _view(
    scores: NDArray[Any], j: int, spreads: dict[str, Any], limit: Any
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Set limits; return scores clipped to the edge, and which ones were."""
    t, r = scores[:, j], _radius(scores.shape[1])
    ends = [
        center[j] + r * np.sqrt(covariance[j, j]) * np.array([-1, 1])
        for center, covariance in spreads.values()
    ]
    most = EDGE_ELLIPSES * ends[1][1] or np.inf
    inside = np.concatenate([*ends, t])
    inside = inside[np.abs(inside) <= most]
    low, high = inside.min(), inside.max()
    margin = 0.04 * (high - low) or 1.0
    low, high = low - margin, high + margin
    limit(low, high)
    shown = np.clip(t, low, high)
    return shown, shown != t


def _radius(n_components: int) -> float:
    """Return how many standard deviations a tolerance ellipse reaches."""
    return float(np.sqrt(2 * gammaincinv(n_components / 2, LEVEL)))


def _draw_spread(
    ax: Any, name: str, center: NDArray[Any], covariance: NDArray[Any]
) -> None:
    """Draw an ellipse with its axes; of a single component, the ends of an interval."""
    color, style = LINES[name]
    share = f"{100 * LEVEL:g} %"
    variances, turn = np.linalg.eigh(covariance)
    half = _radius(len(center)) * np.sqrt(np.maximum(variances, 0.0)) * turn
    if len(center) == 1:
        for end, label in ((-half, None), (half, f"{name} {share}")):
            x = float(center[0] + end[0, 0])
            ax.axvline(x, color=color, ls=style, lw=1.6, zorder=1, label=label)
        return
    angle = np.linspace(0, 2 * np.pi, 200)
    line = center + np.column_stack([np.cos(angle), np.sin(angle)]) @ half.T
    label = f"{name} axes and {share} ellipse"
    ax.plot(*line.T, style, color=color, lw=1.6, zorder=5, label=label)
    for axis in half.T:
        ends = center + np.outer([-1, 1], axis)
        ax.plot(*ends.T, style, color=color, lw=1.1, zorder=5)


def _check_components(components: Sequence[int] | None, k: int) -> tuple[int, ...]:
    chosen = tuple(range(min(k, 2)) if components is None else components)
    distinct = len(set(chosen)) == len(chosen) in (1, 2)
    if not distinct or not all(0 <= j < k for j in chosen):
        raise ValueError(
            f"components={components!r}, but the model has {k}: pass one or two "
            f"different numbers from 0 to {k - 1}."
        )
    return chosen
