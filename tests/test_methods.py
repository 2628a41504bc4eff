"""What every method promises: scikit-learn's manners, equivariance, clear errors."""

import inspect
import pickle
import warnings
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nasty import nasty
from scipy.linalg import subspace_angles
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.utils.estimator_checks import parametrize_with_checks
from streamed import Streamed

import trueaxis
from trueaxis import (
    DRPCA,
    L1PCA,
    METHODS,
    PCAL1,
    PCP,
    R1PCA,
    RPCADI,
    RPCARP,
    RRPCP,
    RSPCA,
    RWLAN,
    SPCP,
    TRPCA,
    AnglePCA,
    L2pPCA,
    PCAL1NonGreedy,
    PCALp,
    PlainPCA,
    ReweightedPCA,
    Rule,
    TwoWayPCA,
    WeightedPCA,
)
from trueaxis._engine.kernels import RowWeights
from trueaxis._engine.rules import base as rules
from trueaxis._engine.rules import losses, retained, selection
from trueaxis._engine.rules.base import RowDistances
from trueaxis._engine.rules.losses import PowerRule
from trueaxis._rows.base import ArrayRows
from trueaxis.datasets import planted


def gentle(v, e, d):
    return np.exp(-e / (e.mean() + 1e-300))


OTHERS = {name: cls for name, cls in METHODS.items() if name != "dswl"}
EVERY = pytest.mark.parametrize("name", OTHERS)
# The same methods with other choices than their defaults.
VARIANTS = [
    R1PCA(2, loss="cauchy"),
    R1PCA(2, loss="l21", center="median"),
    L2pPCA(2, p=0.5, n_init=3),
    L2pPCA(2, p=1.5, solver="power"),
    RPCADI(2, membership="root", tau=0.5),
    AnglePCA(2, variant="circulated"),
    RWLAN(2, gamma="frozen"),
    TRPCA(2, q=0.8, n_init=3),
    RPCARP(2, center="median"),
    RSPCA(1, q=0.6, sigma=1.0),
    PCAL1NonGreedy(2, init="random", n_init=3),
    PCALp(2, p=1.5, greedy=False),
    PCP(2, balance=np.inf),
    SPCP(2, center="median"),
    ReweightedPCA(2, rule=PowerRule(1.5), center="mean"),
    ReweightedPCA(1, rule=gentle),
]


@parametrize_with_checks(
    [*(cls() for cls in OTHERS.values()), ReweightedPCA(1, rule=PowerRule(1.5))]
)
def test_scikit_learns_own_suite(estimator, check):
    check(estimator)


@pytest.mark.parametrize("model", VARIANTS, ids=range(len(VARIANTS)))
def test_other_choices_fit_and_keep_to_the_contract(model):
    X = planted("scatter", n=120, n_features=6, n_components=2, share=0.1).X
    check_contract(clone(model).fit(X), X)


@EVERY
def test_contract(name):
    X = planted("scatter", n=120, n_features=6, n_components=2, share=0.1).X
    model = OTHERS[name](2).fit(X)
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
def test_a_learnt_centre_is_the_weighted_mean(name):
    X = planted("scatter", n=120, n_features=6, share=0.1).X
    model = METHODS[name](2).fit(X)
    np.testing.assert_allclose(model.mean_, model.weights_ @ X, atol=1e-8)


def test_the_centre_of_selected_rows_is_their_mean():
    X = planted("scatter", n=120, n_features=6, share=0.1).X
    model = RPCARP(2).fit(X)
    np.testing.assert_allclose(model.mean_, X[model.weights_ > 0].mean(axis=0))


# ---------------------------------------------------------------- equivariance

# Those that look at single cells, or do not centre.
NOT_TURNED = {"l1-pca", "rspca", "two-way", "pcp", "spcp", "rrpcp"}
NOT_SHIFTED = {"pcp", "spcp", "rrpcp"}
QUICK = {"tol": 1e-8, "max_iter": 2000}


def tight(name, k=2):
    options = QUICK if "tol" in inspect.signature(OTHERS[name]).parameters else {}
    return OTHERS[name](k, **options)


