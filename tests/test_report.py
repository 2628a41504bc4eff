"""The report shows what the analysis holds, as one file that harms nobody."""

import base64
import hashlib
import json
import re
import sys

import numpy as np
import pandas as pd
import pytest
from nasty import nasty
from sklearn.pipeline import make_pipeline

from trueaxis import DSWL, METHODS, PCP, ColumnScaler, PlainPCA
from trueaxis._engine.outliers.judge import cutoff_ratio
from trueaxis._tables.read import Choice
from trueaxis.datasets import planted, sensors
from trueaxis.diagnostics.trust import trust_path
from trueaxis.plots.canvas import percent
from trueaxis.report import points, render, write_report
from trueaxis.report.analysis import analyse
from trueaxis.report.content import short, told_path, words
from trueaxis.report.page import script_safe
from trueaxis.report.points import chosen_rows, gather, numbers
from trueaxis.report.sentences import because, hints, verdict
from trueaxis.report.snippet import Origin

EVIL = [
    "</script><script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    'it\'s "quoted" & <b>bold</b>\nsecond line\u2028third',
    "\U0001f600 \u202eright to left \u05d0",
    "$\\frac{1}{2}$ {{ 7 * 7 }} {% raw %}",
    "long " * 2000,
]


def parts(found, **names):
    full = dict(title=None, source=None, origin=None, command=None, seconds=None)
    return words(found, None, **{**full, **names})


def embedded(page):
    (text,) = re.findall(r'<script type="application/json" id="data">(.*?)<', page)
    return json.loads(text)


def alone(page):
    """Nothing in the page makes a browser ask for anything."""
    assert "http:" not in page and "https:" not in page
    assert not re.findall(r"<(?:link|iframe|img|object|embed|base)\b", page)
    assert not re.findall(r"@import|\bsrc=", page)
    targets = re.findall(r'(?:href="|url\()([^)"]*)', page)
    assert all(target.startswith(("#", "data:image/png")) for target in targets)


@pytest.fixture(scope="module")
def pump():
    table = sensors()
    X = pd.DataFrame(table.X, columns=table.columns)
    return analyse(DSWL(2).fit(X), X, labels=table.fault)


@pytest.fixture(scope="module")
def page(pump):
    return render(pump, title="Pump", source="pump.csv", command="trueaxis report")


# ---------------------------------------------------------------- what is shown


def test_the_page_says_what_the_analysis_says(pump, page):
    assert verdict(pump) in page and "turned by 52 degrees" in page
    assert "<title>Pump</title>" in page and "trueaxis report" in page
    assert "DSWL(n_components=2).fit(X)" in page
    assert "Rows are counted from 0." in page and "New rows" not in page
    for name in ("scores", "scree", "weights", "convergence", "trust"):
        assert f'id="figure-{name}"' in page
    alone(page)


def test_points_are_the_rows_of_the_analysis_worst_first(pump, page):
    data, d = embedded(page), pump.diagnosis
    n_bad = len(pump.flagged)
    assert data["id"][:n_bad] == [str(row) for row in pump.flagged]
    assert sorted(map(int, data["id"])) == list(range(200))
    order = np.array(data["id"], dtype=int)
    off = cutoff_ratio(d.orthogonal, d.orthogonal_cutoff)
    np.testing.assert_allclose(data["off"], off[order], rtol=1e-3)
    np.testing.assert_allclose(data["excess"], d.excess[pump.flagged], rtol=1e-3)
    assert data["because"] == [because(pump, row) for row in pump.flagged]
    kinds = [data["kinds"][kind]["name"] for kind in data["kind"]]
    assert kinds == d.kind[order].tolist()
    assert [data["label"][i] for i in range(3)] == ["flow unit wrong"] * 3


