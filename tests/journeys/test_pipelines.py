"""Those who know scikit-learn: data frames, pipelines, searches, weights."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from trueaxis import DSWL, ColumnScaler, TableEncoder
from trueaxis.diagnostics import outlier_table


def test_pandas_in_pandas_out(pumps):
    """An analyst keeps the index and the names, and is stopped at a wrong table."""
    model = DSWL(2).set_output(transform="pandas").fit(pumps.table)
    scores = model.transform(pumps.table)
    assert isinstance(scores, pd.DataFrame) and scores.shape == (150, 2)
    assert scores.index.equals(pumps.table.index)
    assert list(scores) == list(model.get_feature_names_out())
    assert list(model.feature_names_in_) == list(pumps.table)

    back = model.inverse_transform(scores.loc[pumps.healthy.index[:5]])
    good = pumps.healthy.iloc[:5]
    assert np.abs(np.asarray(back) - good.to_numpy()).max() < 1.5

    with pytest.raises(ValueError, match="(?s)order"):
        model.transform(pumps.table[["flow", *pumps.table.drop(columns="flow")]])
    with pytest.raises(ValueError, match="(?s)flwo.*flow"):
        model.predict(pumps.table.rename(columns={"flow": "flwo"}))
    with pytest.raises(ValueError, match="(?s)flow"):
        model.predict(pumps.table.drop(columns="flow"))


@pytest.mark.parametrize("scaler", [StandardScaler, ColumnScaler])
def test_a_pipeline_scales_and_judges_new_rows(scaler, pumps, new_pumps):
    """Columns in different units are scaled first, also at scoring."""
    units = np.array([1e3, 1, 1e-3, 1, 1e5, 1])
    plant, new = (p.healthy * units + 7 * units for p in (pumps, new_pumps))
    model = make_pipeline(scaler(), DSWL(2)).fit(plant)
    labels = pd.Series(model.predict(new), new.index)
    assert (labels == 1).all() and (model.predict(plant) == 1).mean() > 0.9
    bad = new_pumps.table * units + 7 * units
    labels = pd.Series(model.predict(bad), bad.index)
    assert set(labels.index[labels == -1]) == new_pumps.bad.keys()
    listed = outlier_table(model, bad)
    assert listed["column"].to_dict() == new_pumps.bad
    # Only a ColumnScaler is undone, so that values are in the units of the data.
    for row in listed.itertuples() if scaler is ColumnScaler else []:
        assert row.value == bad.loc[row.Index, row.column]
        right, spread = new.loc[row.Index, row.column], plant[row.column].std()
        assert row.fitted == pytest.approx(right, abs=0.5 * spread)
    again = clone(model).fit(plant)
    np.testing.assert_allclose(again.transform(bad), model.transform(bad))


def test_a_search_finds_the_number_of_components():
    """A student predicts a quantity from robust scores, and searches for their number.

    The target hangs on the third component, so two are not enough; outliers in the
    training rows would take a place among three components of plain PCA.
    """
    rng = np.random.default_rng(3)
    factors = rng.normal(size=(400, 3)) * [3, 2, 1]
    basis = np.linalg.qr(rng.normal(size=(12, 12)))[0]
    X = factors @ basis[:3] + rng.normal(0, 0.05, (400, 12))
    y = factors[:, 2] + rng.normal(0, 0.1, 400)
    X[::10] += 30 * basis[5]  # gross errors in another direction
    y[::10] = 0
    steps = make_pipeline(DSWL(), Ridge())
    search = GridSearchCV(steps, {"dswl__n_components": [1, 2, 3]}, cv=4).fit(X, y)
    assert search.best_params_ == {"dswl__n_components": 3}
    assert search.best_score_ > 0.7
    above = y > 0
    classes = make_pipeline(DSWL(3), LogisticRegression())
    assert cross_val_score(classes, X, above).mean() > 0.8
    good = np.arange(400) % 10 > 0
    assert (search.best_estimator_[0].predict(X) == np.where(good, 1, -1)).mean() > 0.95


def test_sample_weights_count_as_repeated_rows():
    """A survey gives every row a weight: 2 means that it stands for two people."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(300, 2)) @ rng.normal(size=(2, 6)) + rng.normal(
        0, 0.1, (300, 6)
    )
    X[:150, 0] += 4 * X[:150, 1]  # two halves of different kind
    times = np.where(np.arange(300) < 150, 3, 1)
    weighted = DSWL(2).fit(X, sample_weight=times)
    repeated = DSWL(2).fit(np.repeat(X, times, axis=0))
    np.testing.assert_allclose(weighted.mean_, repeated.mean_, atol=1e-6)
    np.testing.assert_allclose(
        weighted.components_, repeated.components_, rtol=0, atol=1e-6
    )
    assert np.abs(weighted.mean_ - DSWL(2).fit(X).mean_).max() > 0.01
    none = DSWL(2).fit(X, sample_weight=np.arange(300) >= 150)  # 0: not there
    np.testing.assert_allclose(none.mean_, DSWL(2).fit(X[150:]).mean_, atol=1e-6)