def angle(one, two):
    return np.degrees(subspace_angles(one.components_.T, two.components_.T)[0])


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


@EVERY
def test_fewer_rows_than_columns(name):
    cloud = planted("none", n=30, n_features=60, n_components=2)
    model = OTHERS[name](2).fit(cloud.X)
    plain = PlainPCA(2).fit(cloud.X)
    assert model.components_.shape == (2, 60)
    explained = [one.transform(cloud.X).var(axis=0).sum() for one in (model, plain)]
    assert explained[0] > 0.85 * explained[1]


@EVERY
def test_clean_rows_are_not_flagged(name):
    X = planted("none", n=400, n_features=8, n_components=2).X
    assert (OTHERS[name](2).fit(X).predict(X) == 1).mean() > 0.95


@EVERY
def test_gross_errors_are_flagged_for_new_rows_too(name):
    cloud = planted("scatter", n=300, n_features=8, n_components=2, share=0.05)
    model = OTHERS[name](2).fit(cloud.X)
    new = planted("scatter", n=300, n_features=8, n_components=2, share=0.5)
    verdict = model.predict(new.X) == -1
    assert verdict[new.is_outlier].mean() > 0.9
    assert model.score_samples(new.X)[new.is_outlier].mean() < -1


COUNTED = [name for name, cls in OTHERS.items() if not hasattr(cls, "lam")]


@pytest.mark.parametrize("name", COUNTED)
def test_a_streamed_source_gives_the_same_answer(name):
    X = planted("scatter", n=700, n_features=6, n_components=2, share=0.1).X
    counts = 1.0 + (np.arange(700) % 3 == 0)
    options = {"p": 1.5} if name == "pca-lp" else {}  # below 1 rounding may decide
    one = OTHERS[name](2, **options).fit(ArrayRows(X), sample_weight=counts)
    two = OTHERS[name](2, **options).fit(Streamed(X), sample_weight=counts)
    np.testing.assert_allclose(one.components_, two.components_, atol=1e-8)
    np.testing.assert_allclose(one.mean_, two.mean_, atol=1e-8)
    np.testing.assert_array_equal(one.support_, two.support_)
    if hasattr(one, "weights_"):
        np.testing.assert_allclose(one.weights_, two.weights_, atol=1e-8)


@pytest.mark.parametrize("name", ["rpca-om", "r1-pca", "drpca", "pca-l1", "rpca-di"])
def test_large_data_are_judged_by_a_sample(name):
    cloud = planted("scatter", n=9000, n_features=6, n_components=2, share=0.1)
    model = METHODS[name](2).fit(cloud.X)
    assert not model.support_[cloud.is_outlier].any()
    assert model.support_[~cloud.is_outlier].mean() > 0.95


@pytest.mark.parametrize(
    "model",
    [DRPCA(2), TRPCA(2, n_init=5), L2pPCA(2, n_init=5), PCAL1(2, n_init=10)],
    ids=str,
)
def test_many_starts_of_large_data_are_tried_on_a_sample(model):
    cloud = planted("scatter", n=9000, n_features=6, n_components=2, share=0.1)
    rows = Streamed(cloud.X)
    few = clone(model).set_params(n_init=1).fit(rows)
    once, rows.reads = rows.reads, 0
    many = clone(model).fit(rows)
    assert rows.reads < 4 * once
    sense = 1 if isinstance(model, PCAL1) else -1
    best = [sense * one.history_["objective"][-1] for one in (few, many)]
    assert best[1] >= best[0] * (1 - 1e-6 * np.sign(best[0]))


# ---------------------------------------------------------------- number of components


@pytest.mark.parametrize("name", ["pca", "rpca-om", "pca-l1", "pcp", "l1-pca"])
def test_automatic_numbers_of_components(name):
    X = planted("scatter", n=150, n_features=8, n_components=3, share=0.1).X
    assert OTHERS[name]().fit(X).n_components_ == 3
    many, few = (OTHERS[name](share).fit(X).n_components_ for share in (0.99, 0.5))
    assert many > few
    assert OTHERS[name](None).fit(X).n_components_ == 8


