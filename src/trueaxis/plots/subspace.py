"""Displays of the subspace: scores with axes and ellipses, and variances."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trueaxis.data.threads import own_floats
from trueaxis.diagnostics import (
    Diagnosis,
    ScorePlane,
    Spread,
    diagnose,
    effect,
    score_plane,
)
from trueaxis.diagnostics.pipelines import method_of
from trueaxis.plots.canvas import (
    BLUE,
    SMALL,
    TEXT,
    Display,
    distance_axis,
    draw_kinds,
    legend_below,
    name_axes,
    percent,
    whole_numbers,
)

REACH = 10  # rows beyond this many robust ellipses are drawn on the edge
LINES = {"robust": (BLUE, "-"), "plain": ("black", "--")}
WIDE = 1000  # ratio of variances beyond which the axis is logarithmic


@dataclass(eq=False, repr=False)
class ScoresDisplay(Display):
    """Scores on two components, with robust and plain axes and tolerance ellipses.

    Both ellipses would contain 97.5 % of normally distributed rows, one according to
    the variances of the model, the other to the covariance of all rows. Axes end where
    their ellipse would be; a short plain axis points out of the plane. Rows beyond 10
    robust ellipses are drawn on the edge. With a single component, the vertical axis
    is the orthogonal distance.

    Parameters
    ----------
    plane : ScorePlane
        See `trueaxis.diagnostics.score_plane`.
    diagnosis : Diagnosis
        Kinds, and orthogonal distances if there is a single component.
    variance_ratio : ndarray of shape (j,)
        Explained variance ratios of the components shown.

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

    plane: ScorePlane
    diagnosis: Diagnosis
    variance_ratio: NDArray[np.float64]

    def _brief(self) -> str:
        n, outliers = len(self.plane.scores), self.diagnosis.flagged.sum()
        return f"{n:,} rows, {outliers:,} outliers, components {self.plane.components}"

    @classmethod
    @own_floats
    def from_estimator(
        cls,
        model: Any,
        X: ArrayLike,
        *,
        components: Sequence[int] | None = None,
        ax: Any = None,
    ) -> Self:
        """Compute scores and ellipses and draw them.

        Parameters
        ----------
        model : estimator or Pipeline
            Any fitted method, alone or at the end of a pipeline.
        X : array-like of shape (n, D)
            Rows, usually those of the fit.
        components : one or two ints, default the first two
            Indices, from 0.
        ax : matplotlib axes, optional

        Returns
        -------
        ScoresDisplay
        """
        plane = score_plane(model, X, components)
        ratio = method_of(model).explained_variance_ratio_[list(plane.components)]
        return cls(plane, diagnose(model, X), ratio).plot(ax)

    @own_floats
    def plot(self, ax: Any = None) -> Self:
        """Draw the scores.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Axes to draw on; a new figure if not given.

        Returns
        -------
        self
        """
        ax = self._canvas(ax, (6.4, 5.2))
        x, beyond = self._view(0, ax.set_xlim)
        names = [
            f"score on component {j + 1} ({percent(ratio)} of variance)"
            for j, ratio in zip(self.plane.components, self.variance_ratio, strict=True)
        ]
        if len(names) == 1:
            y, note = self.diagnosis.orthogonal, self._draw_intervals(ax)
            names.append(f"orthogonal distance (off the subspace){note}")
        else:
            y, above = self._view(1, ax.set_ylim)
            beyond |= above
            for name, spread in self._spreads():
                _draw_ellipse(ax, spread, self.plane, name)
        draw_kinds(ax, x, y, self.diagnosis.kind, clip_on=False)
        edge = f", {beyond.sum()} of them beyond the edge" if beyond.any() else ""
        name_axes(ax, f"Scores of {len(x)} rows{edge}", *names)
        legend_below(ax)
        return self

    def _spreads(self) -> tuple[tuple[str, Spread], ...]:
        return ("plain", self.plane.plain), ("robust", self.plane.robust)

    def _view(self, j: int, limit: Any) -> tuple[NDArray[Any], NDArray[Any]]:
        """Set limits; return scores clipped to the edge, and which ones were."""
        t, r = self.plane.scores[:, j], self.plane.radius
        half = {
            name: r * np.sqrt(spread.covariance[j, j])
            for name, spread in self._spreads()
        }
        center = self.plane.plain.center[j]
        most = REACH * half["robust"] or np.inf
        ends = np.array([-half["robust"], half["robust"]])
        plain = center + half["plain"] * np.array([-1, 1])
        ends = np.concatenate([ends, plain, t])
        ends = ends[np.abs(ends) <= most]
        low, high = ends.min(), ends.max()
        margin = 0.04 * (high - low) or 1.0
        low, high = low - margin, high + margin
        limit(low, high)
        shown = np.clip(t, low, high)
        return shown, shown != t

    def _draw_intervals(self, ax: Any) -> str:
        cutoff = self.diagnosis.orthogonal_cutoff
        note = distance_axis(ax.yaxis, self.diagnosis.orthogonal, cutoff, "auto")
        ax.axhline(cutoff, color=TEXT, lw=1, ls=":", zorder=1, label="cut-off")
        for name, spread in self._spreads():
            color, style = LINES[name]
            half = self.plane.radius * np.sqrt(spread.covariance[0, 0])
            for sign in (-1, 1):
                label = f"{name} {_percent(self.plane.level)}" if sign > 0 else None
                end = spread.center[0] + sign * half
                ax.axvline(end, color=color, ls=style, lw=1.6, zorder=1, label=label)
        return note


