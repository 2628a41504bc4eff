"""The fit of every method: data and weights it takes, what it warns of."""

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
import sklearn
from estimator_data import GOOD, OTHERS
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from trueaxis import DSWL
from trueaxis.data.transformed import IncompleteRows
from trueaxis.datasets import planted
from trueaxis.methods import (
    METHODS,
    RPCAOM,
    SPCP,
    PlainPCA,
    ReweightedPCA,
)


def with_cell(value):
    X = GOOD.copy()
    X[17, 3] = value
    return X


@pytest.mark.parametrize(
    ("X", "error", "message"),
    [
        (with_cell(np.inf), ValueError, "infinity in row 17, column 3"),
        (
            pd.DataFrame({"size": [1.0, 2, 3], "name": ["a", "b", "c"]}),
            ValueError,
            "text in column 'name': 'a' in row 0.*drop",
        ),
        ([["a", "b"], ["c", "d"]], ValueError, "text in column 0"),
        (GOOD[:, 0], ValueError, "(?s)Expected 2D array.*Reshape"),
        (np.empty((0, 4)), ValueError, "0 sample"),
        (np.empty((5, 0)), ValueError, "0 feature"),
        (GOOD[:1], ValueError, "minimum of 2"),
        (scipy.sparse.csr_array(GOOD), TypeError, "(?i)sparse.*toarray"),
        (GOOD + 1j, ValueError, "Complex"),
        ([[1.0, 2.0], [3.0]], ValueError, "rows differ in length"),
        (GOOD * 1e200, ValueError, r"differ by up to .*e\+20.*rescale"),
        (GOOD * 1e-200, ValueError, "differ by up to .*e-200.*rescale"),
        ((GOOD * 1e25).astype(np.float32), ValueError, "squares of float32.*rescale"),
        (
            pd.DataFrame(
                {"a": [1.0, 2, 3], "t": pd.date_range("2026-01-01", periods=3)}
            ),
            TypeError,
            "Column 't' of X has dates or times.*drop them",
        ),
    ],
)
def test_bad_data_are_refused_with_reason_and_remedy(X, error, message):
    with pytest.raises(error, match=message):
        DSWL(1).fit(X)


@pytest.mark.parametrize("name", OTHERS)
def test_methods_that_need_complete_rows_say_so(name):
    model, remedy = METHODS[name](1), "needed here: use DSWL.*repair"
    with pytest.raises(IncompleteRows, match=f"NaN in row 17, column 3.*{remedy}"):
        model.fit(with_cell(np.nan))
    with pytest.raises(IncompleteRows, match="masked array with .* masked cells"):
        model.fit(np.ma.masked_greater(GOOD, 1))
    with pytest.raises(IncompleteRows, match="NaN in row 17"):
        model.fit(GOOD).predict(with_cell(np.nan))


def test_values_whose_squares_overflow_are_refused():
    X = GOOD.copy()
    X[3, 1] = 1e200
    with pytest.raises(ValueError, match="overflow: row 3 of X has a value of 1e.200"):
        PlainPCA(2).fit(X)
    assert np.isfinite(PlainPCA(2).fit(X, sample_weight=np.arange(30) != 3).mean_).all()
    for model in (PlainPCA(2), DSWL(2)):
        with pytest.raises(ValueError, match="up to 1e.200|value of 1e.200"):
            model.fit(np.full((20, 4), 1e200))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["pca", "rpca-om", "pca-l1", "pcp", "l1-pca"])
def test_automatic_numbers_of_components(name):
    X = planted("scatter", n=150, n_features=8, n_components=3, share=0.1).X
    assert OTHERS[name]().fit(X).n_components_ == 3
    many, few = (OTHERS[name](share).fit(X).n_components_ for share in (0.99, 0.5))
    assert many > few
    assert OTHERS[name](None).fit(X).n_components_ == 8


@pytest.mark.slow
@pytest.mark.parametrize("name", ["rpca-om", "r1-pca", "drpca", "pca-l1", "rpca-di"])
def test_large_data_are_judged_by_a_sample(name):
    cloud = planted("scatter", n=9000, n_features=6, n_components=2, share=0.1)
    model = METHODS[name](2).fit(cloud.X)
    assert not model.support_[cloud.is_outlier].any()
    assert model.support_[~cloud.is_outlier].mean() > 0.95


def test_warnings_point_at_the_user():
    with pytest.warns(ConvergenceWarning) as caught:
        RPCAOM(3, max_iter=2).fit(planted("scatter", share=0.2).X)
    with pytest.warns(UserWarning) as also:
        SPCP(2, sigma=1e6).fit(GOOD)
    assert caught[0].filename == also[0].filename == __file__


@pytest.mark.slow
def test_sample_weight_is_routed(cloud):
    weights = np.where(cloud.is_outlier, 0.0, 1.0)
    with sklearn.config_context(enable_metadata_routing=True):
        pipeline = make_pipeline(
            StandardScaler().set_fit_request(sample_weight=False),
            DSWL(2).set_fit_request(sample_weight=True),
            KMeans(2, n_init=1, random_state=0).set_fit_request(sample_weight=False),
        )
        pipeline.fit(cloud.X, sample_weight=weights)
    assert (pipeline[1].weights_[cloud.is_outlier] == 0).all()


# ---------------------------------------------------------------- one fit for all

CLASSES = [*METHODS.values(), ReweightedPCA]


# ---------------------------------------------------------------- fits that fail


def state(model):
    return {name: pickle.dumps(value) for name, value in vars(model).items()}


@pytest.mark.parametrize("cls", CLASSES)
def test_a_first_fit_that_fails_leaves_an_unfitted_estimator(cls):
    model = cls(99)
    before = state(model)
    with pytest.raises(ValueError, match="n_components=99"):
        model.fit(pd.DataFrame(GOOD, columns=[*"abcd"]))
    assert state(model) == before
    with pytest.raises(NotFittedError):
        model.predict(GOOD)


@pytest.mark.parametrize("cls", CLASSES)
def test_a_fit_that_fails_later_leaves_the_earlier_fit(cls):
    model = cls(2).fit(pd.DataFrame(GOOD, columns=[*"abcd"]))
    before = state(model)
    other = pd.DataFrame(GOOD[:, :3], columns=[*"xyz"])
    bad = other.copy()
    bad.iloc[3, 1] = np.inf
    with pytest.raises(ValueError, match="infinity in row 3"):
        model.fit(bad)
    with pytest.raises(ValueError, match="n_components=4"):
        model.set_params(n_components=4).fit(other)
    assert state(model.set_params(n_components=2)) == before
    with pytest.raises(ValueError, match="feature names"):
        model.predict(other)


def test_a_warning_that_is_an_error_comes_after_a_complete_fit():
    X = planted("scatter", share=0.2).X
    model, same = RPCAOM(3, max_iter=2), RPCAOM(3, max_iter=2)
    with pytest.raises(ConvergenceWarning, match="Increase max_iter or tol"):
        model.fit(X)
    with pytest.warns(ConvergenceWarning):
        same.fit(X)
    assert state(model) == state(same)
    np.testing.assert_array_equal(model.predict(X), same.predict(X))