# ---------------------------------------------------------------- degenerate data

CASES = list(nasty())


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
            model = OTHERS[name](k).fit(X)
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


@EVERY
@pytest.mark.parametrize("constant", [1.7e18, -3e100])
def test_a_huge_constant_column_changes_nothing(name, constant):
    if name in {*NOT_SHIFTED, "two-way"}:  # it is a part of what these explain
        return
    X = planted("scatter", n=60, n_features=5, n_components=2, share=0.1).X
    one, two = (OTHERS[name](2).fit(Y) for Y in (X, np.c_[X, np.full(60, constant)]))
    assert not two.components_[:, -1].any() or abs(two.components_[:, -1]).max() < 1e-9
    two.components_ = two.components_[:, :-1]
    assert angle(one, two) < 1e-4
    np.testing.assert_array_equal(one.support_, two.support_)


def test_values_whose_squares_overflow_are_refused():
    X = GOOD.copy()
    X[3, 1] = 1e200
    with pytest.raises(ValueError, match="overflow: row 3 of X has a value of 1e.200"):
        PlainPCA(2).fit(X)
    assert np.isfinite(PlainPCA(2).fit(X, sample_weight=np.arange(30) != 3).mean_).all()
    for model in (PlainPCA(2), trueaxis.DSWL(2)):
        with pytest.raises(ValueError, match="up to 1e.200|value of 1e.200"):
            model.fit(np.full((20, 4), 1e200))


@EVERY
def test_sample_weights_that_are_all_alike_change_nothing(name):
    if "sample_weight" not in inspect.signature(OTHERS[name].fit).parameters:
        return
    X = planted("both", n=90, n_features=6, n_components=2, share=0.1).X
    plain = OTHERS[name](2).fit(X)
    for weight in (0.37, 1e300):
        weighted = OTHERS[name](2).fit(X, sample_weight=np.full(90, weight))
        assert angle(plain, weighted) < 1e-5
        np.testing.assert_allclose(plain.mean_, weighted.mean_, rtol=1e-5)


@pytest.mark.parametrize("name", COUNTED)
@pytest.mark.parametrize("value", [1e6, 1e200, -1e300])
def test_rows_without_weight_leave_no_trace(name, value):
    X = planted("scatter", n=60, n_features=6, n_components=2, share=0.1).X
    more = np.insert(X, 20, value, axis=0)
    weight = np.insert(np.ones(60), 20, 0.0)
    one = OTHERS[name](2).fit(X)
    two = OTHERS[name](2).fit(more, sample_weight=weight)
    assert angle(one, two) < 1e-5
    np.testing.assert_allclose(one.mean_, two.mean_, rtol=1e-6)
    np.testing.assert_array_equal(np.delete(two.support_, 20), one.support_)
    assert not two.support_[20]
    if hasattr(two, "weights_"):
        np.testing.assert_allclose(np.delete(two.weights_, 20), one.weights_, rtol=1e-4)
        assert two.weights_[20] == 0


@pytest.mark.parametrize(
    "model", [RPCADI(2), trueaxis.L21MaxPCA(2), AnglePCA(2), RPCARP(2, center="mean")]
)
def test_a_row_on_the_centre_says_nothing(model):
    X = planted("none", n=60, n_features=6, n_components=2).X
    X[0] = X[1:].mean(axis=0)
    fitted = clone(model).fit(X)
    np.testing.assert_allclose(fitted.mean_, X[0], atol=1e-12)
    assert fitted.weights_[0] == 0 and fitted.weights_.max() < 0.5