def test_contributions_are_shares_that_add_up(pump, page):
    data = embedded(page)
    shares = pump.shares(pump.flagged)
    for name, exact in (("offParts", shares.orthogonal), ("scoreParts", shares.score)):
        np.testing.assert_allclose(exact.sum(axis=1), 1)
        for row, share in zip(data[name], exact, strict=True):
            assert sum(row[1::2]) == pytest.approx(100, abs=0.5)
            assert row[1] == pytest.approx(100 * share[row[0]], abs=0.051)
            assert row[0] == np.abs(share).argmax() and row[-2] == -1


def test_shares_without_a_distance_are_0():
    X = planted("none", n=40, n_features=3).X
    found = analyse(DSWL(3).fit(X), X)
    at_centre = analyse(found.model, found.model.mean_[None])
    assert (at_centre.shares(np.array([0])).score == 0).all()


def test_means_are_in_the_unit_of_the_data():
    X = sensors().X * [1, 1, 1000, 1, 1, 1]
    found = analyse(make_pipeline(ColumnScaler(), DSWL(2)).fit(X), X)
    np.testing.assert_allclose(found.centre + found.shift, X.mean(axis=0), rtol=1e-9)
    alone_found = analyse(DSWL(2).fit(X), X)
    np.testing.assert_allclose(
        alone_found.centre + alone_found.shift, X.mean(axis=0), rtol=1e-9
    )
    told = parts(found, source="data.csv")
    assert (
        "make_pipeline(ColumnScaler(), DSWL(n_components=2))"
        in (told["repeat"]["code"])
    )
    assert [part["step"] for part in told["repeat"]["parameters"]] == [
        "ColumnScaler",
        "DSWL",
    ]


