"""DSWL on tables with missing cells and wrong cells."""

import dask.array as da
import numpy as np
import pandas as pd
import pytest
from estimator_data import angle

from trueaxis import DSWL, open_rows

N, D, K = 400, 12, 2


def clean(seed=0, n=N, wide=D):
    rng = np.random.default_rng(seed)
    P = np.linalg.qr(rng.normal(size=(wide, K)))[0].T
    scores = rng.normal(size=(n, K)) * [3.0, 2.0]
    return scores @ P + 0.3 * rng.normal(size=(n, wide)), P


def spoiled(seed=0, holes=0.1, wrong=0.0, bad_rows=0):
    X, P = clean(seed)
    rng = np.random.default_rng(seed + 1000)
    cells = rng.random(X.shape) < wrong
    X[:bad_rows] += 15.0
    cells[:bad_rows] = False
    X = np.where(cells, 6.0 * X.std(axis=0), X)
    missing = rng.random(X.shape) < holes
    X[missing] = np.nan
    return X, P, cells & ~missing


def answers(model, X):
    yield from (model.transform(X), model.predict(X), model.score_samples(X))
    yield from (model.p_values(X), *model.distances(X))
    yield from (
        model.repair(X, wrong=False),
        model.repair(X),
        model.decision_function(X),
    )


@pytest.mark.parametrize("cells", [False, True])
@pytest.mark.parametrize(
    "spoil",
    [
        lambda X: None,
        lambda X: X[5].fill(np.nan),  # a row without any cell
        lambda X: X[7, 1:].fill(np.nan),  # fewer cells than components
        lambda X: X[4:, 2].fill(np.nan),  # four values in a column
        lambda X: X[:, 3].fill(1.5),  # a constant column
        lambda X: X[9].fill(1e30),
    ],
    ids=["holes", "empty row", "one cell", "four values", "constant", "far row"],
)
def test_every_answer_is_a_number(cells, spoil):
    X, *_ = spoiled()
    spoil(X)
    model = DSWL(K, cells=cells).fit(X)
    for answer in answers(model, X):
        assert np.isfinite(answer).all()
    np.testing.assert_array_equal(model.predict(X) > 0, model.support_)
    assert len(model.outliers(X, everything=True)) == N


def test_a_column_without_values_is_refused():
    X, *_ = spoiled()
    X[:, 3] = np.nan
    with pytest.raises(ValueError, match=r"no value in the 400 rows.*column 3.*Drop"):
        DSWL(K).fit(X)
    frame = pd.DataFrame(X, columns=[f"c{i}" for i in range(D)])
    with pytest.raises(ValueError, match="such as column 'c3'"):
        DSWL(K).fit(frame)


def test_filled_cells_are_nearer_to_the_truth_than_the_column_means():
    X, *_ = spoiled(holes=0.2)
    truth, holes = clean()[0], np.isnan(X)
    filled = DSWL(K).fit(X).repair(X, wrong=False)
    rmse = np.sqrt(np.mean((filled - truth)[holes] ** 2))
    assert rmse < 0.45  # the noise is 0.3, the columns vary by about 1
    np.testing.assert_array_equal(filled[~holes], X[~holes])


def test_wrong_cells_are_found_and_rows_kept():
    X, P, wrong = spoiled(holes=0.1, wrong=0.1, bad_rows=40)
    model = DSWL(K, cells=True).fit(X)
    table = model.wrong_cells(X)
    found = np.zeros_like(wrong)
    found[table["row"], [int(name[1:]) for name in table["column"]]] = True
    good_rows = np.arange(N) >= 40
    assert found[wrong].mean() > 0.99
    assert found[good_rows][~wrong[good_rows]].mean() < 0.005
    assert angle(model, P) < 1.3 * angle(DSWL(K).fit(clean()[0][40:]), P) + 0.5
    # Rows with wrong cells are regular, and bad rows are not.
    assert model.support_[good_rows & wrong.any(axis=1)].mean() > 0.95
    assert not model.support_[:40].any()
    assert angle(DSWL(K).fit(X), P) > 20  # which rows cannot tell