@pytest.mark.parametrize(
    ("model", "aim"),
    [
        (AnglePCA(2, variant="circulated"), 1),
        (RPCADI(2, membership="root", tau=0.1), 1),
        (RWLAN(2), -1),
        (TRPCA(2), -1),
        (trueaxis.RPCAOM(2), -1),
        (PCAL1NonGreedy(2), 1),
    ],
    ids=str,
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_more_starts_are_never_worse(model, aim):
    X = planted("both", n=80, n_features=6, n_components=2, share=0.3).X
    ends = [
        aim * clone(model).set_params(n_init=n).fit(X).history_["objective"][-1]
        for n in (1, 5, 15)
    ]
    assert ends[0] <= ends[1] <= ends[2]


def test_the_variances_of_kept_rows_are_unbiased():
    X = planted("none", n=20, n_features=5, n_components=2).X
    model = DRPCA(2, q=10).fit(X)
    kept = model.transform(X[model.weights_ > 0])
    np.testing.assert_allclose(model.explained_variance_, kept.var(axis=0, ddof=1))


def test_variances_do_not_hang_on_rows_that_the_subspace_passes_through():
    X = planted("none", n=200, n_features=8, n_components=2).X
    like = trueaxis.RPCAOM(2).fit(X)
    others = [RSPCA(2, sigma=1e-7), TwoWayPCA(2, floor=1e6), L2pPCA(2, p=0.2)]
    for model in others:
        model.fit(X)
        ratio = model.explained_variance_ / like.explained_variance_
        np.testing.assert_allclose(ratio, 1, atol=0.1)
        assert abs(model.noise_variance_ / like.noise_variance_ - 1) < 0.25


def test_warnings_point_at_the_user():
    with pytest.warns(ConvergenceWarning) as caught:
        trueaxis.RPCAOM(3, max_iter=2).fit(planted("scatter", share=0.2).X)
    with pytest.warns(UserWarning) as also:
        SPCP(2, sigma=1e6).fit(GOOD)
    assert caught[0].filename == also[0].filename == __file__


def test_rows_without_weight_are_not_shown_to_a_rule():
    X = planted("scatter", n=90, n_features=6, n_components=2, share=0.1).X
    more = np.vstack([X, np.full((50, 6), 1e6)])
    weight = np.r_[np.ones(90), np.zeros(50)]
    one = ReweightedPCA(2, rule=Fade()).fit(X)
    two = ReweightedPCA(2, rule=Fade()).fit(more, sample_weight=weight)
    np.testing.assert_allclose(one.components_, two.components_, atol=1e-9)
    assert not two.weights_[90:].any()


def test_a_far_row_without_weight_leaves_pairs_alone():
    X = planted("none", n=90, n_features=6, n_components=2).X
    more = np.vstack([X, 1e10 * np.eye(6)[:1]])
    weight = np.r_[np.ones(90), 0.0]
    one, two = WeightedPCA(2).fit(X), WeightedPCA(2).fit(more, sample_weight=weight)
    assert angle(one, two) < 1e-6
    # With power 2 a single row has bounded influence, however far.
    assert angle(WeightedPCA(2, power=2.0).fit(more), one) < 10


def test_variances_are_those_of_many_rows():
    cloud = planted("scatter", share=0.1, n=300, n_features=12)
    plain = PlainPCA(2).fit(cloud.X[~cloud.is_outlier]).explained_variance_
    # Nearly all weight lies on a row that the subspace passes through.
    model = L2pPCA(2, p=0.1).fit(cloud.X)
    assert model.weights_.max() > 0.9
    assert (model.explained_variance_ > 0.3 * plain).all()
    # SPCP takes the largest cells of clean rows for gross errors, too.
    for model, off in [(trueaxis.RPCAOM(2), 0.1), (SPCP(2), 0.4)]:
        model.fit(cloud.X[~cloud.is_outlier])
        np.testing.assert_allclose(model.explained_variance_ / plain, 1, atol=off)


def test_one_column_is_explained_by_itself():
    model = PCP(1).fit(GOOD[:, :1])
    np.testing.assert_allclose(model.explained_variance_, GOOD[:, 0].var(ddof=1))


def test_nothing_of_low_rank_is_told():
    with pytest.warns(UserWarning, match="SPCP: nothing of low rank.*'sigma': 1000000"):
        model = SPCP(2, sigma=1e6).fit(GOOD)
    assert not model.low_rank_.any()
    assert angle(model, PlainPCA(2).fit(GOOD)) < 1e-6


def test_weights_on_too_few_rows_are_told():
    with pytest.warns(UserWarning, match="RWLAN: only 1 of 30 rows.*follows"):
        RWLAN(2, gamma=1e-12).fit(GOOD)


@pytest.mark.parametrize(
    "model",
    [
        R1PCA(2, c=1e200), R1PCA(2, c=1e-100), AnglePCA(2, gamma=1e100),
        RSPCA(2, sigma=1e200), RSPCA(2, sigma=1e-100), RPCADI(2, tau=0.01),
        TwoWayPCA(2, floor=1e6), PCP(2, lam=np.inf), PlainPCA(np.float32(0.9)),
        RSPCA(2, q=np.float32(0.5)), TRPCA(2, q=np.float64(0.9)),
    ],
    ids=str,
)  # fmt: skip
def test_extreme_parameters_that_are_allowed_work(model):
    model.fit(GOOD)
    assert np.isfinite(model.components_).all() and np.isfinite(model.mean_).all()
    assert np.isfinite(model.history_["objective"]).all()


# ---------------------------------------------------------------- errors

GOOD = planted("none", n=30, n_features=4, n_components=2).X


@pytest.mark.parametrize(
    ("model", "kind", "message"),
    [
        (L2pPCA(2, p=0), ValueError, r"p=0 is out of range.*\(0, 2\]"),
        (L2pPCA(2, p=2.5), ValueError, r"p=2.5 is out of range.*\(0, 2\]"),
        (L2pPCA(2, p="1"), TypeError, "p='1' is a str"),
        (L2pPCA(2, n_init=0), ValueError, "n_init=0.*at least 1"),
        (L2pPCA(2, solver="svd"), ValueError, "solver='svd'.*'eigen', 'power'"),
        (L2pPCA(2, center="zero"), ValueError, "center='zero'.*'mean', 'median'"),
        (TwoWayPCA(2, p=3), ValueError, "p=3"),
        (TwoWayPCA(2, floor=0), ValueError, "floor=0"),
        (PCALp(2, p=-1), ValueError, "p=-1"),
        (PCALp(2, greedy=False, init="largest"), ValueError, "init='largest'.*'pca'"),
        (PCAL1(2, init="best"), ValueError, "init='best'"),
        (R1PCA(2, c=0), ValueError, r"c=0 is out of range"),
        (R1PCA(2, c=None), TypeError, "c=None"),
        (R1PCA(2, loss="tukey"), ValueError, "loss='tukey'.*'huber'"),
        (RPCADI(2, tau=0), ValueError, "tau=0"),
        (RPCADI(2, membership="x"), ValueError, "membership='x'.*'ratio'"),
        (AnglePCA(2, gamma=0), ValueError, "gamma=0"),
        (AnglePCA(2, variant="y"), ValueError, "variant='y'.*'exact'"),
        (TRPCA(2, q=3), ValueError, "q=3 rows.*for 2 components.*at least 4 of the 30"),
        (DRPCA(2, q=31), ValueError, "q=31 rows.*X has 30: choose at most 30"),
        (RWLAN(2, q=30), ValueError, "q=30 rows.*X has 30: choose at most 29"),
        (RPCARP(2, q=1.5), ValueError, r"q=1.5 is out of range.*\(0, 1\]"),
        (RPCARP(2, q=0), ValueError, "q=0.*at least 1"),
        (RPCARP(2, ratio="cos"), ValueError, "ratio='cos'.*'tan'"),
        (RWLAN(2, gamma=0.0), ValueError, "gamma=0"),
        (RWLAN(2, gamma="slow"), ValueError, "gamma='slow'.*'frozen'"),
        (RSPCA(2, q=1), ValueError, "q=1 columns for 2 components.*from 2 to 4"),
        (RSPCA(2, q=5), ValueError, "q=5 columns.*has 4 columns"),
        (RSPCA(2, sigma=-1), ValueError, "sigma=-1"),
        (WeightedPCA(2, power=-1), ValueError, "power=-1"),
        (
            WeightedPCA(2, max_rows=20),
            ValueError,
            "30 rows.*4.4e.02 pairs.*max_rows=20",
        ),
        (L1PCA(2, center="mode"), ValueError, "center='mode'.*'median'"),
        (PCP(2, lam=0), ValueError, "lam=0"),
        (PCP(2, lam=-1.0), ValueError, "lam=-1"),
        (PCP(2, rho=1), ValueError, "rho=1 is out"),
        (PCP(2, center="mean"), ValueError, "center='mean'.*'none', 'median'"),
        (PCP(2, lam="x"), TypeError, """lam='x' is a str.*or "auto".*"""),
        (PCALp(2, greedy="no"), TypeError, "greedy='no' is neither"),
        (L2pPCA(2, anneal=1), TypeError, "anneal=1 is neither"),
        (R1PCA(2, c=np.ones(3)), TypeError, "c=array.*is a ndarray"),
        (PlainPCA(np.ones(2)), TypeError, "n_components=array.*is a ndarray"),
        (SPCP(2, sigma=0), ValueError, "sigma=0"),
        (RRPCP(2, gam=0), ValueError, "gam=0"),
        (ReweightedPCA(2, rule="huber"), TypeError, "rule='huber' is a str.*function"),
        (ReweightedPCA(2, rule=Rule()), TypeError, "Rule has no formula"),
        (ReweightedPCA(2, center="best"), ValueError, "center='best'.*'weighted'"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_bad_parameters_are_named(model, kind, message):
    with pytest.raises(kind, match=message):
        model.fit(GOOD)


SHARED = [
    ({"n_components": 9}, "n_components=9, but X has 30 rows and 4 columns"),
    ({"n_components": 1.5}, "n_components=1.5 is neither"),
    ({"max_iter": 0}, "max_iter=0"),
    ({"tol": 0.0}, "tol=0"),
]


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        (name, options, message)
        for name, cls in OTHERS.items()
        for options, message in SHARED
        if set(options) <= set(inspect.signature(cls).parameters)
    ],
)
def test_shared_parameters_are_checked(name, options, message):
    with pytest.raises(ValueError, match=message):
        OTHERS[name](**options).fit(GOOD)


def test_unfinished_iterations_warn():
    X = planted("scatter", share=0.2).X
    with pytest.warns(ConvergenceWarning, match="RPCAOM stopped after 2 iterations"):
        model = trueaxis.RPCAOM(3, max_iter=2).fit(X)
    assert not model.converged_


# ---------------------------------------------------------------- rules of your own


@dataclass(eq=False)
class Fade(Rule):
    power: float = 1.0

    def weights(self, v, e, d):
        return (1 + e / np.median(e)) ** -self.power


def test_a_grid_search_reaches_the_parameters_of_a_rule():
    X = planted("scatter", n=150, n_features=6, n_components=2, share=0.1).X

    def score(model, X):
        return -np.median(model.distances(X).orthogonal)

    grid = {"rule__power": [0.0, 1.0, 3.0], "n_components": [1, 2]}
    search = GridSearchCV(ReweightedPCA(2, rule=Fade()), grid, scoring=score, cv=3)
    search.fit(X)
    assert search.best_params_["n_components"] == 2
    assert search.best_params_["rule__power"] > 0
    assert search.best_estimator_.rule.power == search.best_params_["rule__power"]


def test_a_function_and_an_object_give_the_same():
    X = planted("scatter", n=700, n_features=6, n_components=2, share=0.1).X
    by_object = ReweightedPCA(2, rule=Fade(2.0)).fit(X)
    # It needs all rows at once: blocks of the data must not see their own medians.
    by_function = ReweightedPCA(2, rule=Fade(2.0).weights).fit(ArrayRows(X, 50))
    np.testing.assert_allclose(by_object.components_, by_function.components_)
    np.testing.assert_allclose(by_object.weights_, by_function.weights_)


def test_a_function_can_rebuild_a_method():
    X = planted("scatter", n=200, n_features=6, n_components=2, share=0.1).X
    mine = ReweightedPCA(
        2, rule=lambda v, e, d: 1 / np.sqrt(e + 1e-10 * d.mean()), tol=1e-9
    ).fit(X)
    theirs = trueaxis.RPCAOM(2, tol=1e-9).fit(X)
    assert angle(mine, theirs) < 1e-3


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        (lambda v, e, d: -e, "row 0 the weight -.*finite and not negative"),
        (lambda v, e, d: e * np.nan, "the weight nan.*30 such rows"),
        (lambda v, e, d: e[:-1], r"shape \(29,\) for 30 rows"),
        (lambda v, e, d: 0 * e, "No row carries weight"),
    ],
    ids=["negative", "nan", "shape", "zero"],
)
def test_bad_rules_are_told_so(rule, message):
    with pytest.raises(ValueError, match=message):
        ReweightedPCA(2, rule=rule).fit(GOOD)


