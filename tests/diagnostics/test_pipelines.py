"""Pipelines in the place of methods: the same answers, in the units of the data."""

import dask.array as da
import numpy as np
import pandas as pd
import pytest
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from small_tables import holed

import trueaxis
from trueaxis import DSWL, ColumnScaler
from trueaxis.datasets import sensors
from trueaxis.diagnostics import (
    cell_map,
    cell_table,
    column_names,
    contributions,
    diagnose,
    effect,
    explain,
    outlier_table,
    reasons,
    score_plane,
    summary,
    trust_path,
)
from trueaxis.methods import METHODS

UNITS = np.array([1, 1, 1000, 1, 1e-3, 1])
ASK = [
    cell_map, contributions, diagnose, effect, reasons, score_plane, trust_path
]  # fmt: skip
TABLES = [outlier_table, cell_table, explain]


def frame():
    """The sensors in very different units, with an index that is not 0 to n - 1."""
    table = sensors()
    return pd.DataFrame(
        table.X * UNITS, columns=table.columns, index=np.arange(200) * 7 + 3
    )


@pytest.fixture(scope="module")
def pipeline():
    return make_pipeline(ColumnScaler(), DSWL(2, cells=True)).fit(frame())


def fields(answer):
    names = getattr(answer, "_fields", None) or {*vars(answer)}
    if hasattr(answer, "log_p"):
        names |= {"log_p"}
    return {name: getattr(answer, name) for name in names}


IN_UNITS = {"surplus", "shift"}


@pytest.mark.parametrize("ask", ASK)
def test_answers_are_those_of_the_method_for_scaled_rows(ask, pipeline):
    X = frame()
    answer = ask(pipeline, X)
    expected = ask(pipeline[1], pipeline[0].transform(X))
    assert type(answer) is type(expected)
    for name, there in fields(expected).items():
        here = fields(answer)[name]
        if name == "names":
            assert list(here) == list(X.columns)
        elif isinstance(there, np.ndarray) and name not in IN_UNITS:
            np.testing.assert_array_equal(here, there, err_msg=name)


def test_differences_are_in_the_units_of_the_data(pipeline):
    X = frame()
    scaler, method = pipeline
    change = effect(pipeline, X)
    center = scaler.inverse_transform(method.mean_[None])[0]
    np.testing.assert_allclose(change.shift, X.mean() - center, rtol=1e-9)
    found = diagnose(pipeline, X)
    explained = explain(pipeline, X, rows=np.arange(200))
    blamed = explained[
        explained.column == found.names[found.column][explained.position]
    ]
    surplus = (blamed.value - blamed.fitted).to_numpy()
    changed = np.asarray(cell_map(pipeline, X).wrong).any(axis=1)
    np.testing.assert_allclose(
        surplus[~changed], found.surplus[~changed], rtol=1e-6, atol=1e-9
    )


def test_values_are_those_of_the_data(pipeline):
    X = frame()
    cells = cell_table(pipeline, X)
    given = X.to_numpy()[cells.position, X.columns.get_indexer(cells.column)]
    np.testing.assert_allclose(cells.value, given, rtol=1e-12)
    repaired = pipeline[0].inverse_transform(
        pipeline[1].repair(pipeline[0].transform(X))
    )
    place = X.columns.get_indexer(cells.column)
    good = ~cells.outlier
    np.testing.assert_allclose(
        cells.fitted[good], repaired[cells.position, place][good], rtol=1e-12
    )
    explained = explain(pipeline, X)
    place = X.columns.get_indexer(explained.column)
    given = X.to_numpy()[explained.position, place]
    np.testing.assert_allclose(explained.value, given, rtol=1e-12)


def test_tables_have_the_labels_of_the_frame(pipeline):
    X = frame()
    for ask in TABLES:
        table = ask(pipeline, X)
        assert len(table) and list(table.row) == list(X.index[table.position])
    listed = outlier_table(pipeline, X)
    assert sorted(listed.position) == np.flatnonzero(pipeline.predict(X) < 0).tolist()


@pytest.mark.slow
@pytest.mark.parametrize("name", METHODS)
def test_every_method_may_stand_at_the_end(name):
    X = frame()
    pipeline = make_pipeline(ColumnScaler(), METHODS[name](2)).fit(X)
    table = outlier_table(pipeline, X)
    assert sorted(table.position) == np.flatnonzero(pipeline.predict(X) < 0).tolist()
    assert set(table.column) <= set(X.columns)
    assert "as ColumnScaler gave" in summary(pipeline, X) and len(
        explain(pipeline, X)
    ) == 6 * len(table)


