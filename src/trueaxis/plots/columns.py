"""Columns: what they add to a row's distances, and residuals as images."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import _safe_indexing

from trueaxis.diagnostics import (
    Contributions,
    Diagnosis,
    contributions,
    diagnose,
    row_labels,
)
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


@dataclass(eq=False)
class ContributionsDisplay(Display):
    """What every column adds to the squared distances of one row.

    Both squared distances are shown in units of their squared cut-offs, so that bars
    can be compared, and bars of one colour that add up to more than 1 make an outlier.
    A bar to the left is of a column that pulls the row back.

    Parameters
    ----------
    parts : Contributions
        Of the row, two arrays (1, D), see `trueaxis.diagnostics.contributions`.
    diagnosis : Diagnosis
        Of the row.
    label : object
        Of the row.

    Examples
    --------
    >>> from trueaxis import DSWL
    >>> from trueaxis.datasets import sensors
    >>> from trueaxis.plots import ContributionsDisplay
    >>> X = sensors().X
    >>> shown = ContributionsDisplay.from_estimator(DSWL(2).fit(X), X, 62)
    >>> shown.ax_.get_title()
    'Row 62 is off: x5 explains 98 %'
    """

    parts: Contributions
    diagnosis: Diagnosis
    label: Any

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        X: ArrayLike,
        row: int,
        *,
        n_columns: int = 12,
        ax: Any = None,
    ) -> Self:
        """Take one row to pieces and draw them.

        Parameters
        ----------
        model : estimator
            Any fitted method.
        X : array-like of shape (n, D)
            Rows, those of the fit or new ones.
        row : int
            Number of the row, from 0.
        n_columns, ax
            See `plot`.

        Returns
        -------
        ContributionsDisplay
        """
        n = _n_rows(X)
        _check_rows([row], n)
        one = _safe_indexing(X, [row])
        label = row_labels(X, n)[row]
        shown = cls(contributions(model, one), diagnose(model, one), label)
        return shown.plot(ax, n_columns=n_columns)

    def plot(self, ax: Any = None, *, n_columns: int = 12) -> Self:
        """Draw the contributions.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where; a new figure if not given.
        n_columns : int, default=12
            Most columns shown, largest first; the others are added up.

        Returns
        -------
        self
        """
        bars, names, unit = self._bars(n_columns)
        ax = self._canvas(ax, (6.4, 1.9 + 0.36 * len(names)))
        place = np.arange(len(names))
        for shift, values, colour, hatch, label in (
            (-0.2, bars[0], BLUE, "", "inside (score distance)"),
            (0.2, bars[1], ORANGE, "////", "off (orthogonal distance)"),
        ):
            ax.barh(
                place + shift, values, 0.38, color=colour, edgecolor="black", lw=0.5,
                hatch=hatch, label=label,
            )  # fmt: skip
        ax.axvline(0, color=TEXT, lw=0.8)
        ax.set_yticks(place, names)
        ax.set_ylim(len(names) - 0.4, -0.6)
        found = self.diagnosis
        blamed = shorten(str(found.names[found.column[0]]))
        is_kind = {"inside": "far inside", "both": "far inside and off"}
        kind = is_kind.get(str(found.kind[0]), str(found.kind[0]))
        share = f"{found.share[0]:.0%}".replace("%", " %")
        title = f"Row {self.label} is {kind}: {blamed} explains {share}"
        if len(title) > 44:  # names of columns may leave little room
            title = title.replace(": ", ":\n", 1)
        name_axes(ax, title, f"part of the squared distance ({unit})")
        legend_below(ax)
        return self

    def _bars(self, n_columns: int) -> tuple[NDArray[Any], list[str], str]:
        """Heights (2, columns shown), names and unit."""
        found = self.diagnosis
        limits = np.array([found.score_cutoff, found.orthogonal_cutoff])
        unit = "1 = squared cut-off"
        if (limits <= 0).any():
            limits, unit = np.ones(2), "a cut-off is 0"
        bars = np.vstack([self.parts.score, self.parts.orthogonal])
        bars = bars / limits[:, None] / limits[:, None]
        order = np.argsort(-np.abs(bars).max(axis=0), kind="stable")
        top, rest = order[:n_columns], order[n_columns:]
        names = [shorten(str(name)) for name in found.names[top]]
        if len(rest):
            names.append(f"{len(rest)} other columns")
            others = bars[:, rest].sum(axis=1, keepdims=True)
            return np.hstack([bars[:, top], others]), names, unit
        return bars[:, top], names, unit


@dataclass(eq=False)
class ImageGridDisplay(Display):
    """Rows that are images: as given, as the subspace has them, and what is left.

    Images and reconstructions share one grey scale, from the least to the largest
    pixel of the images; residuals share one scale that is white at 0, blue below and
    red above.

    Parameters
    ----------
    images, reconstructions : ndarray of shape (m, height, width)
    labels : ndarray of shape (m,)
        Of the rows.
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
    >>> shown = ImageGridDisplay.from_estimator(model, X, [0, 499], shape=(4, 5))
    >>> shown.residuals.shape, shown.axes_.shape
    ((2, 4, 5), (3, 2))
    """

    images: NDArray[np.float64]
    reconstructions: NDArray[np.float64]
    labels: NDArray[Any]
    kind: NDArray[np.str_]

    @property
    def residuals(self) -> NDArray[np.float64]:
        """Images minus reconstructions."""
        return self.images - self.reconstructions

    @classmethod
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
        model : estimator
            Any fitted method.
        X : array-like of shape (n, D)
            Rows, those of the fit or new ones.
        rows : sequence of int, default the five worst
            Numbers of the rows, from 0.
        shape : tuple of two ints
            Height and width of an image in pixels; their product is D.
        ax : matplotlib axes, optional

        Returns
        -------
        ImageGridDisplay
        """
        if np.prod(shape) != model.n_features_in_:
            raise ValueError(
                f"shape={tuple(shape)} has {np.prod(shape)} pixels, but the model "
                f"{model.n_features_in_} columns: pass a height and a width of which "
                "that is the product."
            )
        n = _n_rows(X)
        if rows is None:
            rows = diagnose(model, X).worst_first(everything=True)[:5].tolist()
        _check_rows(rows, n)
        some = _safe_indexing(X, list(rows))
        scores = np.asarray(model.transform(some))
        images = np.asarray(some, dtype=float)
        made = np.asarray(model.inverse_transform(scores), dtype=float)
        return cls(
            images.reshape(-1, *shape),
            made.reshape(-1, *shape),
            row_labels(X, n)[list(rows)],
            diagnose(model, some).kind,
        ).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw the images, one column of three for every row.

        Parameters
        ----------
        ax : matplotlib axes, optional
            In whose place; a new figure if not given.

        Returns
        -------
        self
        """
        m = len(self.images)
        ratio = np.clip(self.images.shape[1] / self.images.shape[2], 0.75, 2)
        axes = self._panels(ax, (3, m), (1.1 + 1.35 * m, 0.5 + 3 * 1.35 * ratio))
        low, high = self.images.min(), self.images.max()
        most = float(np.abs(self.residuals).max()) or 1.0
        grey = {"cmap": "gray", "vmin": low, "vmax": high}
        signed = {"cmap": "RdBu_r", "vmin": -most, "vmax": most}
        lines = (
            (self.images, grey, f"image\n{low:.3g} to {high:.3g}"),
            (self.reconstructions, grey, "in the subspace\nsame scale"),
            (self.residuals, signed, f"residual\n±{most:.3g}"),
        )
        for line, (images, colours, name) in zip(axes, lines, strict=True):
            for panel, image in zip(line, images, strict=True):
                panel.imshow(image, interpolation="nearest", **colours)
                panel.set(xticks=[], yticks=[])
            line[0].set_ylabel(name, fontsize=SMALL, color=TEXT)
        for panel, label, kind in zip(axes[0], self.labels, self.kind, strict=True):
            title = f"{shorten(str(label), 14)}\n{kind}"
            panel.set_title(title, fontsize=SMALL, color=TEXT)
        return self


def _n_rows(X: Any) -> int:
    return X.shape[0] if hasattr(X, "shape") else len(X)


def _check_rows(rows: Sequence[int], n: int) -> None:
    wrong = [row for row in rows if not -n <= row < n]
    if wrong or not len(rows):
        raise ValueError(
            f"Row {wrong[0]} is asked for, but X has {n} rows: pass numbers from 0 to "
            f"{n - 1}."
            if wrong
            else "No rows are asked for: pass the number of at least one."
        )
