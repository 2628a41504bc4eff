"""How far axes turn by chance."""

import numpy as np
import pytest

from trueaxis import DSWL
from trueaxis.datasets import planted
from trueaxis.diagnostics.influence import largest_angle
from trueaxis.methods import PlainPCA
from trueaxis.report import resampling
from trueaxis.report.analysis import analyse
from trueaxis.report.resampling import plain_axes, thinned, turn_by_chance
from trueaxis.report.sentences import chance


@pytest.mark.parametrize("shape", [(60, 8), (12, 30)], ids=["tall", "wide"])
def test_a_resample_is_plain_pca_of_its_rows(shape):
    rng = np.random.default_rng(1)
    X = rng.standard_normal(shape) * np.linspace(3, 0.2, shape[1])
    counts = np.bincount(rng.integers(0, len(X), len(X)), minlength=len(X))
    drawn = np.repeat(X, counts, axis=0)
    expected = np.linalg.svd(drawn - drawn.mean(axis=0))[2][:2]
    assert largest_angle(plain_axes(X, counts, 2), expected) < 1e-5


def test_clean_rows_turn_plain_pca_no_farther_than_chance():
    X = planted("none", n=400, n_features=8, n_components=2).X
    found = analyse(PlainPCA(2).fit(X), X)
    assert 0 < found.chance.median < found.chance.high < 10
    assert found.plain.angle < found.chance.high
    spoilt = analyse(
        DSWL(3).fit(planted("ocs", share=0.2).X), planted("ocs", share=0.2).X
    )
    assert spoilt.plain.angle > 10 * spoilt.chance.high
    assert f"95 % below {spoilt.chance.high:.2g}" in chance(spoilt)


def test_more_rows_turn_less(monkeypatch):
    X = planted("none", n=8000, n_features=6, n_components=2).X
    basis = PlainPCA(2).fit(X).components_
    all_rows = turn_by_chance(X, basis)
    few = turn_by_chance(X[:500], PlainPCA(2).fit(X[:500]).components_)
    assert few.median / all_rows.median == pytest.approx(4, rel=0.35)
    # Large tables are thinned, and the angle is that of all rows all the same.
    monkeypatch.setattr(resampling, "MOST_WORK", 40 * 500 * 36)
    assert len(thinned(*X.shape)) == 500
    own = PlainPCA(2).fit(X[thinned(*X.shape)]).components_
    assert turn_by_chance(X, own).median == pytest.approx(all_rows.median, rel=0.35)


def test_huge_tables_are_thinned():
    for n, D in ((10**7, 10), (10**6, 300), (5000, 20_000)):
        m = len(thinned(n, D))
        work = resampling.RESAMPLES * m * D * min(m, D)
        assert 0.4 * resampling.MOST_WORK < work <= 1.05 * resampling.MOST_WORK
    assert (thinned(100, 5) == np.arange(100)).all()


def test_too_few_rows_say_nothing(pump):
    assert turn_by_chance(np.zeros((3, 4)), np.eye(2, 4)) is None
    bad = analyse(pump.model, pump.X[pump.flagged])
    assert bad.chance is None and chance(bad) == ""
    assert turn_by_chance(np.ones((9, 4)), np.eye(2, 4)) is not None