def _draw_ellipse(ax: Any, spread: Spread, plane: ScorePlane, name: str) -> None:
    color, style = LINES[name]
    variances, turn = np.linalg.eigh(spread.covariance)
    angle = np.linspace(0, 2 * np.pi, 200)
    circle = np.column_stack([np.cos(angle), np.sin(angle)])
    size = plane.radius * np.sqrt(np.maximum(variances, 0.0))
    line = spread.center + circle * size @ turn.T
    label = f"{name} axes and {_percent(plane.level)} ellipse"
    ax.plot(*line.T, style, color=color, lw=1.6, zorder=5, label=label)
    for axis in spread.axes:
        ends = spread.center + plane.radius * np.outer([-1, 1], axis)
        ax.plot(*ends.T, style, color=color, lw=1.1, zorder=5)


def _percent(share: float) -> str:
    return f"{100 * share:g} %"


@dataclass(eq=False, repr=False)
class ScreeDisplay(Display):
    """Variances along the components, robust and plain.

    Parameters
    ----------
    robust, plain : ndarray of shape (k,)
        `explained_variance_` of the model, and of `PlainPCA` with as many components.

    Examples
    --------
    >>> from trueaxis import DSWL
    >>> from trueaxis.datasets import sensors
    >>> from trueaxis.plots import ScreeDisplay
    >>> X = sensors().X
    >>> display = ScreeDisplay.from_estimator(DSWL(None).fit(X), X)
    >>> display.robust.shape, bool((display.plain > display.robust).all())
    ((6,), True)
    """

    robust: NDArray[np.float64]
    plain: NDArray[np.float64]

    def _brief(self) -> str:
        return f"{len(self.robust)} components"

    @classmethod
    @own_floats
    def from_estimator(cls, model: Any, X: ArrayLike, *, ax: Any = None) -> Self:
        """Draw the variances of the model and of plain PCA.

        Parameters
        ----------
        model : estimator or Pipeline
            Any fitted method, alone or at the end of a pipeline.
        X : array-like of shape (n, D)
            The rows of the fit.
        ax : matplotlib axes, optional

        Returns
        -------
        ScreeDisplay
        """
        plain = effect(model, X).plain_variance
        return cls(method_of(model).explained_variance_, plain).plot(ax)

    @own_floats
    def plot(self, ax: Any = None) -> Self:
        """Draw the variances.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Axes to draw on; a new figure if not given.

        Returns
        -------
        self
        """
        ax = self._canvas(ax, (6.4, 4.0))
        number = np.arange(1, len(self.robust) + 1)
        for name, values, marker in (
            ("plain", self.plain, "s"),
            ("robust", self.robust, "o"),
        ):
            color, style = LINES[name]
            ax.plot(
                number, values, marker + style, color=color, lw=1.6, ms=7,
                mfc="white" if name == "plain" else color, label=name,
            )  # fmt: skip
        both = np.concatenate([self.robust, self.plain])
        positive = both[both > 0]
        if len(positive) and positive.max() > WIDE * positive.min():
            ax.set_yscale("log", nonpositive="mask")
        else:
            ax.set_ylim(0, 1.08 * both.max() if both.max() > 0 else 1.0)
        whole_numbers(ax.xaxis)
        ax.set_xlim(0.5, len(number) + 0.5)
        name_axes(ax, "Variances along the components", "component", "variance")
        ax.legend(loc="best", fontsize=SMALL, frameon=False)
        return self
