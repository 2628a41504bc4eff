"""Properties of all methods: attributes, equivariance, degenerate data, docstrings."""

import inspect
import pickle
import warnings

import numpy as np
import pytest
from estimator_data import EVERY, OTHERS, angle
from nasty import nasty
from scipy.linalg import subspace_angles
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from streamed import Streamed

import trueaxis
import trueaxis.methods as tm
from trueaxis.core.rules import PowerRule
from trueaxis.data.rows import ArrayRows
from trueaxis.datasets import planted
from trueaxis.methods import METHODS


def gentle(v, e, d):
    return np.exp(-e / (e.mean() + 1e-300))


# The same methods with other choices than their defaults.
VARIANTS = [
    tm.R1PCA(2, loss="cauchy"),
    tm.R1PCA(2, loss="l21", center="median"),
    tm.L2pPCA(2, p=0.5, n_init=3),
    tm.L2pPCA(2, p=1.5, solver="power"),
    tm.RPCADI(2, membership="root", tau=0.5),
    tm.AnglePCA(2, variant="circulated"),
    tm.RWLAN(2, gamma="frozen"),
    tm.TRPCA(2, q=0.8, n_init=3),
    tm.RPCARP(2, center="median"),
    tm.RSPCA(1, q=0.6, sigma=1.0),
    tm.PCAL1NonGreedy(2, init="random", n_init=3),
    tm.PCALp(2, p=1.5, greedy=False),
    tm.PCP(2, balance=np.inf),
    tm.SPCP(2, center="median"),
    tm.ReweightedPCA(2, rule=PowerRule(1.5), center="mean"),
    tm.ReweightedPCA(1, rule=gentle),
]


@pytest.mark.parametrize("model", VARIANTS, ids=range(len(VARIANTS)))
def test_other_choices_fit_and_keep_to_the_contract(model):
    X = planted("scatter", n=120, n_features=6, n_components=2, share=0.1).X
    check_contract(clone(model).fit(X), X)


@pytest.mark.slow
@EVERY
def test_contract(name):
    X = planted("scatter", n=120, n_features=6, n_components=2, share=0.1).X
    model = METHODS[name](2).fit(X)
    check_contract(model, X)
    thawed = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(thawed.transform(X), model.transform(X))
    np.testing.assert_array_equal(
        clone(model).fit(X).components_, model.components_, err_msg="not repeatable"
    )


def check_contract(model, X):
    n, k = len(X), model.n_components_
    np.testing.assert_allclose(
        model.components_ @ model.components_.T, np.eye(k), atol=1e-9
    )
    largest = np.abs(model.components_).argmax(axis=1)
    assert (model.components_[np.arange(k), largest] > 0).all()
    assert (model.explained_variance_ >= 0).all()
    assert (model.explained_variance_ratio_ <= 1 + 1e-9).all()
    assert model.n_iter_ == len(model.history_["objective"]) >= 1
    assert isinstance(model.converged_, bool)
    assert {"objective", "change", "effective"} <= set(model.history_)
    assert model.support_.shape == (n,) and model.support_.sum() > n / 2
    assert model.transform(X).shape == (n, k)
    residual = X - model.inverse_transform(model.transform(X))
    np.testing.assert_allclose(
        np.linalg.norm(residual, axis=1), model.distances(X).orthogonal, atol=1e-8
    )
    assert set(model.predict(X)) <= {1, -1}
    if hasattr(model, "weights_"):
        assert (model.weights_ >= 0).all()
        assert model.weights_.sum() == pytest.approx(1)


@pytest.mark.parametrize(
    "name", ["rpca-om", "rwl-an", "t-rpca", "drpca", "rspca", "two-way", "pca"]
)
def test_a_learned_center_is_the_weighted_mean(name):
    X = planted("scatter", n=120, n_features=6, share=0.1).X
    model = METHODS[name](2).fit(X)
    np.testing.assert_allclose(model.mean_, model.weights_ @ X, atol=1e-8)


