"""Folds and measures of the UCI study, and the study as a whole."""

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier

from studies.data import UCI
from studies.methods import NAMES
from studies.study import run
from studies.uci.printed import KS
from studies.uci.study import ORACLE, FoldData, UciStudy, folds


def test_folds_part_the_rows_and_every_class():
    y = np.repeat(["a", "b", "c", "d"], [50, 43, 7, 2])
    found = folds(y, 10, 3)
    assert sorted(np.concatenate(found)) == list(range(len(y)))
    sizes = [len(test) for test in found]
    assert max(sizes) - min(sizes) <= 1
    for name in np.unique(y):
        counts = [(y[test] == name).sum() for test in found]
        assert max(counts) - min(counts) <= 1
    assert any((a != b).any() for a, b in zip(found, folds(y, 10, 4), strict=True))


def some_rows(seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, 60)
    return rng.normal(size=(60, 5)) * [1, 2, 3, 4, 5] + y[:, None], y


def test_fits_never_see_test_rows():
    X, y = some_rows()
    test = folds(y, 5, 0)[0]
    split = FoldData.make(X, y, test, 0)
    other = X.copy()
    other[test] = 1e6
    again = FoldData.make(other, y, test, 0)
    assert (split.train == again.train).all()
    np.testing.assert_allclose(split.clean_train.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(split.clean_train.std(axis=0), 1)
    hit = (split.train != split.clean_train).any(axis=1)
    hit_test = (split.test != split.clean_test).any(axis=1)
    assert hit.sum() + hit_test.sum() == 15


def test_measures_agree_with_other_routes():
    X, y = some_rows(1)
    split = FoldData.make(X, y, folds(y, 5, 0)[0], 0)
    truth = split.principal(2)
    mean = split.clean_train.mean(axis=0)
    same = split.measure(mean, truth[::-1], truth)
    assert same["angle"] == pytest.approx(0, abs=1e-5)
    assert same["lost"] == pytest.approx(0, abs=1e-9)
    assert same["mean_error"] == 0
    axes = np.linalg.qr(np.random.default_rng(0).normal(size=(5, 2)))[0].T
    found = split.measure(mean + [3, 4, 0, 0, 0], axes, truth)
    least = np.linalg.svd(axes @ truth.T, compute_uv=False).min()
    assert found["angle"] == pytest.approx(np.degrees(np.arccos(least)))
    assert found["mean_error"] == pytest.approx(5)
    kept = [np.trace(P @ np.cov(split.clean_train.T) @ P.T) for P in (axes, truth)]
    assert found["lost"] == pytest.approx(100 * (1 - kept[0] / kept[1]))
    judge = KNeighborsClassifier(1).fit(split.train @ axes.T, split.y_train)
    for measure, rows in (
        ("accuracy", split.test),
        ("accuracy_training_only", split.clean_test),
    ):
        expected = 100 * judge.score(rows @ axes.T, split.y_test)
        assert found[measure] == pytest.approx(expected)


def test_missing_sets_are_left_out_and_named(tmp_path, monkeypatch):
    monkeypatch.delenv("TRUEAXIS_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    study = UciStudy.prepare(download=False)
    assert study.sets == ("breast_cancer", "wine")
    assert set(study.missing) == set(UCI) - set(study.sets)
    assert len(study.tasks()) == 2 * study.n_seeds


@pytest.mark.slow
def test_uci_study_from_end_to_end(tmp_path, monkeypatch):
    monkeypatch.delenv("TRUEAXIS_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    study = UciStudy.prepare(quick=True)
    results = run(study, tmp_path)
    assert len(results.rows) == 2 * 3 * len(KS) * (len(NAMES) + 1)
    for row in results.where(method=ORACLE):
        assert row["angle"] < 1e-4 and abs(row["lost"]) < 1e-9
    accuracy = np.array([row["accuracy"] for row in results.where(set="wine")])
    assert 40 < accuracy.mean() < 100
    text = study.section(results)
    assert "Breast Cancer" in text and "nan" not in text
    figures = study.figures(results, tmp_path)
    assert [path.stem for path in figures] == ["uci-ranks", "uci-sets"]
    assert (tmp_path / "uci.csv").read_text().count("\n") == len(results.rows) + 1
