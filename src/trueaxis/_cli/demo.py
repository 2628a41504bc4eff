"""The main job on embedded data: fit, say who is flagged and why, write the report."""

from __future__ import annotations

import webbrowser
from pathlib import Path

import numpy as np

from trueaxis import report
from trueaxis._cli import console
from trueaxis._tables.write import refuse_target
from trueaxis.datasets import Sensors, sensors
from trueaxis.diagnostics.comparison import between
from trueaxis.estimators import DSWL, PlainPCA
from trueaxis.report.analysis import Analysis, analyse
from trueaxis.report.snippet import Origin


def run(output: str, show: bool = False) -> None:
    """Fit the sensor table, print the findings, write the report."""
    refuse_target(output)
    report.look_for_needs()
    table = sensors()
    found = look(table)
    console.show_analysis(found)
    _say_truth(table, found)
    page = report.render(
        found,
        title="Readings of a pump",
        source="sensors() of trueaxis.datasets",
        origin=Origin("from trueaxis.datasets import sensors", "sensors().X"),
        command="trueaxis demo",
    )
    report.write(page, output)
    place = Path(output).resolve()
    console.say(f"Report saved to {place}")
    console.say(f"Open it in a browser: {place.as_uri()}")
    if show:
        webbrowser.open(place.as_uri())


def look(table: Sensors) -> Analysis:
    """Fit the readings; what is wrong with them comes along as a label."""
    model = DSWL(n_components=2).fit(table.X)
    model.feature_names_in_ = np.array(table.columns, dtype=object)
    labels = np.where(table.fault == "", "healthy", table.fault)
    return analyse(model, table.X, labels=labels, of_the_fit=True)


def _say_truth(table: Sensors, found: Analysis) -> None:
    truth = PlainPCA(n_components=2).fit(table.X[table.fault == ""])
    plain = between(PlainPCA(n_components=2).fit(table.X), truth)
    robust = between(found.model, truth)
    console.say(
        f"Here the truth is known. Plain PCA: {plain.angle:.1f} degrees off the axes "
        f"of the healthy rows, mean {plain.shift:.2f} away."
    )
    console.say(
        f"DSWL: {robust.angle:.1f} degrees off, mean {robust.shift:.2f} away, not told "
        "which rows are healthy."
    )