def test_missing_cells_of_new_rows_after_a_fit_without_any():
    X, _ = clean()
    model = DSWL(K).fit(X)
    new = X[:50].copy()
    new[:, 1] = np.nan
    filled = model.repair(new, wrong=False)
    assert np.sqrt(np.mean((filled - X[:50])[:, 1] ** 2)) < 0.6
    assert (model.predict(new) > 0).mean() > 0.9
    with pytest.raises(
        ValueError, match=r"without looking for wrong cells.*cells=True"
    ):
        model.wrong_cells(new)
    assert len(model.wrong_cells(new, missing=True)) == 50


def test_outliers_keep_their_cells_and_good_rows_have_theirs_replaced():
    X, _, _ = spoiled(wrong=0.1, bad_rows=40)
    model = DSWL(K, cells=True).fit(X)
    changed = (model.repair(X) != X) & ~np.isnan(X)
    table = model.wrong_cells(X)
    assert not changed[~model.support_].any()
    listed = np.zeros_like(changed)
    listed[table["row"], [int(name[1:]) for name in table["column"]]] = True
    np.testing.assert_array_equal(changed, listed & model.support_[:, None])


def test_few_rows_cannot_say_which_cells_are_wrong():
    X, _ = clean(n=15)
    with pytest.warns(UserWarning, match=r"15 rows are too few .* at least 20"):
        model = DSWL(1, cells=True).fit(X)
    np.testing.assert_array_equal(model.repair(X), X)


@pytest.mark.slow
def test_rows_without_weight_do_not_count():
    X, *_ = spoiled(wrong=0.05)
    weight = np.r_[np.zeros(50), np.ones(N - 50)]
    other = X.copy()
    other[:50] = 1e5
    for cells in (False, True):
        one = DSWL(K, cells=cells).fit(X, sample_weight=weight)
        two = DSWL(K, cells=cells).fit(other, sample_weight=weight)
        three = DSWL(K, cells=cells).fit(X[50:])
        np.testing.assert_allclose(one.components_, two.components_, atol=1e-8)
        np.testing.assert_allclose(one.components_, three.components_, atol=1e-3)


def big(holes=0.1, wrong=0.1):
    X, P = clean(3, n=9000, wide=8)
    rng = np.random.default_rng(4)
    X[rng.random(X.shape) < wrong] = 8.0
    X[rng.random(X.shape) < holes] = np.nan
    return X, P


def assert_same_model(one, two):
    for name in ("components_", "mean_", "explained_variance_"):
        np.testing.assert_allclose(getattr(one, name), getattr(two, name), atol=1e-8)
    np.testing.assert_array_equal(np.asarray(one.support_), np.asarray(two.support_))


@pytest.mark.slow
@pytest.mark.parametrize("cells", [False, True])
def test_files_give_the_model_of_the_array(cells, tmp_path):
    X, _ = big()
    model = DSWL(K, cells=cells).fit(X)
    np.save(tmp_path / "x.npy", X)
    frame = pd.DataFrame(X, columns=[f"c{i}" for i in range(8)])
    frame.to_parquet(tmp_path / "x.parquet", row_group_size=2500)  # NaN become nulls
    for source in (
        np.load(tmp_path / "x.npy", mmap_mode="r"),
        tmp_path / "x.npy",
        tmp_path / "x.parquet",
    ):
        other = DSWL(K, cells=cells).fit(source)
        assert_same_model(model, other)
        np.testing.assert_array_equal(other.predict(source), model.predict(X))
    lazy = open_rows(tmp_path / "x.parquet")
    np.testing.assert_allclose(
        model.repair(lazy, wrong=False), model.repair(X, wrong=False), rtol=1e-10
    )
    found = [len(model.wrong_cells(rows, missing=True)) for rows in (lazy, X)]
    assert found[0] == found[1]


@pytest.mark.dask
@pytest.mark.parametrize("cells", [False, True])
def test_dask_gives_the_model_of_the_array(cells):
    X, _ = big()
    model = DSWL(K, cells=cells).fit(X)
    lazy = da.from_array(X, chunks=(2000, -1))
    other = DSWL(K, cells=cells).fit(lazy)
    assert_same_model(model, other)
    for one, two in zip(answers(model, X), answers(model, lazy), strict=True):
        np.testing.assert_allclose(one, np.asarray(two), rtol=1e-8)
    found = [len(model.wrong_cells(rows, missing=True)) for rows in (lazy, X)]
    assert found[0] == found[1]
