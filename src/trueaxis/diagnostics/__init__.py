"""Diagnostics of a fitted model: outliers, their causes, and their effect on PCA."""

from trueaxis.diagnostics.cells import CellMap, cell_map, cell_table
from trueaxis.diagnostics.columns import Contributions, contributions
from trueaxis.diagnostics.comparison import ComparedMethod, compare
from trueaxis.diagnostics.explanation import explain
from trueaxis.diagnostics.influence import Effect, effect
from trueaxis.diagnostics.outliers import (
    KINDS,
    Diagnosis,
    Reasons,
    diagnose,
    outlier_table,
    reasons,
)
from trueaxis.diagnostics.scores import ScorePlane, Spread, score_plane
from trueaxis.diagnostics.summaries import summary
from trueaxis.diagnostics.tables import column_names, row_labels
from trueaxis.diagnostics.trust import TrustPath, trust_path

__all__ = [
    "KINDS",
    "CellMap",
    "ComparedMethod",
    "Contributions",
    "Diagnosis",
    "Effect",
    "Reasons",
    "ScorePlane",
    "Spread",
    "TrustPath",
    "cell_map",
    "cell_table",
    "column_names",
    "compare",
    "contributions",
    "diagnose",
    "effect",
    "explain",
    "outlier_table",
    "reasons",
    "row_labels",
    "score_plane",
    "summary",
    "trust_path",
]
