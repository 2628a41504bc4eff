"""Displays of `diagnostics` and of fitted models.

Every display stores its numbers as attributes; ``from_estimator(model, X)`` computes
and draws them, ``plot(ax=None)`` draws them again on other axes. Displays need
matplotlib, which ``pip install 'trueaxis[plot]'`` installs.
"""

from trueaxis.plots.cell_map import CellMapDisplay
from trueaxis.plots.columns import ContributionsDisplay, ImageGridDisplay
from trueaxis.plots.outlier_map import OutlierMapDisplay, WeightsDisplay
from trueaxis.plots.paths import ConvergenceDisplay, TrustPathDisplay
from trueaxis.plots.subspace import ScoresDisplay, ScreeDisplay

__all__ = [
    "CellMapDisplay",
    "ContributionsDisplay",
    "ConvergenceDisplay",
    "ImageGridDisplay",
    "OutlierMapDisplay",
    "ScoresDisplay",
    "ScreeDisplay",
    "TrustPathDisplay",
    "WeightsDisplay",
]