def test_a_rule_that_follows_one_row_is_warned_of():
    def nearest(v, e, d):
        return d <= d.min()

    with pytest.warns(
        UserWarning, match="ReweightedPCA: only 1 of 30 rows carry weight"
    ):
        ReweightedPCA(2, rule=nearest, max_iter=5, tol=1.0).fit(GOOD)


ALL_RULES = [
    rule
    for module in (rules, losses, retained, selection)
    for _, rule in inspect.getmembers(module, inspect.isclass)
    if issubclass(rule, Rule) and rule.__module__ == module.__name__
]


@pytest.mark.parametrize("rule", ALL_RULES)
def test_rules_can_be_cloned_and_their_parameters_set(rule):
    fields = inspect.signature(rule).parameters
    one = rule(*(0.5 for field in fields.values() if field.default is field.empty))
    assert clone(one).get_params() == one.get_params()
    for name in one.get_params():
        assert getattr(clone(one).set_params(**{name: 0.25}), name) == 0.25


@given(seed=st.integers(0, 10**6))
def test_row_local_rules_do_not_see_blocks(seed):
    rng = np.random.default_rng(seed)
    v, e, s = rng.random((3, 40)) * 10 ** rng.uniform(-3, 3, (3, 1))
    view = RowDistances(v, e, s)
    for rule in ALL_RULES:
        if not rule.row_local or rule in (losses.GuardedRule, losses.ScaledRule):
            continue
        fields = inspect.signature(rule).parameters.values()
        values = [1.0 for field in fields if field.default is field.empty]
        frozen = rule(*values).freeze(view)
        whole = frozen.weigh(view).log_weights
        part = frozen.weigh(RowDistances(v[7:23], e[7:23], s[7:23]))
        assert isinstance(part, RowWeights)
        np.testing.assert_array_equal(part.log_weights, whole[7:23])


