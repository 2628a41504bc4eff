"""Data of the map and the table."""

import numpy as np
import pandas as pd
import pytest
from report_pages import embedded_data

from trueaxis import DSWL
from trueaxis._engine.outliers.judge import cutoff_ratio
from trueaxis.datasets import sensors
from trueaxis.report import render
from trueaxis.report.analysis import analyse
from trueaxis.report.sentences import reason


@pytest.mark.slow
def test_points_are_the_rows_of_the_analysis_worst_first(pump, page):
    data, d = embedded_data(page), pump.diagnosis
    n_bad = len(pump.flagged)
    assert data["id"][:n_bad] == [str(row) for row in pump.flagged]
    assert sorted(map(int, data["id"])) == list(range(200))
    order = np.array(data["id"], dtype=int)
    off = cutoff_ratio(d.orthogonal, d.orthogonal_cutoff)
    np.testing.assert_allclose(data["off"], off[order], rtol=1e-3)
    np.testing.assert_allclose(data["excess"], d.excess[pump.flagged], rtol=1e-3)
    assert data["because"] == [reason(pump, row) for row in pump.flagged]
    kinds = [data["kinds"][kind]["name"] for kind in data["kind"]]
    assert kinds == d.kind[order].tolist()
    assert [data["label"][i] for i in range(3)] == ["flow unit wrong"] * 3


def test_contributions_are_shares_that_add_up(pump, page):
    data = embedded_data(page)
    shares = pump.shares(pump.flagged)
    for name, exact in (("offParts", shares.orthogonal), ("scoreParts", shares.score)):
        np.testing.assert_allclose(exact.sum(axis=1), 1)
        for row, share in zip(data[name], exact, strict=True):
            assert sum(row[1::2]) == pytest.approx(100, abs=0.5)
            assert row[1] == pytest.approx(100 * share[row[0]], abs=0.051)
            assert row[0] == np.abs(share).argmax() and row[-2] == -1


@pytest.mark.slow
def test_long_names_that_differ_in_the_middle_stay_different():
    table, ends = sensors(), ("long " * 30, " end" * 30)
    names = [f"{ends[0]}{name}{ends[1]}" for name in table.columns]
    X = pd.DataFrame(table.X, columns=names)
    analysis = analyse(
        DSWL(2).fit(X), X, ids=[f"{ends[0]}{i}{ends[1]}" for i in range(200)]
    )
    data = embedded_data(render(analysis))
    assert len(set(data["columns"])) == 6 and len(set(data["id"])) == 200
    assert max(map(len, data["columns"] + data["id"])) < 90
    flow = data["columns"][table.columns.index("flow")]
    assert data["because"][0].startswith(f"{flow} is 8.99")