@pytest.mark.slow
@EVERY
def test_clean_rows_are_not_flagged(name):
    X = planted("none", n=400, n_features=8, n_components=2).X
    assert (METHODS[name](2).fit(X).predict(X) == 1).mean() > 0.95


@pytest.mark.slow
@EVERY
def test_gross_errors_are_flagged_for_new_rows_too(name):
    cloud = planted("scatter", n=300, n_features=8, n_components=2, share=0.05)
    model = METHODS[name](2).fit(cloud.X)
    new = planted("scatter", n=300, n_features=8, n_components=2, share=0.5)
    verdict = model.predict(new.X) == -1
    assert verdict[new.is_outlier].mean() > 0.9
    assert model.score_samples(new.X)[new.is_outlier].mean() < -1


@pytest.mark.slow
@EVERY
def test_fewer_rows_than_columns(name):
    cloud = planted("none", n=30, n_features=60, n_components=2)
    model = METHODS[name](2).fit(cloud.X)
    plain = tm.PlainPCA(2).fit(cloud.X)
    assert model.components_.shape == (2, 60)
    explained = [one.transform(cloud.X).var(axis=0).sum() for one in (model, plain)]
    assert explained[0] > 0.85 * explained[1]


# ---------------------------------------------------------------- equivariance


# Those that look at single cells, or do not center.
NOT_TURNED = {"l1-pca", "rspca", "two-way", "pcp", "spcp", "rrpcp"}


NOT_SHIFTED = {"pcp", "spcp", "rrpcp"}


QUICK = {"tol": 1e-8, "max_iter": 2000}


def tight(name, k=2):
    options = QUICK if "tol" in inspect.signature(METHODS[name]).parameters else {}
    return METHODS[name](k, **options)


