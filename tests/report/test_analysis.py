"""The analysis: whose rows they are, and in which units."""

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline

from trueaxis import DSWL, ColumnScaler
from trueaxis.datasets import sensors
from trueaxis.report import analyze, write_report


@pytest.mark.slow
def test_what_would_fit_is_in_the_unit_of_the_data():
    X, units = sensors().X, np.array([1, 1e3, 1e-3, 20, 1, 7])
    plain, other = (
        analyze(make_pipeline(ColumnScaler(), DSWL(2)).fit(rows), rows)
        for rows in (X, X * units)
    )
    np.testing.assert_allclose(other.shift, plain.shift * units, atol=1e-9)
    center = plain.parts.restored(plain.model.mean_)
    np.testing.assert_allclose(plain.shift, X.mean(axis=0) - center, atol=1e-9)
    column = plain.diagnosis.column
    assert np.array_equal(column, other.diagnosis.column)
    np.testing.assert_allclose(
        other.diagnosis.fitted, plain.diagnosis.fitted * units[column], rtol=1e-9
    )
    # Put right, a row has no surplus any more, wherever that is measured.
    mended = X.copy()
    mended[np.arange(200), column] = plain.diagnosis.fitted
    unscaled = analyze(plain.model, plain.parts.scaler.transform(X))
    scaled = plain.parts.scaler.transform(mended)[np.arange(200), column]
    np.testing.assert_allclose(unscaled.diagnosis.fitted, scaled, atol=1e-9)


@pytest.mark.slow
def test_columns_in_another_order_are_refused(tmp_path):
    table = sensors()
    X = pd.DataFrame(table.X, columns=table.columns)
    turned = X[X.columns[::-1]]
    for model in (DSWL(2).fit(X), make_pipeline(ColumnScaler(), DSWL(2)).fit(X)):
        with pytest.raises(ValueError, match="feature names") as refused:
            model.predict(turned)
        with pytest.raises(ValueError, match="feature names") as as_well:
            analyze(model, turned)
        assert str(as_well.value) == str(refused.value)
        with pytest.raises(ValueError, match="feature names"):
            write_report(model, turned, tmp_path / "report.html")
        analyze(model, table.X)  # plain rows: in the known order


def test_labels_are_one_per_row_in_the_order_of_the_rows():
    X = pd.DataFrame(sensors().X, index=[f"s{i}" for i in range(200)])
    model = DSWL(2).fit(X.to_numpy())
    labels = pd.Series([f"L{i}" for i in range(200)], index=X.index)
    for given in (labels, labels.to_numpy(), labels.tolist()):
        found = analyze(model, X, labels=given, ids=labels)
        assert found.labels.tolist() == found.ids.tolist() == labels.tolist()
    for other in (labels[::-1], labels.reset_index(drop=True)):
        with pytest.raises(ValueError, match=r"another index than X.*to_numpy\(\)"):
            analyze(model, X, labels=other)
    with pytest.raises(ValueError, match="There are 3 names or labels for 200 rows"):
        analyze(model, X, ids=["a", "b", "c"])
