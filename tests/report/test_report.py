"""The report as a whole: what it shows, for every model, and how it is written."""

import sys

import pytest
from nasty import nasty
from report_pages import assert_self_contained, embedded_data

from trueaxis import DSWL
from trueaxis.datasets import planted
from trueaxis.methods import METHODS, PlainPCA
from trueaxis.report import render, write_report
from trueaxis.report.analysis import analyse
from trueaxis.report.sentences import chance, verdict


@pytest.mark.slow
def test_the_page_says_what_the_analysis_says(pump, page):
    assert verdict(pump) in page and "turned by 52 degrees" in page
    assert "<title>Pump</title>" in page and "trueaxis report" in page
    assert "DSWL(n_components=2).fit(X)" in page
    assert "Rows are numbered from 0." in page and "New rows" not in page
    assert chance(pump) in page and "95 % below" in page
    assert 'id="figure-scree"' in page
    assert_self_contained(page)


@pytest.mark.slow
def test_stages_are_told(pump):
    stages = []
    render(pump, progress=stages.append, seconds=1.5)
    assert stages == ["figures", "page"]


# ---------------------------------------------------------------- every model


@pytest.mark.slow
@pytest.mark.parametrize("name", METHODS)
def test_every_method_has_a_report(name):
    X = planted("scatter", n=60, n_features=6, n_components=2, share=0.1).X
    model = METHODS[name](2).fit(X)
    page = render(analyse(model, X))
    assert_self_contained(page)
    assert f"Parameters of {type(model).__name__}" in page


@pytest.mark.slow
def test_new_rows_are_announced(pump):
    X = pump.raw[:50] + 0.1
    page = render(analyse(pump.model, X))
    assert "New rows." in page
    assert_self_contained(render(analyse(pump.model, X[:1])))


@pytest.mark.soak
@pytest.mark.parametrize("case", [c for c in nasty() if "1e300" not in c[0]],
                         ids=lambda case: case[0])  # fmt: skip
def test_awkward_tables_have_a_report(case):
    _, X, k = case
    page = render(analyse(DSWL(k).fit(X), X))
    assert_self_contained(page)
    assert len(embedded_data(page)["id"]) == len(X)


@pytest.mark.slow
def test_nothing_flagged_is_said():
    X = planted("none", n=30, n_features=4, random_state=3).X
    analysis = analyse(PlainPCA(2).fit(X), X[:3] * 0 + X.mean(axis=0))
    assert not len(analysis.flagged)
    page = render(analysis)
    assert "nothing to list" in page and 'id="rows"' not in page


@pytest.mark.slow
@pytest.mark.parametrize("k", [3, 10])
def test_ten_thousand_rows_make_a_small_file(tmp_path, k):
    X = planted("scatter", n=10_000, n_features=50, n_components=k, share=0.3).X
    model, path = DSWL(k).fit(X), tmp_path / "report.html"
    labels = [f"machine {i % 40}" for i in range(10_000)]
    ids = [f"2026-03-01 12:00, no. {i}" for i in range(10_000)]
    write_report(model, X, path, ids=ids, labels=labels)
    assert path.stat().st_size < 1.5e6
    page = path.read_text(encoding="utf-8")
    assert "The table lists the worst 2,000 of 3," in page
    assert "The plots show" not in page
    data = embedded_data(page)
    assert data["listed"] == [2000, 500] and len(data["because"]) == 2500
    assert sum(data["profiled"]) >= 100


# ---------------------------------------------------------------- files


@pytest.mark.slow
def test_the_same_analysis_gives_the_same_page(pump, page):
    again = render(pump, title="Pump", source="pump.csv", command="trueaxis report")
    assert again == page


@pytest.mark.slow
def test_a_report_is_whole_or_not_there(pump, tmp_path, monkeypatch):
    path = tmp_path / "report.html"
    path.write_text("before")

    def fail(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr("os.replace", fail)
    with pytest.raises(KeyboardInterrupt):
        write_report(pump.model, pump.raw, path)
    assert path.read_text() == "before" and len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("module, name", [("jinja2", "Jinja2"), ("matplotlib",) * 2])
def test_what_is_missing_is_named(module, name, pump, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError, match=rf"needs {name}.*trueaxis\[report\]"):
        write_report(pump.model, pump.raw, tmp_path / "report.html")
    with pytest.raises(ImportError, match=name):
        render(pump)