def alike(one, two, unit=1.0, turn=None, shift=0.0, order=None):
    """Whether two is the model of the data of one, changed like that."""
    components = two.components_ if turn is None else two.components_ @ turn.T
    angles = subspace_angles(one.components_.T, components.T)
    assert np.degrees(angles[0]) < 1e-3
    mean = one.mean_ if turn is None else one.mean_ @ turn
    np.testing.assert_allclose(two.mean_, unit * mean + shift, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(
        two.explained_variance_, unit**2 * one.explained_variance_, rtol=1e-3
    )
    np.testing.assert_allclose(two.noise_variance_, unit**2 * one.noise_variance_, 1e-3)
    order = np.arange(len(one.support_)) if order is None else order
    np.testing.assert_array_equal(two.support_, one.support_[order])
    np.testing.assert_allclose(two.cutoffs_.score, one.cutoffs_.score, rtol=1e-3)
    if hasattr(one, "weights_"):
        np.testing.assert_allclose(two.weights_, one.weights_[order], atol=1e-4)


@pytest.mark.slow
@EVERY
@pytest.mark.parametrize("seed", range(3))
def test_equivariance(name, seed):
    rng = np.random.default_rng(seed)
    X = planted("scatter", n=60, n_features=5, n_components=2, random_state=seed).X
    model = tight(name).fit(X)
    order = rng.permutation(60)
    alike(model, tight(name).fit(X[order]), order=order)
    for unit in (1e-6, 1e6):
        alike(model, tight(name).fit(X * unit), unit=unit)
    if name not in NOT_SHIFTED:
        alike(model, tight(name).fit(X + 1e5), shift=1e5)
    if name not in NOT_TURNED:
        R = np.linalg.qr(rng.standard_normal((5, 5)))[0]
        alike(model, tight(name).fit(X @ R), turn=R)


# ---------------------------------------------------------------- weights and sources


COUNTED = [name for name, cls in METHODS.items() if not hasattr(cls, "lam")]


@pytest.mark.slow
@pytest.mark.parametrize("name", COUNTED)
def test_a_streamed_source_gives_the_same_answer(name):
    X = planted("scatter", n=700, n_features=6, n_components=2, share=0.1).X
    counts = 1.0 + (np.arange(700) % 3 == 0)
    options = {"p": 1.5} if name == "pca-lp" else {}  # below 1 rounding may decide
    one = METHODS[name](2, **options).fit(ArrayRows(X), sample_weight=counts)
    two = METHODS[name](2, **options).fit(Streamed(X), sample_weight=counts)
    np.testing.assert_allclose(one.components_, two.components_, atol=1e-8)
    np.testing.assert_allclose(one.mean_, two.mean_, atol=1e-8)
    np.testing.assert_array_equal(one.support_, two.support_)
    if hasattr(one, "weights_"):
        np.testing.assert_allclose(one.weights_, two.weights_, atol=1e-8)


@pytest.mark.slow
@EVERY
def test_sample_weights_that_are_all_alike_change_nothing(name):
    if "sample_weight" not in inspect.signature(METHODS[name].fit).parameters:
        return
    X = planted("both", n=90, n_features=6, n_components=2, share=0.1).X
    plain = METHODS[name](2).fit(X)
    for weight in (0.37, 1e300):
        weighted = METHODS[name](2).fit(X, sample_weight=np.full(90, weight))
        assert angle(plain, weighted) < 1e-5
        np.testing.assert_allclose(plain.mean_, weighted.mean_, rtol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("name", COUNTED)
@pytest.mark.parametrize("value", [1e6, 1e200, -1e300])
def test_rows_without_weight_leave_no_trace(name, value):
    X = planted("scatter", n=60, n_features=6, n_components=2, share=0.1).X
    more = np.insert(X, 20, value, axis=0)
    weight = np.insert(np.ones(60), 20, 0.0)
    one = METHODS[name](2).fit(X)
    two = METHODS[name](2).fit(more, sample_weight=weight)
    assert angle(one, two) < 1e-5
    np.testing.assert_allclose(one.mean_, two.mean_, rtol=1e-6)
    np.testing.assert_array_equal(np.delete(two.support_, 20), one.support_)
    assert not two.support_[20]
    if hasattr(two, "weights_"):
        np.testing.assert_allclose(np.delete(two.weights_, 20), one.weights_, rtol=1e-4)
        assert two.weights_[20] == 0


# ---------------------------------------------------------------- degenerate data


CASES = list(nasty())


@pytest.mark.slow
@EVERY
@pytest.mark.parametrize("case", CASES, ids=[case[0] for case in CASES])
def test_degenerate_data_give_finite_answers(name, case):
    what, X, k = case
    absurd = "1e100" in what  # all digits of the other rows are lost
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.filterwarnings("ignore", message=".*only .* rows carry weight")
        if absurd and name == "l1-pca":
            warnings.filterwarnings("ignore", message="The linear programs")
        try:
            model = METHODS[name](k).fit(X)
        except ValueError as error:
            # Sums of squares of such rows cannot be had; only robust starts avoid them.
            assert "1e300" in what and "overflow" in str(error)
            return
    for attribute in (
        "components_", "mean_", "explained_variance_", "explained_variance_ratio_",
        "noise_variance_", "cutoffs_",
    ):  # fmt: skip
        assert np.isfinite(getattr(model, attribute)).all(), attribute
    np.testing.assert_allclose(
        model.components_ @ model.components_.T, np.eye(k), atol=1e-9
    )
    assert not np.isnan(model.score_samples(X)).any()
    assert set(model.predict(X)) <= {1, -1}
    assert absurd or model.support_.sum() >= len(X) / 2 - 1


# ---------------------------------------------------------------- documentation


def test_the_names_are_those_of_the_paper():
    assert list(METHODS) == [
        "pca", "dswl", "pca-l1", "pca-l1-nongreedy", "pca-lp", "r1-pca", "l2p-pca",
        "rpca-om", "rpca-di", "angle-pca", "l21-max", "l1-pca", "weighted-pca",
        "rwl-an", "t-rpca", "drpca", "rpca-rp", "rspca", "two-way", "pcp", "spcp",
        "rrpcp",
    ]  # fmt: skip
    for cls in METHODS.values():
        assert getattr(tm, cls.__name__) is cls


@pytest.mark.parametrize("cls", [*OTHERS.values(), tm.ReweightedPCA])
def test_docstrings_tell_what_a_user_must_know(cls):
    text = " ".join(inspect.getdoc(cls).split())
    for name in inspect.signature(cls).parameters:
        assert name in text.split("Parameters")[1].split("Examples")[0], name
    assert ">>>" in text
    monotone = ("every iteration", "closed form", "not monotone")
    assert any(words in text for words in monotone)
    if cls is not tm.ReweightedPCA:
        assert any(word in text for word in ("inimizes", "aximizes", "Keeps"))
        confidence = text.split("Confidence:")[1]
        assert any(word in confidence for word in ("as published", "econstr", "ours"))
        assert "References" in text or cls is tm.TwoWayPCA


HUGE = [1e300, np.finfo(float).max, -1.7e308, np.float32(3e38)]


def with_huge_cell(cell, n, D):
    X = planted("none", n=n, n_features=D, n_components=2).X
    X = X.astype(np.float32 if isinstance(cell, np.float32) else float)
    X[3, 1] = cell
    return X


@pytest.mark.parametrize("name", METHODS)
def test_huge_cells_are_refused_with_their_value_by_all_but_one_method(name):
    for shape in ((60, 6), (20, 40)):
        for cell in HUGE:
            if name == "dswl":
                continue
            X, model = with_huge_cell(cell, *shape), METHODS[name](2)
            with pytest.raises(
                ValueError, match=f"row 3 .* {abs(cell):.2g}".replace("+", ".")
            ):
                model.fit(X)
            assert not hasattr(model, "n_features_in_")


@pytest.mark.parametrize("shape", [(60, 6), (20, 40)])
@pytest.mark.parametrize("cell", HUGE)
@pytest.mark.parametrize(
    ("k", "weighted"), [(2, False), (2, True), ("auto", False), (0.9, True)]
)
def test_dswl_flags_rows_with_huge_cells(cell, k, shape, weighted):
    X = with_huge_cell(cell, *shape)
    weights = np.linspace(0.5, 2, len(X)) if weighted else None
    model = trueaxis.DSWL(k).fit(X, sample_weight=weights)
    assert not model.support_[3]
    assert model.predict(X)[3] == -1
    assert model.score_samples(X)[3] < -1e6
    assert np.isinf(model.distances(X).orthogonal[3])
    others = np.delete(X, 3, axis=0)
    alone = trueaxis.DSWL(model.n_components_).fit(
        others, sample_weight=None if weights is None else np.delete(weights, 3)
    )
    assert angle(model.components_, alone.components_) < 10
    assert np.isfinite(model.transform(X)).all()
    for shown in (model.outliers(X), model.explain(X), model.summary()):
        assert "nan" not in str(shown).lower()


@pytest.mark.parametrize("name", METHODS)
def test_new_rows_that_overflow_are_infinitely_far_away(name):
    X = planted("none", n=60, n_features=6, n_components=2).X
    model = METHODS[name](2).fit(X * 1e100)
    # Sums of products with both signs are inf - inf; 1e100 is infinite in float32.
    signs = np.resize([1.0, -1.0], 6)
    for rows in (signs * [[1.7e308], [-1.7e308]], X[:2].astype(np.float32)):
        assert (model.predict(rows) == -1).all()
        assert (model.p_values(rows) == 0).all()
        assert (model.score_samples(rows) < -1e6).all()
        score, orthogonal = model.distances(rows)
        assert not np.isnan([score, orthogonal]).any()
