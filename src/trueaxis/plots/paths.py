"""Displays of paths: fits along decreasing trust, and iterations of a fit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trueaxis.data.threads import own_floats
from trueaxis.diagnostics import TrustPath, trust_path
from trueaxis.diagnostics.pipelines import method_of
from trueaxis.diagnostics.trust import DEFAULT_TRUSTS
from trueaxis.plots.canvas import (
    BLUE,
    GRAY,
    ORANGE,
    RED,
    SMALL,
    TEXT,
    Display,
    name_axes,
    whole_numbers,
)

# Colors and markers of components that are found one by one, used cyclically.
SERIES = [(BLUE, "o"), (RED, "s"), ("#009e73", "^"), (ORANGE, "D"), ("#cc79a7", "v")]
FEW = 40  # up to this many iterations get a marker each


@dataclass(eq=False, repr=False)
class TrustPathDisplay(Display):
    """Turn of the subspace and number of rows that leave, as trust decreases.

    A jump in the upper panel, with many rows leaving at or just before it in the lower
    one, means that a group of rows held the axes until then.

    Parameters
    ----------
    path : TrustPath
        See `trueaxis.diagnostics.trust_path`.
    least : float, default=0.05
        Rows with a weight below this fraction of the mean have left.

    Attributes
    ----------
    n_left : ndarray of shape (m,)
        Number of rows that leave at each trust.

    Examples
    --------
    >>> from trueaxis import DSWL
    >>> from trueaxis.datasets import planted
    >>> from trueaxis.plots import TrustPathDisplay
    >>> X = planted("ocs", share=0.2).X
    >>> display = TrustPathDisplay.from_estimator(DSWL(3).fit(X), X)
    >>> display.n_left.shape, len(display.axes_)
    ((10,), 2)
    """

    path: TrustPath
    least: float = 0.05

    def _brief(self) -> str:
        trust = self.path.trust
        return f"{len(trust)} fits, trust {trust[0]:g} to {trust[-1]:g}"

    @property
    def n_left(self) -> NDArray[np.intp]:
        """Number of rows that left at each trust."""
        return self.path.n_left(self.least)

    @classmethod
    @own_floats
    def from_estimator(
        cls,
        model: Any,
        X: ArrayLike,
        *,
        trust: ArrayLike = DEFAULT_TRUSTS,
        least: float = 0.05,
        ax: Any = None,
    ) -> Self:
        """Fit along decreasing trust and draw the path.

        Parameters
        ----------
        model : DSWL or Pipeline
            Fitted, alone or at the end of a pipeline.
        X : array-like of shape (n, D)
            The rows of the fit.
        trust : array-like, default from 0.95 down to 0.5
            Shares of trusted rows in (0, 1], in decreasing order.
        least : float, default=0.05
            Rows with a weight below this fraction of the mean have left.
        ax : matplotlib axes, optional

        Returns
        -------
        TrustPathDisplay
        """
        return cls(trust_path(model, X, trust), least).plot(ax)

    @own_floats
    def plot(self, ax: Any = None) -> Self:
        """Draw the path in two panels, one above the other.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Axes to replace with the panels; a new figure if not given.

        Returns
        -------
        self
        """
        path = self.path
        upper, lower = self._panels(ax, (2, 1), (6.4, 5.0), [3, 2])[:, 0]
        upper.plot(
            path.trust, path.to_model, "s--", color=GRAY, ms=4, lw=1.2,
            label="to the model",
        )  # fmt: skip
        # The first fit has no previous one.
        upper.plot(
            path.trust[1:], path.step[1:], "o-", color=BLUE, lw=1.6,
            label="to the previous fit",
        )  # fmt: skip
        jump = path.jump
        title = "Turn of the subspace as trust falls"
        if path.step[jump] > 0:
            at, turn = path.trust[jump], path.step[jump]
            upper.plot(at, turn, "D", color=RED, ms=8, mec="black", zorder=4)
            title += f", most at {at:g}: {turn:.3g}°"
        upper.set_ylim(0, max(1.2 * max(path.step.max(), path.to_model.max()), 1.0))
        name_axes(upper, title, "", "angle (degrees)")
        upper.legend(fontsize=SMALL, frameon=False, ncols=2, loc="best")
        width = 0.8 * np.abs(np.diff(path.trust)).min(initial=0.05)
        bars = lower.bar(
            path.trust, self.n_left, width, color=ORANGE, edgecolor="black", lw=0.5
        )
        lower.bar_label(bars, fontsize=SMALL, color=TEXT, padding=1)
        n = len(path.rows)
        name_axes(lower, "", "trust (share of rows that may carry the fit)")
        lower.set_ylabel(f"rows that leave\n(of {n})", color=TEXT)
        lower.set_ylim(0, 1.25 * max(self.n_left.max(), 1))
        ends = path.trust[0] + width, path.trust[-1] - width
        for panel in (upper, lower):
            panel.set_xlim(*ends)
        upper.tick_params(labelbottom=False)
        return self


@dataclass(eq=False, repr=False)
class ConvergenceDisplay(Display):
    """Objective and change of the subspace at every iteration.

    Methods that find one component after the other have a line for each component.

    Parameters
    ----------
    history : dict of ndarray
        `history_` of the model: "objective", "change" and perhaps "component".
    converged : bool
    name : str
        Name of the method.

    Examples
    --------
    >>> from trueaxis import DSWL
    >>> from trueaxis.datasets import sensors
    >>> from trueaxis.plots import ConvergenceDisplay
    >>> display = ConvergenceDisplay.from_estimator(DSWL(2).fit(sensors().X))
    >>> display.ax_.get_title()
    'DSWL: converged after 2 iterations'
    """

    history: dict[str, NDArray[np.float64]]
    converged: bool
    name: str

    def _brief(self) -> str:
        end = "converged" if self.converged else "stopped"
        return f"{self.name}, {end} after {len(self.history['objective'])} iterations"

    @classmethod
    @own_floats
    def from_estimator(cls, model: Any, X: Any = None, *, ax: Any = None) -> Self:
        """Draw the history of a fitted model.

        Parameters
        ----------
        model : estimator or Pipeline
            Any fitted method, alone or at the end of a pipeline.
        X : ignored
            Present for consistency with the other displays.
        ax : matplotlib axes, optional

        Returns
        -------
        ConvergenceDisplay
        """
        method = method_of(model)
        return cls(method.history_, method.converged_, type(method).__name__).plot(ax)

    @own_floats
    def plot(self, ax: Any = None) -> Self:
        """Draw the history in two panels, one above the other.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Axes to replace with the panels; a new figure if not given.

        Returns
        -------
        self
        """
        upper, lower = self._panels(ax, (2, 1), (6.4, 5.0))[:, 0]
        objective, change = self.history["objective"], self.history["change"]
        n = len(objective)
        number = np.arange(1, n + 1)
        for some, label, (color, marker) in self._lines():
            style = {"color": color, "lw": 1.6, "marker": marker if n <= FEW else ""}
            upper.plot(number[some], objective[some], label=label, ms=5, **style)
            moved = some & (change > 0)
            lower.plot(number[moved], change[moved], ms=5, **style)
            if "component" in self.history and some.any():
                upper.legend(fontsize=SMALL, frameon=False, loc="best")
        if (change > 0).any():
            lower.set_yscale("log")
        else:
            lower.set_ylim(0, 1)
        upper.ticklabel_format(axis="y", useOffset=False)
        end = "converged" if self.converged else "stopped"
        rounds = "1 iteration" if n == 1 else f"{n} iterations"
        name_axes(upper, f"{self.name}: {end} after {rounds}", "", "objective")
        name_axes(lower, "", "iteration", "change of the subspace")
        for panel in (upper, lower):
            whole_numbers(panel.xaxis)
            panel.set_xlim(1 - max(0.03 * n, 0.1), n + max(0.03 * n, 0.1))
        upper.tick_params(labelbottom=False)
        return self

    def _lines(self) -> list[tuple[NDArray[np.bool_], str, tuple[str, str]]]:
        """Return which iterations form a line, with its label, color and marker."""
        n = len(self.history["objective"])
        component = self.history.get("component")
        if component is None:
            return [(np.ones(n, dtype=bool), "", SERIES[0])]
        return [
            (component == j, f"component {i + 1}", SERIES[i % len(SERIES)])
            for i, j in enumerate(np.unique(component))
        ]
