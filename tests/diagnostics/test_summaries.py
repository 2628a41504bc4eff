"""Summaries of models together with rows."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from small_tables import holed

from trueaxis import DSWL, ColumnScaler
from trueaxis.datasets import planted, sensors
from trueaxis.diagnostics import diagnose, summary
from trueaxis.methods import PlainPCA


def fact(text, name):
    (line,) = [line for line in text.splitlines() if line.startswith(f"{name} ")]
    return line.removeprefix(name).strip()


def test_outliers_are_counted_by_kind():
    X = sensors().X
    model = DSWL(2).fit(X)
    counts = diagnose(model, X).counts()
    kinds = ", ".join(f"{n} {kind}" for kind, n in counts.items() if kind != "regular")
    assert fact(model.summary(X), "outliers") == f"33 of 200 rows (16 %): {kinds}"
    assert sum(counts.values()) == 200
    assert fact(model.summary(X[:10]), "outliers").endswith("of 10 rows")
    assert summary(model, X) == model.summary(X)


def test_the_docs_show_a_summary_as_it_is():
    X = pd.DataFrame(sensors().X, columns=sensors().columns)
    page = Path(__file__).parents[2] / "docs" / "diagnostics.md"
    assert f"```\n{DSWL(2).fit(X).summary(X)}\n```" in page.read_text()


def test_cells_are_counted():
    X = holed()
    model = DSWL(2, cells=True).fit(X)
    cells = model.wrong_cells(X, missing=True)
    missing = X.isna().to_numpy().sum()
    assert fact(model.summary(X), "cells") == (
        f"{len(cells) - missing} wrong and {missing} missing in "
        f"{cells.position.nunique()} rows"
    )
    by_rows = DSWL(2).fit(X)
    assert fact(by_rows.summary(X), "cells") == f"{missing} missing"
    complete = DSWL(2).fit(sensors().X)
    assert "cells" not in complete.summary(sensors().X)


def test_pipelines_say_what_came_before_the_fit():
    X = pd.DataFrame(sensors().X, columns=sensors().columns)
    scaled = make_pipeline(ColumnScaler(), DSWL(2)).fit(X)
    assert fact(summary(scaled), "columns") == "as ColumnScaler gave them to the fit"
    assert "power" in summary(scaled)  # names that only the scaler knows
    other = make_pipeline(StandardScaler(), PlainPCA(2)).fit(X)
    assert "StandardScaler" in fact(summary(other, X), "columns")
    assert "columns " not in summary(DSWL(2).fit(X)).split("outliers")[1]


@pytest.mark.parametrize("n_components", [1, None])
def test_any_number_of_components_is_summarized(n_components):
    X = planted("none", n=50, n_features=3, n_components=1).X
    model = PlainPCA(n_components).fit(X, sample_weight=np.linspace(1, 2, 50))
    assert "50 rows" in model.summary(X)