def test_the_units_of_columns_do_not_matter():
    table = sensors()
    one, two = pd.DataFrame(table.X, columns=table.columns), frame()
    first, second = (make_pipeline(ColumnScaler(), DSWL(2)).fit(X) for X in (one, two))
    a, b = explain(first, one), explain(second, two)
    assert list(a.position) == list(b.position)
    units = np.tile(UNITS, len(a) // 6)
    np.testing.assert_allclose(a.value * units, b.value, rtol=1e-9)
    np.testing.assert_allclose(a.fitted * units, b.fitted, rtol=1e-6)
    np.testing.assert_allclose(a.deviation, b.deviation, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize(
    "steps",
    [
        [StandardScaler()],
        [StandardScaler(), PCA(4)],
        [FunctionTransformer(np.abs), ColumnScaler()],
        [StandardScaler().set_output(transform="pandas")],
    ],
    ids=lambda steps: "-".join(type(step).__name__ for step in steps),
)
def test_other_steps_may_come_before_the_method(steps):
    X = frame()
    pipeline = make_pipeline(*steps, DSWL(2)).fit(X)
    given = np.asarray(pipeline[:-1].transform(X))
    plain = DSWL(2).fit(given)
    found = outlier_table(pipeline, X)
    expected = outlier_table(plain, given)
    assert list(found.position) == list(expected.position)
    assert list(found.index) == list(X.index[expected.position])
    values = explain(pipeline, X).value.to_numpy().reshape(len(found), -1)
    np.testing.assert_array_equal(values, given[expected.position])
    names = column_names(pipeline)
    if "PCA" in str(steps):
        assert list(names) == ["pca0", "pca1", "pca2", "pca3"]
    elif isinstance(steps[0], StandardScaler):
        assert list(names) == list(X.columns)


def test_a_pipeline_of_one_step_is_its_method():
    X = frame()
    pipeline = make_pipeline(DSWL(2)).fit(X)
    pd.testing.assert_frame_equal(outlier_table(pipeline, X), pipeline[0].outliers(X))
    assert summary(pipeline) != "" and diagnose(pipeline, X).flagged.any()


@pytest.mark.parametrize("ask", [*ASK, *TABLES, lambda model, X: summary(model)])
def test_a_pipeline_that_is_not_fitted_says_so(ask):
    pipeline = make_pipeline(ColumnScaler(), DSWL(2))
    with pytest.raises(NotFittedError, match="This pipeline is not fitted.*DSWL.*fit"):
        ask(pipeline, frame())
    with pytest.raises(NotFittedError, match="DSWL"):
        ask(DSWL(2), frame())


def test_a_scaler_that_is_not_fitted_says_so():
    X = frame()
    pipeline = Pipeline([("scale", ColumnScaler()), ("fit", DSWL(2).fit(X))])
    with pytest.raises(NotFittedError, match="ColumnScaler"):
        diagnose(pipeline, X)


@pytest.mark.parametrize("model", [PCA(2), make_pipeline(ColumnScaler(), PCA(2)), None])
def test_other_models_are_refused(model):
    with pytest.raises(TypeError, match="is not a method of trueaxis"):
        diagnose(model, frame())


def test_wrong_columns_are_refused_by_the_first_step(pipeline):
    with pytest.raises(ValueError, match="feature names"):
        diagnose(pipeline, frame()[frame().columns[::-1]])


def test_loaded_pipelines_answer_the_same(pipeline, tmp_path):
    X = frame()
    trueaxis.save(pipeline, tmp_path / "model.npz")
    loaded = trueaxis.load(tmp_path / "model.npz")
    for ask in TABLES:
        pd.testing.assert_frame_equal(ask(loaded, X), ask(pipeline, X))
    assert summary(loaded, X) == summary(pipeline, X)


def test_holes_and_wrong_cells_pass_through_the_scaler():
    X = holed()
    pipeline = make_pipeline(ColumnScaler(), DSWL(2, cells=True)).fit(X)
    cells = cell_table(pipeline, X, missing=True)
    assert np.isnan(cells.value).sum() == X.isna().sum().sum()
    assert np.isfinite(cells.fitted).all()
    assert "missing" in summary(pipeline, X)


@pytest.mark.dask
def test_sources_of_rows_are_scaled_as_they_are_read(pipeline, tmp_path):
    X = frame().to_numpy()
    plain = make_pipeline(ColumnScaler(), DSWL(2, cells=True)).fit(X)
    np.save(tmp_path / "rows.npy", X)
    expected = [ask(plain, X) for ask in TABLES]
    for source in (tmp_path / "rows.npy", da.from_array(X, chunks=(70, 6))):
        for ask, table in zip(TABLES, expected, strict=True):
            pd.testing.assert_frame_equal(ask(plain, source), table, rtol=1e-8)
