"""What is shown of a fitted method, as text and as HTML."""

from html.parser import HTMLParser

import dask.array as da
import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import clone

from trueaxis import DSWL
from trueaxis.datasets import planted, sensors

EVIL = "<script>harm()</script>"


def frame():
    table = sensors()
    return pd.DataFrame(table.X, columns=table.columns)


class Balanced(HTMLParser):
    """Fail unless every tag is closed in order; collect the text."""

    def __init__(self, page):
        super().__init__()
        self.open, self.texts = [], []
        self.feed(page)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


def block(model):
    """The HTML that is added to scikit-learn's diagram, and the rest."""
    page = model._repr_html_()
    diagram, _, added = page.partition("<style>.trueaxis-fit")
    return diagram, "<style>.trueaxis-fit" + added if added else ""


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


def test_unfitted_methods_have_scikit_learns_diagram_only():
    model = clone(DSWL(2))
    diagram, added = block(model)
    assert "sk-container" in diagram and not added
    assert "trueaxis-fit" not in model._repr_mimebundle_()["text/html"]
    with config_context(display="text"):
        assert not hasattr(DSWL(2).fit(frame()), "_repr_html_")
        assert "text/html" not in DSWL(2).fit(frame())._repr_mimebundle_()


def test_names_are_escaped():
    X = frame().rename(columns={"flow": EVIL, "power": 'a\n"b" & c'})
    model = DSWL(2).fit(X)
    _, added = block(model)
    assert "<script>" not in added and "&lt;script&gt;" in added
    assert EVIL in "".join(Balanced(added).texts)
    assert 'a "b" & c' in model.summary()


def test_cells_are_told():
    X = frame()
    assert "cells " not in DSWL(2).fit(X).summary()
    X.iloc[3, 2] = np.nan
    assert "missing ones are replaced" in DSWL(2).fit(X).summary()
    wrong = DSWL(2, cells=True).fit(X).summary()
    assert "wrong and missing ones are replaced" in wrong


@pytest.mark.dask
def test_lazy_verdicts_are_not_computed():
    X = planted("ocs", n=6000, share=0.1).X
    model = DSWL(3).fit(da.from_array(X, chunks=(1000, X.shape[1])))
    assert "support_ is lazy" in model.summary() and "lazy" in block(model)[1]
