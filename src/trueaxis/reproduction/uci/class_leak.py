"""WRITE what becomes of BUPA if its class is among the features, and if it is not."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueaxis.reproduction.methods import AUTOMATIC
from trueaxis.reproduction.significance import table
from trueaxis.reproduction.study import Results
from trueaxis.reproduction.uci.printed import KS, METHODS, accuracies
from trueaxis.reproduction.uci.study import LEAK
from trueaxis.reproduction.uci.summary import UciSummary

# Points from which on a printed accuracy counts as not explained.
FAR = 10.0


def leak_section(summary: UciSummary, results: Results) -> str:
    """Compare the printed row with ours, with and without the class as a feature."""
    leaking = UciSummary.of(results, leak=True)
    if LEAK not in leaking.sets or "bupa" not in summary.sets:
        return ""
    i = summary.sets.index("bupa")
    paper = accuracies(["bupa"])[0]
    found = {
        "ours": _row(summary, "accuracy", i),
        "with the class as a feature": _row(leaking, "accuracy", 0),
        "the same, training folds only": _row(leaking, "accuracy_training_only", 0),
    }
    rows = [["printed", *map(_three, paper), ""]]
    rows += [[title, *map(_three, values)] for title, values in found.items()]
    misses = [
        [title, *(f"{x:.1f}" for x in np.abs(values[:-1] - paper).mean(axis=0))]
        for title, values in found.items()
    ]
    gap = found["with the class as a feature"][:-1] - paper
    far = [
        f"{METHODS[m]} at k = {KS[j]} ({gap[m, j]:+.0f})"
        for m, j in np.argwhere(np.abs(gap) > FAR)
    ]
    return (
        "### BUPA: with and without a leak\n\n"
        "Accuracy with 1 / 3 / 5 components. The printed 97 to 99 % are out of reach "
        "of the features; 58 % of the rows have the larger class. A leak could explain "
        "them: the last six of the file's seven columns taken as features, of which "
        "the last is the class. This is inferred from numbers, by trying several "
        "labellings; it is not known what the authors did. The second table tells for "
        "which numbers of components the leak comes nearer to the printed ones.\n\n"
        + table(["", *METHODS, AUTOMATIC], rows)
        + "\nMean distance from the printed accuracies of five methods, points:\n\n"
        + table(["", *(f"k = {k}" for k in KS)], misses)
        + f"\nWith the leak still more than {FAR:g} points from the printed number: "
        f"{', '.join(far) or 'none'}.\n"
    )


def _row(summary: UciSummary, measure: str, i: int) -> NDArray[Any]:
    return np.array([summary.mean(measure, m)[i] for m in (*METHODS, AUTOMATIC)])


def _three(values: NDArray[Any]) -> str:
    return " / ".join(f"{x:.1f}" for x in values)