def test_a_bank_finds_the_contract_that_does_not_belong():
    """A bank has amounts, rates and words. An encoder makes numbers of all of them.

    One contract has an income that goes with nothing else in its row. Names and running
    numbers say nothing and are left out.
    """
    rng = np.random.default_rng(6)
    n, wealth = 500, rng.normal(size=500)
    table = pd.DataFrame(
        {
            "nr": np.arange(1, n + 1),
            "customer": [f"customer {i}" for i in range(n)],
            "income": np.exp(8 + 0.6 * wealth + rng.normal(0, 0.05, n)),
            "credit": np.exp(10 + 0.8 * wealth + rng.normal(0, 0.05, n)),
            "rate": 5 - wealth + rng.normal(0, 0.1, n),
            "class": np.where(wealth > 0, "private", "standard"),
        }
    )
    table.loc[77, "income"] *= 30
    encoder = TableEncoder(categories=True, log=["income", "credit"])
    model = make_pipeline(encoder, DSWL(2)).fit(table)
    names = list(model[0].get_feature_names_out())
    assert names == [
        "log10(income)", "log10(credit)", "rate", "class=private", "class=standard"
    ]  # fmt: skip
    assert "'nr'" in model[0].notes_[0] and "'customer'" in model[0].notes_[0]
    worst = outlier_table(model, table).iloc[0]
    assert worst["row"] == 77 and worst["column"] == "log10(income)"
    assert model.predict(table)[77] == -1
    shuffled = table[table.columns[::-1]].assign(remark="new")
    np.testing.assert_array_equal(model.predict(shuffled), model.predict(table))
    with pytest.raises(ValueError, match="rate"):
        model.predict(table.drop(columns="rate"))


@pytest.mark.parametrize("kind", ["list", "integers", "float32", "Fortran", "view"])
def test_arrays_of_any_kind_are_read_alike(kind, pumps):
    """Numbers come as lists, as counts, in single precision, in any memory order."""
    X = (100 * pumps.healthy.to_numpy()).round()
    X[20, 3] += 3_000
    given = {
        "list": X.tolist(),
        "integers": X.astype(np.int32),
        "float32": X.astype(np.float32),
        "Fortran": np.asfortranarray(X),
        "view": np.repeat(X, 2, axis=1)[:, ::2],
    }[kind]
    plain, model = DSWL(2).fit(X), DSWL(2).fit(given)
    np.testing.assert_allclose(model.components_, plain.components_, atol=1e-4)
    scores = model.transform(given)
    np.testing.assert_allclose(scores, plain.transform(X), atol=0.5)  # of about 1000
    assert (model.predict(given) == plain.predict(X)).mean() > 0.99
    assert model.predict(given)[20] == -1


def test_odd_tables_get_a_sensible_answer_or_a_sentence(pumps):
    """Constant columns, repeated rows, three rows, one column: no warning, no NaN."""
    X = pumps.healthy.to_numpy()
    constant = DSWL(2).fit(np.column_stack([X, np.full(150, 7.0)]))
    np.testing.assert_allclose(constant.components_[:, -1], 0, atol=1e-9)
    assert constant.mean_[-1] == pytest.approx(7)
    np.testing.assert_allclose(
        constant.components_[:, :-1], DSWL(2).fit(X).components_, atol=1e-3
    )
    repeated = DSWL(2).fit(np.repeat(X, 4, axis=0))
    np.testing.assert_allclose(repeated.mean_, DSWL(2).fit(X).mean_, atol=0.2)
    for tiny in (X[:3], X[:6, :1], np.tile(X[0], (8, 1))):
        model = DSWL(1).fit(tiny)
        assert np.isfinite(model.transform(tiny)).all()
        assert set(model.predict(tiny)) <= {-1, 1}
    with pytest.raises(ValueError, match="n_components=7.*6 columns"):
        DSWL(7).fit(X)
    with pytest.raises(ValueError, match="1 sample|1 row"):
        DSWL(1).fit(X[:1])
    with pytest.raises(ValueError, match="inf"):
        DSWL(1).fit(np.where(X == X[4, 2], np.inf, X))
