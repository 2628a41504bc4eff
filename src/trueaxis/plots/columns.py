"""Displays of columns: contributions to the distances of a row, and residual images."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import _safe_indexing

from trueaxis.data.threads import own_floats
from trueaxis.diagnostics import (
    Contributions,
    Diagnosis,
    contributions,
    diagnose,
    row_labels,
)
from trueaxis.diagnostics.pipelines import method_of
from trueaxis.diagnostics.tables import check_positions
from trueaxis.plots.canvas import (
    BLUE,
    ORANGE,
    SMALL,
    TEXT,
    Display,
    legend_below,
    name_axes,
    shorten,
)

IN_WORDS = {
    "regular": "regular",
    "inside": "far out in the subspace",
    "off": "off the subspace",
    "both": "off the subspace and far out in it",
    "group": "in a group that stands apart",
}


@dataclass(eq=False, repr=False)
class ContributionsDisplay(Display):
    """Contributions of every column to the squared distances of one row.

    Both squared distances are shown in units of their squared cut-offs, so that bars
    can be compared. A row is an outlier if the bars of one color add up to more than 1.
    A bar to the left belongs to a column that pulls the row back toward the center.

    Parameters
    ----------
    parts : Contributions
        Contributions to the row, two arrays (1, D), see
        `trueaxis.diagnostics.contributions`.
    diagnosis : Diagnosis
        Diagnosis of the row.
    label : object
        Label of the row.

    Examples
    --------
    >>> from trueaxis import DSWL
    >>> from trueaxis.datasets import sensors
    >>> from trueaxis.plots import ContributionsDisplay
    >>> X = sensors().X
    >>> display = ContributionsDisplay.from_estimator(DSWL(2).fit(X), X, 62)
    >>> display.ax_.get_title()
    'Row 62 is off the subspace: x5 explains 98 %'
    """

    parts: Contributions
    diagnosis: Diagnosis
    label: Any

    def _brief(self) -> str:
        kind, D = self.diagnosis.kind[0], len(self.diagnosis.names)
        return f"row {self.label}, {kind}, {D:,} columns"

    @classmethod
    @own_floats
    def from_estimator(
        cls,
        model: Any,
        X: ArrayLike,
        row: int,
        *,
        n_columns: int = 12,
        ax: Any = None,
    ) -> Self:
        """Compute the contributions to one row and draw them.

        Parameters
        ----------
        model : estimator or Pipeline
            Any fitted method, alone or at the end of a pipeline.
        X : array-like of shape (n, D)
            Rows, those of the fit or new ones.
        row : int
            Position of the row, from 0, and not its label in a frame: see "position"
            of `outliers`.
        n_columns, ax
            See `plot`.

        Returns
        -------
        ContributionsDisplay
        """
        n = _n_rows(X)
        check_positions([row], n)
        single = _safe_indexing(X, [row])
        label = row_labels(X, n)[row]
        display = cls(contributions(model, single), diagnose(model, single), label)
        return display.plot(ax, n_columns=n_columns)

    @own_floats
    def plot(self, ax: Any = None, *, n_columns: int = 12) -> Self:
        """Draw the contributions.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Axes to draw on; a new figure if not given.
        n_columns : int, default=12
            Number of columns to show, largest contributions first. The others are
            added up.

        Returns
        -------
        self
        """
        bars, names, unit = self._bars(n_columns)
        ax = self._canvas(ax, (6.4, 1.9 + 0.36 * len(names)))
        place = np.arange(len(names))
        for shift, values, color, hatch, label in (
            (-0.2, bars[0], BLUE, "", "inside (score distance)"),
            (0.2, bars[1], ORANGE, "////", "off (orthogonal distance)"),
        ):
            ax.barh(
                place + shift, values, 0.38, color=color, edgecolor="black", lw=0.5,
                hatch=hatch, label=label,
            )  # fmt: skip
        ax.axvline(0, color=TEXT, lw=0.8)
        ax.set_yticks(place, names)
        ax.set_ylim(len(names) - 0.4, -0.6)
        diagnosis = self.diagnosis
        column = shorten(str(diagnosis.names[diagnosis.column[0]]))
        kind = IN_WORDS[str(diagnosis.kind[0])]
        share = f"{diagnosis.share[0]:.0%}".replace("%", " %")
        title = f"Row {shorten(str(self.label))} is {kind}: {column} explains {share}"
        if len(title) > 44:  # long names do not fit into one line
            title = title.replace(": ", ":\n", 1)
        name_axes(ax, title, f"part of the squared distance ({unit})")
        legend_below(ax)
        return self

    def _bars(self, n_columns: int) -> tuple[NDArray[Any], list[str], str]:
        """Return lengths of the bars (2, columns shown), names and unit."""
        diagnosis = self.diagnosis
        limits = np.array([diagnosis.score_cutoff, diagnosis.orthogonal_cutoff])
        unit = "1 = squared cut-off"
        if (limits <= 0).any():
            limits, unit = np.ones(2), "a cut-off is 0"
        bars = np.vstack([self.parts.score, self.parts.orthogonal])
        bars = bars / limits[:, None] / limits[:, None]
        order = np.argsort(-np.abs(bars).max(axis=0), kind="stable")
        top, rest = order[:n_columns], order[n_columns:]
        names = [shorten(str(name)) for name in diagnosis.names[top]]
        if len(rest):
            names.append(f"{len(rest)} other columns")
            others = bars[:, rest].sum(axis=1, keepdims=True)
            return np.hstack([bars[:, top], others]), names, unit
        return bars[:, top], names, unit


@dataclass(eq=False, repr=False)
class ImageGridDisplay(Display):
    """Rows that are images, with their reconstructions and residuals.

    Images and reconstructions share one gray scale, from the smallest to the largest
    pixel value of the images. Residuals share one scale that is white at 0, blue below
    and red above.

    Parameters
    ----------
    images, reconstructions : ndarray of shape (m, height, width)
    labels : ndarray of shape (m,)
        Labels of the rows.
    kind : ndarray of shape (m,), str
        See `trueaxis.diagnostics.KINDS`.

    Attributes
    ----------
    residuals : ndarray of shape (m, height, width)
        Images minus reconstructions.

    Examples
    --------
    >>> from trueaxis import DSWL
    >>> from trueaxis.datasets import planted
    >>> from trueaxis.plots import ImageGridDisplay
    >>> X = planted("amp", share=0.1).X
    >>> model = DSWL(3).fit(X)
    >>> display = ImageGridDisplay.from_estimator(model, X, [0, 499], shape=(4, 5))
    >>> display.residuals.shape, display.axes_.shape
    ((2, 4, 5), (3, 2))
    """

    images: NDArray[np.float64]
    reconstructions: NDArray[np.float64]
    labels: NDArray[Any]
    kind: NDArray[np.str_]

    def _brief(self) -> str:
        m, height, width = self.images.shape
        return f"{m:,} images of {height} x {width} pixels"

    @property
    def residuals(self) -> NDArray[np.float64]:
        """Images minus reconstructions."""
        return self.images - self.reconstructions

    @classmethod
    @own_floats
    def from_estimator(
        cls,
        model: Any,
        X: ArrayLike,
        rows: Sequence[int] | None = None,
        *,
        shape: tuple[int, int],
        ax: Any = None,
    ) -> Self:
        """Reconstruct rows and draw them as images.

        Parameters
        ----------
        model : estimator or Pipeline
            Any fitted method, alone or at the end of a pipeline.
        X : array-like of shape (n, D)
            Rows, those of the fit or new ones.
        rows : sequence of int, default the five worst
            Positions of the rows, from 0.
        shape : tuple of two ints
            Height and width of an image in pixels; their product is D.
        ax : matplotlib axes, optional

        Returns
        -------
        ImageGridDisplay
        """
        method_of(model)  # raises if it is not fitted
        if np.prod(shape) != model.n_features_in_:
            raise ValueError(
                f"shape={tuple(shape)} has {np.prod(shape)} pixels, but the model has "
                f"{model.n_features_in_} columns: pass a height and a width whose "
                "product is the number of columns."
            )
        n = _n_rows(X)
        if rows is None:
            rows = diagnose(model, X).worst_first(everything=True)[:5].tolist()
        check_positions(rows, n)
        some = _safe_indexing(X, list(rows))
        scores = np.asarray(model.transform(some))
        images = np.asarray(some, dtype=float)
        rebuilt = np.asarray(model.inverse_transform(scores), dtype=float)
        return cls(
            images.reshape(-1, *shape),
            rebuilt.reshape(-1, *shape),
            row_labels(X, n)[list(rows)],
            diagnose(model, some).kind,
        ).plot(ax)

    @own_floats
    def plot(self, ax: Any = None) -> Self:
        """Draw each row as a column of three images.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Axes to replace with the panels; a new figure if not given.

        Returns
        -------
        self
        """
        m = len(self.images)
        ratio = np.clip(self.images.shape[1] / self.images.shape[2], 0.75, 2)
        axes = self._panels(ax, (3, m), (1.1 + 1.35 * m, 0.5 + 3 * 1.35 * ratio))
        seen = ~np.isnan(self.images)  # missing pixels stay blank
        low, high = self.images[seen].min(), self.images[seen].max()
        most = float(np.abs(self.residuals[seen]).max()) or 1.0
        gray = {"cmap": "gray", "vmin": low, "vmax": high}
        signed = {"cmap": "RdBu_r", "vmin": -most, "vmax": most}
        lines = (
            (self.images, gray, f"image\n{low:.3g} to {high:.3g}"),
            (self.reconstructions, gray, "reconstruction\nsame scale"),
            (self.residuals, signed, f"residual\n±{most:.3g}"),
        )
        for line, (images, colors, name) in zip(axes, lines, strict=True):
            for panel, image in zip(line, images, strict=True):
                panel.imshow(image, interpolation="nearest", **colors)
                panel.set(xticks=[], yticks=[])
            line[0].set_ylabel(name, fontsize=SMALL, color=TEXT)
        for panel, label, kind in zip(axes[0], self.labels, self.kind, strict=True):
            title = f"{shorten(str(label), 14)}\n{kind}"
            panel.set_title(title, fontsize=SMALL, color=TEXT)
        return self


def _n_rows(X: Any) -> int:
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)
