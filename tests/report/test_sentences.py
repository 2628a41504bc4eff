"""Verdicts and hints."""

import numpy as np
import pandas as pd
from small_tables import cloud

from trueaxis.datasets import planted
from trueaxis.methods import PlainPCA
from trueaxis.report import analyze
from trueaxis.report.sentences import (
    change,
    describe_threshold,
    explained,
    format_p,
    hints,
    verdict,
)


def test_hints_on_many_flagged_and_few_rows(pump):
    bad = analyze(pump.model, pump.X[pump.flagged])
    few = analyze(pump.model, pump.X[~pump.diagnosis.flagged][:14])
    assert [hint.split(":")[0] for hint in hints(bad)] == [
        "100 % of the rows are flagged"
    ]
    assert hints(few) == ["With only 14 rows, outliers are hard to tell from chance."]
    assert hints(pump) == []


def test_p_values_have_two_digits_and_only_all_of_the_variance_is_100_percent():
    for p, text in {1: "1", 0.0249: "0.025", 4.56e-4: "4.6e-04", 0: "<1e-99"}.items():
        assert format_p(p) == text
    texts = {0.98: "98 %", 0.997: "99.7 %", 0.99999: "more than 99.9 %", 1: "100 %"}
    for share, text in texts.items():
        assert explained(share) == text
    assert explained(1 - 1e-15) == "100 %"


def test_the_verdict_states_the_threshold():
    X = cloud(share=0.1).X
    by_level, by_share = PlainPCA(2, level=0.01), PlainPCA(2, contamination=0.2)
    assert verdict(analyze(by_level.fit(X), X)).endswith(
        "At level 0.01, 1.0 % of regular rows are flagged, too."
    )
    p = 10 ** by_share.fit(X).offset_
    assert describe_threshold(by_share) == (
        f"Contamination 0.2 puts the threshold at a p-value of {format_p(p)}."
    )
    assert verdict(analyze(by_share, X)).startswith("18 of 90 rows (20 %)")


def test_rounding_errors_of_the_mean_are_not_reported():
    X = planted("none", n=200, n_features=3).X
    text = change(analyze(PlainPCA(1).fit(X), X))
    assert text.endswith("its mean is the same.")
    X[0] += 100
    assert "its mean moves most in x" in change(analyze(PlainPCA(1).fit(X[1:]), X))


def test_columns_of_a_spectrum_share_a_unit():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 5)) * [1, 10, 100, 1000, 10]
    for start, said in ((0, True), (1100, False)):
        frame = pd.DataFrame(X, columns=[f"{start + 2 * i}" for i in range(5)])
        frame.columns = frame.columns if start else list("abcde")
        found = hints(analyze(PlainPCA(1).fit(frame), frame))
        assert any("times as much" in hint for hint in found) == said
