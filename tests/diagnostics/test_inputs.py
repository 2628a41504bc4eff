"""What diagnostics take: pipelines, frames, files and missing cells; labels of rows."""

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from small_tables import holed

from trueaxis import DSWL, ColumnScaler
from trueaxis.data.dask import DaskRows
from trueaxis.datasets import planted, sensors
from trueaxis.diagnostics import (
    cell_map,
    cell_table,
    column_names,
    diagnose,
    effect,
    explain,
    outlier_table,
    summary,
)
from trueaxis.diagnostics.influence import principal_angles
from trueaxis.diagnostics.tables import check_positions
from trueaxis.methods import PlainPCA

UNITS = np.array([1, 1, 1000, 1, 1e-3, 1])
ASK = [cell_map, diagnose, effect]
TABLES = [outlier_table, cell_table, explain]


def frame():
    """The sensors in very different units, with an index that is not 0 to n - 1."""
    table = sensors()
    return pd.DataFrame(
        table.X * UNITS, columns=table.columns, index=np.arange(200) * 7 + 3
    )


def fields(answer):
    names = getattr(answer, "_fields", None) or vars(answer)
    return {name: getattr(answer, name) for name in names}


def assert_same(answer, expected, rtol=0.0, skip=()):
    """Compare all arrays of two answers."""
    assert type(answer) is type(expected)
    for name, there in fields(expected).items():
        here = getattr(answer, name)
        if not isinstance(there, np.ndarray) or name in skip:
            continue
        if there.dtype.kind == "f" and rtol:
            rounding = rtol * np.abs(np.nan_to_num(there)).max()
            np.testing.assert_allclose(here, there, rtol=10 * rtol, atol=rounding)
        else:
            np.testing.assert_array_equal(here, there, err_msg=name)


# ---------------------------------------------------------------- pipelines


@pytest.fixture(scope="module")
def pipeline():
    return make_pipeline(ColumnScaler(), DSWL(2, cells=True)).fit(frame())


def test_values_and_differences_are_in_the_units_of_the_data(pipeline):
    X = frame()
    scaler, method = pipeline
    change = effect(pipeline, X)
    center = scaler.inverse_transform(method.mean_[None])[0]
    np.testing.assert_allclose(change.shift, X.mean() - center, rtol=1e-9)
    explained = explain(pipeline, X, rows=np.arange(200))
    np.testing.assert_allclose(explained.value, X.to_numpy().ravel(), rtol=1e-12)
    found = diagnose(pipeline, X)
    blamed = explained[
        explained.column == found.names[found.column][explained.position]
    ]
    same = ~np.asarray(cell_map(pipeline, X).wrong).any(axis=1)
    fitted = blamed.fitted.to_numpy()
    np.testing.assert_allclose(fitted[same], found.fitted[same], rtol=1e-6)
    cells = cell_table(pipeline, X)
    expected = [
        X.loc[row, column] for row, column in zip(cells.row, cells.column, strict=True)
    ]
    np.testing.assert_allclose(cells.value, expected, rtol=1e-12)


