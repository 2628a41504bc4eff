"""Run the demo: fit built-in data, print the outliers, write the report."""

from __future__ import annotations

import webbrowser
from pathlib import Path

import numpy as np

from trueaxis import report
from trueaxis._cli import console
from trueaxis.datasets import Sensors, sensors
from trueaxis.diagnostics.comparison import between
from trueaxis.estimators import DSWL, PlainPCA
from trueaxis.io.write import refuse_target
from trueaxis.report.analysis import Analysis, analyse
from trueaxis.report.snippet import Origin


def run(output: str, show: bool = False) -> None:
    """Fit the sensor table, print the findings, write the report."""
    refuse_target(output)
    report.check_dependencies()
    table = sensors()
    analysis = analyse_sensors(table)
    console.show_analysis(analysis)
    _compare_with_truth(table, analysis)
    page = report.render(
        analysis,
        title="Readings of a pump",
        source="sensors() of trueaxis.datasets",
        origin=Origin("from trueaxis.datasets import sensors", "sensors().X"),
        command="trueaxis demo",
    )
    report.write(page, output)
    path = Path(output).resolve()
    console.say(f"Report saved to {path}")
    console.say(f"Open it in a browser: {path.as_uri()}")
    if show:
        webbrowser.open(path.as_uri())


def analyse_sensors(table: Sensors) -> Analysis:
    """Fit the readings, and label each row with its fault."""
    model = DSWL(n_components=2).fit(table.X)
    model.feature_names_in_ = np.array(table.columns, dtype=object)
    labels = np.where(table.fault == "", "healthy", table.fault)
    return analyse(model, table.X, labels=labels, of_the_fit=True)


def _compare_with_truth(table: Sensors, analysis: Analysis) -> None:
    """Print how far both models are from plain PCA of the healthy rows."""
    truth = PlainPCA(n_components=2).fit(table.X[table.fault == ""])
    plain = between(PlainPCA(n_components=2).fit(table.X), truth)
    robust = between(analysis.model, truth)
    console.say(
        f"The truth is known here: plain PCA is {plain.angle:.1f} degrees off the axes "
        f"of the healthy rows, and its mean is {plain.shift:.2f} away."
    )
    console.say(
        f"DSWL is {robust.angle:.1f} degrees off, and its mean is {robust.shift:.2f} "
        "away, without being told which rows are healthy."
    )