# ---------------------------------------------------------------- documentation


def test_the_names_are_those_of_the_paper():
    assert list(METHODS) == [
        "pca", "dswl", "pca-l1", "pca-l1-nongreedy", "pca-lp", "r1-pca", "l2p-pca",
        "rpca-om", "rpca-di", "angle-pca", "l21-max", "l1-pca", "weighted-pca",
        "rwl-an", "t-rpca", "drpca", "rpca-rp", "rspca", "two-way", "pcp", "spcp",
        "rrpcp",
    ]  # fmt: skip
    for cls in METHODS.values():
        assert getattr(trueaxis, cls.__name__) is cls


@pytest.mark.parametrize("cls", [*OTHERS.values(), ReweightedPCA])
def test_docstrings_tell_what_a_user_must_know(cls):
    text = " ".join(inspect.getdoc(cls).split())
    for name in inspect.signature(cls).parameters:
        assert name in text.split("Parameters")[1].split("Examples")[0], name
    assert ">>>" in text
    assert "every iteration" in text or "Nothing" in text or "Whether" in text or (
        "closed form" in text or "not monotone" in text or "Minimises sum e." in text
    )  # fmt: skip
    if cls is not ReweightedPCA:
        confidence = text.split("Confidence:")[1]
        assert any(word in confidence for word in ("as published", "econstr", "ours"))
        assert "References" in text or cls is TwoWayPCA
        assert "inimises" in text or "aximises" in text or "Keeps" in text or (
            cls is RPCADI
        )  # fmt: skip