@pytest.mark.parametrize(
    "steps",
    [
        [],
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
    given = np.asarray(pipeline[:-1].transform(X) if steps else X)
    expected = outlier_table(DSWL(2).fit(given), given)
    found = outlier_table(pipeline, X)
    assert list(found.position) == list(expected.position)
    assert list(found.index) == list(X.index[expected.position])
    values = explain(pipeline, X).value.to_numpy().reshape(len(found), -1)
    np.testing.assert_array_equal(values, given[expected.position])
    names = column_names(pipeline)
    if "PCA" in str(steps):
        assert list(names) == ["pca0", "pca1", "pca2", "pca3"]
    elif "Function" not in str(steps):
        assert list(names) == list(X.columns)


def test_models_that_cannot_answer_say_why(pipeline):
    X = frame()
    for ask in (*ASK, *TABLES, lambda model, X: summary(model)):
        with pytest.raises(NotFittedError, match="This pipeline is not fitted.*DSWL"):
            ask(make_pipeline(ColumnScaler(), DSWL(2)), X)
        with pytest.raises(NotFittedError, match="DSWL"):
            ask(DSWL(2), X)
    half = Pipeline([("scale", ColumnScaler()), ("fit", DSWL(2).fit(X))])
    with pytest.raises(NotFittedError, match="ColumnScaler"):
        diagnose(half, X)
    for model in (PCA(2), make_pipeline(ColumnScaler(), PCA(2)), None):
        with pytest.raises(TypeError, match="is not a method of trueaxis"):
            diagnose(model, X)
    with pytest.raises(ValueError, match="feature names"):
        diagnose(pipeline, X[X.columns[::-1]])
    with pytest.raises(TypeError, match="PlainPCA judges no cells"):
        cell_table(PlainPCA(2).fit(X), X)


# ---------------------------------------------------------------- labels and positions

PLAIN = pd.DataFrame(sensors().X, columns=sensors().columns)
MODEL = DSWL(2).fit(PLAIN)
N = len(PLAIN)
INDEXES = {
    "numbers that are not positions": np.arange(N)[::-1] * 3,
    "duplicates": np.arange(N) // 2,
    "text": [f"day {i}" for i in range(N)],
    "zones": pd.date_range("2024-01-01", periods=N, tz="Europe/Rome", name="when"),
    "categories": pd.CategoricalIndex(["a", "b"] * (N // 2)),
    "levels": pd.MultiIndex.from_product(
        [range(N // 4), [*"abcd"]], names=["site", "pump"]
    ),
}


@pytest.mark.parametrize("name", INDEXES)
def test_the_index_of_the_frame_is_the_index_of_the_table(name):
    X = PLAIN.set_axis(INDEXES[name], axis=0)
    table = MODEL.outliers(X)
    positions = MODEL.outliers(PLAIN).row
    assert list(table.position) == list(positions)
    assert list(table.row) == list(X.index[positions])
    pd.testing.assert_index_equal(table.index, X.index[positions])
    if X.index.is_unique:
        pd.testing.assert_frame_equal(X.loc[table.index], X.iloc[table.position])


def test_positions_are_checked():
    assert check_positions([0, -1, 5], 6).tolist() == [0, 5, 5]
    for labels in (["day 3"], [1.0], [True, False], 3, [[1]], [(1, "a")]):
        with pytest.raises(TypeError, match="not positions of rows.*get_loc"):
            check_positions(labels, 6)
    with pytest.raises(ValueError, match="Row 6 does not exist, as X has 6 rows"):
        check_positions([1, 6], 6)
    with pytest.raises(ValueError, match="rows is empty"):
        check_positions([], 6)


# ---------------------------------------------------------------- holes and wrong cells


@pytest.fixture(scope="module", params=[True, False], ids=["cells", "holes"])
def model(request):
    return DSWL(2, cells=request.param).fit(holed())


def test_plain_pca_gets_missing_cells_filled_and_wrong_cells_as_they_are(model):
    X = holed()
    plain = PlainPCA(2).fit(model.repair(X, wrong=False))
    change = effect(model, X)
    expected = principal_angles(model.components_, plain.components_)
    np.testing.assert_allclose(change.angles, expected, atol=1e-6)
    np.testing.assert_allclose(change.shift, plain.mean_ - model.mean_, atol=1e-9)
    np.testing.assert_allclose(change.plain_variance, plain.explained_variance_)
    assert np.isclose([change.tilt_share.sum(), change.shift_share.sum()], 1.0).all()


def test_columns_to_correct_are_cells_that_are_there(model):
    X = holed()
    found, repaired = diagnose(model, X), model.repair(X)
    kept = X.to_numpy() == repaired
    assert kept[np.arange(len(X)), found.column].all()
    empty = diagnose(model, X.iloc[:1] * np.nan)
    assert empty.kind[0] == "regular" and empty.share[0] == 0.0
    assert np.isnan(empty.value[0])
    table = outlier_table(model, X, everything=True)
    assert table["share"].between(0, 1).all() and len(table) == len(X)


# ---------------------------------------------------------------- files and Dask


def test_files_are_diagnosed_like_arrays(model, tmp_path):
    X, path = holed(), tmp_path / "pumps.npy"
    np.save(path, X.to_numpy())
    for ask in (diagnose, effect, cell_map):
        assert_same(ask(model, path), ask(model, X), rtol=1e-7)


CLOUD = planted("ocs", n=9_000, share=0.2).X


@pytest.mark.dask
@pytest.mark.parametrize("chunks", [777, (10, 0, 4_990, 4_000)])
@pytest.mark.parametrize("ask", [diagnose, effect])
def test_blocks_of_dask_arrays_stay_with_the_workers(monkeypatch, ask, chunks):
    def fetched(rows):
        raise AssertionError("A block was fetched.")

    model = DSWL(3).fit(CLOUD)
    monkeypatch.setattr(DaskRows, "blocks", fetched)
    lazy = da.from_array(CLOUD, chunks=(chunks, CLOUD.shape[1]))
    with dask.config.set(scheduler="synchronous"):
        assert_same(ask(model, lazy), ask(model, CLOUD), rtol=1e-10)


@pytest.mark.dask
def test_dask_frames_have_labels_and_are_scaled_as_they_are_read(pipeline):
    X = PLAIN.set_axis(INDEXES["numbers that are not positions"], axis=0).sort_index()
    table, expected = (
        MODEL.outliers(dd.from_pandas(X, npartitions=3)),
        MODEL.outliers(X),
    )
    assert list(table.index) == list(table.row) == list(expected.index)
    assert list(table.position) == list(expected.position)
    X = frame().to_numpy()
    plain = make_pipeline(ColumnScaler(), DSWL(2, cells=True)).fit(X)
    lazy = da.from_array(X, chunks=(70, 6))
    for ask in TABLES:
        pd.testing.assert_frame_equal(ask(plain, lazy), ask(plain, X), rtol=1e-8)
