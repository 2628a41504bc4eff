"""Verdicts and hints."""

import numpy as np

from trueaxis import PlainPCA
from trueaxis.datasets import planted
from trueaxis.report.analysis import analyse
from trueaxis.report.sentences import hints, verdict


def test_one_of_many_rows_is_more_than_nothing():
    X = planted("none", n=200, n_features=3).X
    model = PlainPCA(1).fit(X)
    rows = np.tile(X.mean(axis=0), (200, 1))
    rows[7] += 1e3
    text = verdict(analyse(model, rows))
    assert text.startswith("1 of 200 rows (0.5 %) is an outlier")


def test_hints_on_many_flagged_and_few_rows(pump):
    bad = analyse(pump.model, pump.X[pump.flagged])
    few = analyse(pump.model, pump.X[~pump.diagnosis.flagged][:14])
    assert [hint.split(":")[0] for hint in hints(bad)] == [
        "100 % of the rows are flagged"
    ]
    assert hints(few) == ["With only 14 rows, outliers are hard to tell from chance."]
    assert hints(pump) == []
