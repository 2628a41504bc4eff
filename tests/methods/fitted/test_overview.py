"""What is shown of a fitted method, as text."""

import numpy as np
import pandas as pd

from trueaxis import DSWL
from trueaxis.datasets import sensors


def frame():
    table = sensors()
    return pd.DataFrame(table.X, columns=table.columns)


def test_the_summary_says_what_the_attributes_say():
    X = frame()
    model = DSWL(2).fit(X)
    text = model.summary()
    title, _, heads, first, second, *rest = text.splitlines()
    assert title == "DSWL: 200 rows, 6 columns, 2 components"
    assert heads.split()[:4] == ["component", "variance", "share", "total"]
    for j, line in enumerate((first, second)):
        best = model.feature_names_in_[np.abs(model.components_[j]).argmax()]
        assert line.split()[:2] == [str(j + 1), f"{model.explained_variance_[j]:.3g}"]
        assert line.split("  ")[-1].startswith(f"{best} ")
    assert f"{(~model.support_).sum()} of 200 rows" in text
    assert "0.025" in text and "converged after" in text
    # Shown without quotes where the text stands alone.
    assert repr(text) == str(text) and isinstance(text, str)


def test_names_are_shown_on_one_line():
    X = frame().rename(columns={"power": 'a\n"b" & c'})
    assert 'a "b" & c' in DSWL(2).fit(X).summary()


def test_the_summary_says_how_cells_are_treated():
    X = frame()
    assert "cells " not in DSWL(2).fit(X).summary()
    X.iloc[3, 2] = np.nan
    assert "missing ones are replaced" in DSWL(2).fit(X).summary()
    wrong = DSWL(2, cells=True).fit(X).summary()
    assert "wrong and missing ones are replaced" in wrong
