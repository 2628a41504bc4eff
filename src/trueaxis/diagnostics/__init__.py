"""Diagnostics of a fitted model: outliers, their causes, and their effect on PCA."""

from trueaxis.diagnostics.cells import CellMap, cell_map, cell_table
from trueaxis.diagnostics.comparison import ComparedMethod, compare
from trueaxis.diagnostics.influence import Effect, effect
from trueaxis.diagnostics.outliers import (
    KINDS,
    Diagnosis,
    diagnose,
    explain,
    outlier_table,
)
from trueaxis.diagnostics.summaries import summary
from trueaxis.diagnostics.tables import row_labels
from trueaxis.pipeline import column_names

__all__ = [
    "KINDS",
    "CellMap",
    "ComparedMethod",
    "Diagnosis",
    "Effect",
    "cell_map",
    "cell_table",
    "column_names",
    "compare",
    "diagnose",
    "effect",
    "explain",
    "outlier_table",
    "row_labels",
    "summary",
]
