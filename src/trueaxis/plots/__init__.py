"""Displays of `diagnostics` and of fitted models.

Every display stores its numbers as attributes; ``from_estimator(model, X)`` computes
and draws them, ``plot(ax=None)`` draws them again on other axes. Displays need
matplotlib, which ``pip install 'trueaxis[plot]'`` installs.
"""

from trueaxis.plots.cell_map import CellMapDisplay
from trueaxis.plots.rows import OutlierMapDisplay, ScoresDisplay

__all__ = [
    "CellMapDisplay",
    "OutlierMapDisplay",
    "ScoresDisplay",
]
