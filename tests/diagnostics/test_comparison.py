"""Several methods on the same rows."""

import numpy as np
import pytest
from small_tables import cloud

from trueaxis import DSWL
from trueaxis.diagnostics import compare
from trueaxis.diagnostics.comparison import COSTLY, suitable
from trueaxis.methods import METHODS


def test_the_first_method_is_the_reference():
    X = cloud(share=0.2).X
    first, second = compare(X, ["pca", "dswl"], n_components=2)
    assert [first.method, second.method] == ["pca", "dswl"]
    assert first.angle < 1e-5 and first.center == 0
    assert second.angle > 1
    assert second.center == pytest.approx(
        np.linalg.norm(second.model.mean_ - X.mean(axis=0))
    )
    assert first.converged is True and first.seconds >= 0
    one, other = (each.model.predict(X) < 0 for each in (first, second))
    assert (first.outliers, second.outliers) == (one.sum(), other.sum())
    assert second.shared == (one & other).sum() > 0
    assert set(first.to_dict()) == set(vars(first)) - {"model"}


@pytest.mark.slow
def test_all_methods_that_are_fast_enough_are_compared():
    X = cloud(40).X
    assert suitable(*X.shape) == list(METHODS)
    slow = {name for _, _, names in COSTLY for name in names}
    assert set(METHODS) - set(suitable(10**4, 10**4)) == slow < set(METHODS)
    results = compare(X, n_components=2)
    assert [result.method for result in results] == [
        "dswl",
        *(name for name in METHODS if name != "dswl"),
    ]


def test_all_rows_are_judged_by_fits_to_some():
    X = cloud(400, share=0.1).X
    X[::7, 2] = np.nan
    one, other = (
        compare(X, ["dswl", "pca"], n_components=2, max_rows=100) for _ in range(2)
    )
    for result, again in zip(one, other, strict=True):
        assert result.outliers == again.outliers and result.angle == again.angle
    dswl, pca = one
    assert dswl.model.n_samples_ == pca.model.n_samples_ == 100
    assert dswl.outliers == (dswl.model.predict(X) < 0).sum() >= 40
    assert (
        pca.outliers == (pca.model.predict(dswl.model.repair(X, wrong=False)) < 0).sum()
    )
    line = {"contamination": 0.3, "max_rows": None}
    (whole,) = compare(X, ["dswl"], n_components=2, **line)
    assert whole.outliers == (~DSWL(2, contamination=0.3).fit(X).support_).sum()
    for most, error in ((1, ValueError), (2.5, TypeError)):
        with pytest.raises(error, match=f"max_rows={most}"):
            compare(X, max_rows=most)


def test_methods_that_refuse_the_rows_say_why():
    X = np.vstack([cloud(share=0.1).X, np.full((1, 6), 1e300)])
    dswl, pca = compare(X, ["dswl", "pca"], n_components=2)
    assert dswl.model is not None and dswl.problem == ""
    assert pca.model is None and pca.converged is None
    assert "overflow" in pca.problem
    assert pca.seconds is pca.outliers is pca.shared is pca.angle is pca.center is None
    with pytest.raises(ValueError, match="overflow"):
        compare(X, ["pca", "dswl"], n_components=2)


def test_unknown_methods_are_refused():
    X = cloud().X
    with pytest.raises(
        ValueError, match=r"unknown names \['pcb'\]: choose from .*dswl"
    ):
        compare(X, ["dswl", "pcb"])
    with pytest.raises(ValueError, match=r"methods=\[\] is empty: choose from"):
        compare(X, [])
