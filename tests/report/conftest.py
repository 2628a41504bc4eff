"""An analysis and its page; reports that are opened in a real browser."""

from importlib import resources

import numpy as np
import pandas as pd
import pytest
from browsers import missing
from small_tables import holed

from trueaxis import DSWL
from trueaxis.datasets import planted, sensors
from trueaxis.report import analyze, render, write_report

EVIL = "</script><script>window.harmed = 1</script><img src=x onerror=harmed=1>"


@pytest.fixture(scope="session")
def pump():
    table = sensors()
    X = pd.DataFrame(table.X, columns=table.columns)
    return analyze(DSWL(2).fit(X), X, labels=table.fault)


@pytest.fixture(scope="session")
def page(pump):
    return render(pump, title="Pump", source="pump.csv", command="trueaxis report")


@pytest.fixture(scope="session")
def axe():
    """The script of axe-core, which finds obstacles for people with disabilities."""
    try:
        import axe_playwright_python
    except ImportError:
        missing("axe-playwright-python")
    folder = resources.files(axe_playwright_python)
    return folder.joinpath("axe.min.js").read_text(encoding="utf-8")


def pump_report(path):
    table = sensors()
    X = pd.DataFrame(table.X, columns=table.columns)
    labels = table.fault.astype(object)
    labels[25] = EVIL  # an over-run, flagged
    names = {"title": "Pump readings", "source": EVIL, "command": "trueaxis " + EVIL}
    write_report(DSWL(2).fit(X), X, path, labels=labels, **names)


def alike_report(path):
    """Most rows alike: a cut-off of 0, and rows infinitely beyond it."""
    alike = np.full((20, 4), 3.7)
    write_report(DSWL(2).fit(alike), np.vstack([alike, alike[:2] + 1]), path)


def many_report(path):
    """More flagged rows than the page draws, and twelve labels."""
    X = planted("scatter", n=10_000, n_features=20, n_components=5, share=0.3).X
    labels = [f"machine {i % 12}" for i in range(len(X))]
    write_report(DSWL(5).fit(X), X, path, labels=labels)


def cells_report(path):
    pumps = holed()
    write_report(DSWL(2, cells=True).fit(pumps), pumps, path, title="Pumps")


def line_report(path):
    """A single component, and no labels."""
    X = planted("scatter", n=80, n_features=4, n_components=1, share=0.1).X
    write_report(DSWL(1).fit(X), X, path)


REPORTS = {
    "pump": pump_report,
    "alike": alike_report,
    "many": many_report,
    "cells": cells_report,
    "line": line_report,
}


@pytest.fixture(scope="session")
def report_path(tmp_path_factory):
    """Path of a report, which is written when it is first asked for."""
    folder = tmp_path_factory.mktemp("reports")

    def path_of(name):
        path = folder / f"{name}.html"
        if not path.exists():
            REPORTS[name](path)
        return path

    return path_of


@pytest.fixture
def visit(open_page, report_path):
    """Open a report by its name."""
    return lambda name="pump", **options: open_page(report_path(name), **options)