def test_the_code_to_repeat_the_fit_runs(pump, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    header = ",".join(pump.names)
    np.savetxt("pump.csv", pump.raw, delimiter=",", header=header, comments="")
    names = {}
    origin = Origin.table("pump.csv", Choice())
    exec(parts(pump, origin=origin)["repeat"]["code"], names)
    assert "X = ...  # your 200 x 6 table" in parts(pump)["repeat"]["code"]
    np.testing.assert_allclose(
        names["model"].components_, pump.model.components_, atol=1e-9
    )


def test_words_for_the_trust_path():
    jumps = planted("ocs", share=0.2).X
    assert "held the axes" in told_path(trust_path(DSWL(3).fit(jumps), jumps))
    bounded = planted("none").X
    held = sensors().X * [1, 1, 1000, 1, 1, 1]
    assert "the start that the model had" in told_path(
        trust_path(DSWL(2).fit(held), held)
    )
    assert "No step turns" in told_path(trust_path(DSWL(3).fit(bounded), bounded))


def test_stages_are_told(pump):
    stages = []
    render(pump, progress=stages.append, seconds=1.5)
    assert stages == ["trust path", "figures", "page"]


def test_numbers_for_people_and_for_json():
    shares = {
        0: "0 %",
        4e-5: "less than 0.1 %",
        0.004: "0.4 %",
        0.5: "50 %",
        1: "100 %",
    }
    assert [percent(share) for share in shares] == [*shares.values()]
    assert [short(x) for x in (np.inf, 12345.6, -0.12345)] == ["∞", "12,346", "−0.1235"]
    assert numbers(np.array([1.23456, np.inf, np.nan])) == [1.235, None, None]


def test_one_of_many_rows_is_more_than_nothing():
    X = planted("none", n=200, n_features=3).X
    model = PlainPCA(1).fit(X)
    bounded = np.tile(X.mean(axis=0), (200, 1))
    bounded[7] += 1e3
    told = verdict(analyse(model, bounded))
    assert told.startswith("1 of 200 rows (0.5 %) is an outlier")


def test_hints_on_many_flagged_and_few_rows(pump):
    bad = analyse(pump.model, pump.X[pump.flagged])
    few = analyse(pump.model, pump.X[~pump.diagnosis.flagged][:14])
    assert [hint.split(":")[0] for hint in hints(bad)] == [
        "100 % of the rows are flagged"
    ]
    assert hints(few) == ["14 rows are very few to tell outliers from chance."]
    assert hints(pump) == []


def test_what_would_fit_is_in_the_unit_of_the_data():
    X, units = sensors().X, np.array([1, 1e3, 1e-3, 20, 1, 7])
    plain, other = (
        analyse(make_pipeline(ColumnScaler(), DSWL(2)).fit(rows), rows)
        for rows in (X, X * units)
    )
    column = plain.diagnosis.column
    assert np.array_equal(column, other.diagnosis.column)
    np.testing.assert_allclose(other.fitting, plain.fitting * units[column], rtol=1e-9)
    # Put right, a row has no surplus any more, wherever that is measured.
    mended = X.copy()
    mended[np.arange(200), column] = plain.fitting
    alone_found = analyse(plain.model, plain.scaler.transform(X))
    scaled = plain.scaler.transform(mended)[np.arange(200), column]
    np.testing.assert_allclose(alone_found.fitting, scaled, atol=1e-9)


# ---------------------------------------------------------------- every model


@pytest.mark.parametrize("name", METHODS)
def test_every_method_has_a_report(name):
    X = planted("scatter", n=60, n_features=6, n_components=2, share=0.1).X
    model = METHODS[name](2).fit(X)
    page = render(analyse(model, X))
    alone(page)
    assert ('id="figure-weights"' in page) == hasattr(model, "weights_")
    assert ('id="figure-trust"' in page) == (name == "dswl")
    assert f"Parameters of {type(model).__name__}" in page


def test_new_rows_have_no_weights(pump):
    X = pump.raw[:50] + 0.1
    page = render(analyse(pump.model, X))
    assert "New rows." in page
    assert 'id="figure-weights"' not in page and 'id="figure-trust"' not in page
    alone(render(analyse(pump.model, X[:1])))


def test_columns_in_another_order_are_refused(tmp_path):
    table = sensors()
    X = pd.DataFrame(table.X, columns=table.columns)
    turned = X[X.columns[::-1]]
    for model in (DSWL(2).fit(X), make_pipeline(ColumnScaler(), DSWL(2)).fit(X)):
        with pytest.raises(ValueError, match="feature names") as refused:
            model.predict(turned)
        with pytest.raises(ValueError, match="feature names") as as_well:
            analyse(model, turned)
        assert str(as_well.value) == str(refused.value)
        with pytest.raises(ValueError, match="feature names"):
            write_report(model, turned, tmp_path / "report.html")
        assert analyse(model, table.X).of_the_fit  # plain rows: in the known order


def test_as_many_new_rows_are_no_rows_of_the_fit(pump):
    new = pump.raw[::-1]
    assert not analyse(pump.model, new).of_the_fit
    assert not analyse(pump.model, pump.raw, of_the_fit=False).of_the_fit
    assert analyse(pump.model, new, of_the_fit=True).of_the_fit
    page = render(analyse(pump.model, new))
    assert "New rows." in page and 'id="figure-weights"' not in page


def test_a_method_that_does_not_weigh_rows_says_so():
    X = planted("none", n=40, n_features=5).X
    assert "does not weigh rows" in render(analyse(PCP().fit(X), X))


@pytest.mark.parametrize("case", [c for c in nasty() if "1e300" not in c[0]],
                         ids=lambda case: case[0])  # fmt: skip
def test_awkward_tables_have_a_report(case):
    _, X, k = case
    page = render(analyse(DSWL(k).fit(X), X))
    alone(page)
    assert len(embedded(page)["id"]) == len(X)


def test_a_cut_off_of_0_is_no_number_for_json():
    X = np.full((20, 4), 3.7)
    found = analyse(DSWL(2).fit(X), np.vstack([X, X[:1] + 1]))
    assert not np.isfinite(found.diagnosis.excess[-1])
    data = embedded(render(found))
    assert data["excess"] == [None] and data["off"][0] is None
    assert parts(found)["worst"][0]["off"] == "∞"


def test_nothing_flagged_is_said():
    X = planted("none", n=30, n_features=4, random_state=3).X
    found = analyse(PlainPCA(2).fit(X), X[:3] * 0 + X.mean(axis=0))
    assert not len(found.flagged)
    page = render(found)
    assert "nothing to list" in page and 'id="rows"' not in page


# ---------------------------------------------------------------- harm


def test_names_of_any_kind_are_only_text():
    table = sensors()
    X = pd.DataFrame(table.X, columns=EVIL)
    ids = [EVIL[i % 6] + str(i) for i in range(200)]
    found = analyse(DSWL(2).fit(X), X, ids=ids, labels=ids)
    page = render(found, title=EVIL[0], source=EVIL[1], command=EVIL[2])
    assert page.count("<script") == 2 and page.count("</script>") == 2
    assert "<img" not in page and "<b>bold" not in page
    assert "{{ 7 * 7 }}" in page and len(page) < 1e6
    assert "\u2028" not in page.split('id="data"')[1]
    data = embedded(page)
    assert data["columns"][0] == EVIL[0]
    assert data["columns"][3] == EVIL[3].replace("\u202e", "")
    assert data["id"][0] in ids
    assert len(parts(found, title=EVIL[-1], source=EVIL[-1])["title"]) < 100


def test_long_names_that_differ_in_the_middle_stay_different():
    table, ends = sensors(), ("long " * 30, " end" * 30)
    names = [f"{ends[0]}{name}{ends[1]}" for name in table.columns]
    X = pd.DataFrame(table.X, columns=names)
    found = analyse(
        DSWL(2).fit(X), X, ids=[f"{ends[0]}{i}{ends[1]}" for i in range(200)]
    )
    data = embedded(render(found))
    assert len(set(data["columns"])) == 6 and len(set(data["id"])) == 200
    assert max(map(len, data["columns"] + data["id"])) < 90
    flow = data["columns"][table.columns.index("flow")]
    assert data["because"][0].startswith(f"{flow} is 8.99")


def test_the_policy_lets_only_our_script_run(page):
    (script,) = re.findall(r"<script>(.*?)</script>", page, re.S)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in page.replace("&#39;", "'")
    assert "default-src 'none'" in page


def test_json_cannot_leave_its_script():
    text = script_safe(["</script>", "&amp;", "\u2028\u2029"])
    assert not set("<>&\u2028\u2029") & set(text)
    assert json.loads(text) == ["</script>", "&amp;", "\u2028\u2029"]
    with pytest.raises(ValueError):
        script_safe([float("nan")])


def test_halves_of_characters_can_be_written(pump, tmp_path):
    path = tmp_path / "report.html"
    write_report(pump.model, pump.raw, path, source="\udc80.csv")
    assert "?.csv" in path.read_text(encoding="utf-8")


# ---------------------------------------------------------------- many rows


def test_ten_thousand_rows_make_a_small_file(tmp_path):
    X = planted("scatter", n=10_000, n_features=50, share=0.3).X
    model, path = DSWL(3).fit(X), tmp_path / "report.html"
    write_report(model, X, path)
    assert path.stat().st_size < 2e6
    page = path.read_text(encoding="utf-8")
    assert "The table lists the worst 2,000 of 3," in page
    assert "The map draws" not in page
    assert len(embedded(page)["because"]) == 2000


def test_what_is_left_out_is_said(pump, monkeypatch):
    monkeypatch.setattr(points, "MOST_POINTS", 60)
    chosen = chosen_rows(pump)
    assert len(chosen) == 60 and (chosen[:33] == pump.flagged).all()
    regular = chosen[33:]
    assert (np.diff(regular) > 0).all() and not pump.diagnosis.flagged[regular].any()
    said = parts(pump)["left_out"]["map"]
    assert "60 of 200" in said and "all 33 flagged" in said and "27 regular" in said
    monkeypatch.setattr(points, "MOST_FLAGGED", 20)
    assert "the worst 20 of 33 flagged" in parts(pump)["left_out"]["map"]
    assert len(gather(pump)["id"]) == 60


# ---------------------------------------------------------------- files


def test_the_same_analysis_gives_the_same_page(pump, page):
    again = render(pump, title="Pump", source="pump.csv", command="trueaxis report")
    assert again == page


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
