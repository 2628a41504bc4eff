"""What DSWL promises: equivariance, sane answers on bad data, clear errors."""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from nasty import nasty
from scipy.linalg import subspace_angles
from sklearn.decomposition import PCA

from trueaxis import DSWL
from trueaxis._engine import sample
from trueaxis.datasets import KINDS, planted, sensors

SEEDS = st.integers(0, 10**6)


def angle(A, B):
    return float(np.degrees(subspace_angles(A.T, B.T)[0]))


def random_cloud(seed, n=None, D=None):
    rng = np.random.default_rng(seed)
    return planted(
        KINDS[int(rng.integers(len(KINDS)))],
        n=n or int(rng.integers(30, 90)),
        n_features=D or int(rng.integers(3, 9)),
        n_components=2,
        share=float(rng.uniform(0, 0.3)),
        random_state=seed,
    ).X


def rotation(seed, D):
    return np.linalg.qr(np.random.default_rng(seed).standard_normal((D, D)))[0]


def assert_same_subspace(A, B, tolerance=1e-6):
    np.testing.assert_allclose(A.T @ A, B.T @ B, atol=tolerance)


# ---------------------------------------------------------------- what it is for


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "none"])
@pytest.mark.parametrize("share", [0.1, 0.25, 0.4])
def test_it_finds_the_subspace_the_mean_and_the_bad_rows(kind, share):
    cloud = planted(kind, share=share, random_state=5)
    model = DSWL(3).fit(cloud.X)
    clean = cloud.X[~cloud.is_outlier]
    oracle = np.linalg.svd(clean - clean.mean(axis=0))[2][:3]
    limit = 1.15 * angle(oracle, cloud.components) + 0.2
    assert angle(model.components_, cloud.components) < limit
    assert np.linalg.norm(model.mean_ - clean.mean(axis=0)) < 0.25
    assert not model.support_[cloud.is_outlier].any()
    assert model.support_[~cloud.is_outlier].mean() > 0.93


def test_rows_never_seen_are_judged():
    cloud = planted("scatter", share=0.3, n=1000, random_state=1)
    seen = np.arange(1000) % 2 == 0
    model = DSWL(3).fit(cloud.X[seen])
    label, bad = model.predict(cloud.X[~seen]), cloud.is_outlier[~seen]
    assert (label[bad] == -1).all()
    assert (label[~bad] == 1).mean() > 0.93


def test_the_three_judgements_agree():
    X = planted("both", share=0.2).X
    model = DSWL(3).fit(X)
    distances = model.distances(X)
    beyond = (distances.score > model.cutoffs_.score) | (
        distances.orthogonal > model.cutoffs_.orthogonal
    )
    np.testing.assert_array_equal(model.predict(X) == -1, beyond)
    np.testing.assert_allclose(
        model.decision_function(X), model.score_samples(X) - model.offset_
    )
    # Rows of the fit look nearer than they are, so the fit's own verdict is stricter.
    assert (model.predict(X) == np.where(model.support_, 1, -1)).mean() > 0.98


def test_fitted_attributes_fit_together():
    X = planted("amp", share=0.2).X
    model = DSWL(3).fit(X)
    np.testing.assert_allclose(
        model.components_ @ model.components_.T, np.eye(3), atol=1e-12
    )
    assert (np.diff(model.explained_variance_) <= 0).all()
    assert 0.5 < model.explained_variance_ratio_.sum() < 1
    np.testing.assert_allclose(model.weights_.sum(), 1)
    assert model.weights_.shape == model.support_.shape == (500,)
    assert model.support_.dtype == bool
    assert model.tau_[1] <= model.tau_[0]
    assert 0.3 < model.trust_ < 0.7
    assert model.n_iter_ == len(model.history_["objective"]) and model.converged_
    assert set(model.history_) == {"objective", "change", "effective"}
    assert model.n_components_ == 3 and model.n_features_in_ == 20
    biggest = np.abs(model.components_).argmax(axis=1)
    assert (model.components_[np.arange(3), biggest] > 0).all()
    covariance = model.get_covariance()
    total = np.trace(covariance)
    np.testing.assert_allclose(
        model.explained_variance_ / total, model.explained_variance_ratio_, rtol=0.05
    )


def test_the_temperatures_found_are_the_papers():
    """Given as `tau`, the calibrated temperatures lead to the same weights."""
    X = planted("ocs", share=0.2).X
    found = DSWL(3, reweight=False).fit(X)
    given_back = DSWL(3, tau=tuple(found.tau_), reweight=False).fit(X)
    np.testing.assert_allclose(given_back.weights_, found.weights_, atol=1e-6)


# ---------------------------------------------------------------- equivariance


@given(seed=SEEDS, size=st.sampled_from([1.0, 1e3, 1e8]))
def test_shifting_shifts(seed, size):
    X = random_cloud(seed)
    shift = size * np.random.default_rng(seed).standard_normal(X.shape[1])
    one, two = DSWL(2).fit(X), DSWL(2).fit(X + shift)
    digits = 1e-7 + 1e-14 * size
    np.testing.assert_array_equal(one.support_, two.support_)
    np.testing.assert_allclose(two.mean_ - shift, one.mean_, atol=1e3 * digits)
    assert_same_subspace(one.components_, two.components_, 100 * digits)
    np.testing.assert_allclose(one.weights_, two.weights_, atol=100 * digits)


@given(seed=SEEDS)
def test_rotating_rotates(seed):
    X = random_cloud(seed)
    Q = rotation(seed, X.shape[1])
    one, two = DSWL(2).fit(X), DSWL(2).fit(X @ Q)
    np.testing.assert_array_equal(one.support_, two.support_)
    np.testing.assert_allclose(one.mean_ @ Q, two.mean_, atol=1e-6)
    assert_same_subspace(one.components_ @ Q, two.components_)
    np.testing.assert_allclose(one.weights_, two.weights_, atol=1e-7)
    np.testing.assert_allclose(one.explained_variance_, two.explained_variance_)


@given(seed=SEEDS)
def test_permuting_rows_permutes(seed):
    X = random_cloud(seed)
    order = np.random.default_rng(seed).permutation(len(X))
    one, two = DSWL(2).fit(X), DSWL(2).fit(X[order])
    np.testing.assert_array_equal(one.support_[order], two.support_)
    np.testing.assert_allclose(one.weights_[order], two.weights_, atol=1e-7)
    np.testing.assert_allclose(one.components_, two.components_, atol=1e-6)
    np.testing.assert_allclose(one.mean_, two.mean_, atol=1e-6)


@given(seed=SEEDS, unit=st.floats(1e-6, 1e6))
def test_rescaling_rescales(seed, unit):
    X = random_cloud(seed)
    one, two = DSWL(2).fit(X), DSWL(2).fit(unit * X)
    np.testing.assert_array_equal(one.support_, two.support_)
    np.testing.assert_allclose(one.weights_, two.weights_, atol=1e-8)
    np.testing.assert_allclose(unit * one.mean_, two.mean_, rtol=1e-6, atol=1e-7 * unit)
    np.testing.assert_allclose(one.components_, two.components_, atol=1e-6)
    np.testing.assert_allclose(np.array(one.tau_) * unit**2, two.tau_, rtol=1e-6)
    np.testing.assert_allclose(
        one.score_samples(X), two.score_samples(unit * X), rtol=1e-5
    )


@given(seed=SEEDS)
def test_whole_weights_are_repetitions(seed):
    X = random_cloud(seed)
    counts = np.random.default_rng(seed).integers(0, 4, size=len(X))
    counts[:4] = 1
    again = np.repeat(np.arange(len(X)), counts)
    one = DSWL(2).fit(X, sample_weight=counts)
    two = DSWL(2).fit(X[again])
    np.testing.assert_array_equal(one.support_[again], two.support_)
    np.testing.assert_allclose(one.components_, two.components_, atol=1e-6)
    np.testing.assert_allclose(one.mean_, two.mean_, atol=1e-6)
    summed = np.bincount(again, two.weights_, minlength=len(X))
    np.testing.assert_allclose(one.weights_, summed, atol=1e-7)
    np.testing.assert_allclose(one.cutoffs_, two.cutoffs_, rtol=1e-5)


def test_of_other_weights_only_ratios_matter_and_zero_drops_a_row():
    cloud = planted("ocs", n=120, n_features=6, share=0.2)
    w = np.random.default_rng(0).uniform(0.1, 1, size=120)
    one = DSWL(2).fit(cloud.X, sample_weight=w)
    two = DSWL(2).fit(cloud.X, sample_weight=8 * w)
    np.testing.assert_allclose(one.components_, two.components_, atol=1e-10)
    w[7] = 0
    without = DSWL(2).fit(np.delete(cloud.X, 7, axis=0), sample_weight=np.delete(w, 7))
    with_zero = DSWL(2).fit(cloud.X, sample_weight=w)
    np.testing.assert_allclose(with_zero.components_, without.components_, atol=1e-8)
    assert with_zero.weights_[7] == 0 and not with_zero.support_[7]


def test_the_same_seed_gives_the_same_bits():
    X = planted("both", share=0.3, n=5000).X
    one, two = DSWL(3).fit(X), DSWL(3).fit(X.copy())
    for name in ("components_", "mean_", "weights_", "support_", "explained_variance_"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))


def test_fewer_rows_than_columns_equals_more_columns_of_nothing():
    """The affine hull: padding with zero columns must not change a thing."""
    X = planted("ocs", n=60, n_features=20, share=0.2).X
    wide = np.hstack([X, np.zeros((60, 100))]) @ rotation(3, 120)
    one, two = DSWL(3).fit(X), DSWL(3).fit(wide)
    np.testing.assert_array_equal(one.support_, two.support_)
    np.testing.assert_allclose(one.weights_, two.weights_, atol=1e-8)
    np.testing.assert_allclose(one.explained_variance_, two.explained_variance_)


def test_large_data_start_on_a_sample_and_agree_with_the_whole(monkeypatch):
    cloud = planted("ocs", n=12000, n_features=10, share=0.3)
    sampled = DSWL(3).fit(cloud.X)
    monkeypatch.setattr(sample, "SAMPLE_ROWS", 20000)
    whole = DSWL(3).fit(cloud.X)
    assert angle(sampled.components_, whole.components_) < 0.2
    assert np.linalg.norm(sampled.mean_ - whole.mean_) < 0.05
    assert (sampled.support_ == whole.support_).mean() > 0.99
    np.testing.assert_allclose(sampled.cutoffs_, whole.cutoffs_, rtol=0.05)
    np.testing.assert_allclose(
        sampled.explained_variance_, whole.explained_variance_, rtol=0.05
    )
    assert not sampled.support_[cloud.is_outlier].any()


def test_the_fixed_point_on_large_data_is_that_of_all_rows():
    """Without the last stage the sample is only a start: the iteration goes on."""
    X = planted("ocs", n=6000, n_features=6, share=0.2).X
    model = DSWL(2, reweight=False).fit(X)
    assert model.converged_ and len(model.weights_) == 6000
    again = DSWL(2, tau=model.tau_, reweight=False).fit(X)
    np.testing.assert_allclose(again.weights_, model.weights_, atol=1e-8)


def test_float_weights_reach_the_fixed_point_of_weighted_rows():
    X = planted("ocs", n=80, n_features=5, share=0.2).X
    w = np.random.default_rng(0).uniform(0.5, 2, size=80)
    model = DSWL(2, reweight=False, tol=1e-9).fit(X, sample_weight=w)
    y = X - model.mean_
    t = y @ model.components_.T
    v, d = (t**2).sum(axis=1), (y**2).sum(axis=1)
    a, b, c = np.array(model.tau_) * 80
    weights = w * np.exp(-(v / a + (d - v) / b + d / c))
    np.testing.assert_allclose(model.weights_, weights / weights.sum(), rtol=1e-8)
    np.testing.assert_allclose(model.weights_ @ X, model.mean_, atol=1e-7)


def test_a_uniform_start_with_calibration_finds_easy_outliers():
    cloud = planted("scatter", share=0.1)
    model = DSWL(3, init="uniform").fit(cloud.X)
    assert not model.support_[cloud.is_outlier].any()


def test_given_temperatures_with_the_last_stage():
    cloud = planted("ocs", share=0.2)
    found = DSWL(3).fit(cloud.X)
    for init in ("auto", "uniform"):
        model = DSWL(3, tau=tuple(10 * t for t in found.tau_), init=init).fit(cloud.X)
        assert model.tau_ == pytest.approx([10 * t for t in found.tau_])
        assert model.support_.sum() >= 250


def test_many_dimensions_take_the_cheaper_steps_to_the_same_end():
    cloud = planted("ocs", n=300, n_features=150, n_components=4, share=0.25)
    model = DSWL(4).fit(cloud.X)
    clean = cloud.X[~cloud.is_outlier]
    oracle = np.linalg.svd(clean - clean.mean(axis=0))[2][:4]
    assert angle(model.components_, oracle) < 1
    assert not model.support_[cloud.is_outlier].any()


@pytest.mark.parametrize("n", [3900, 4200])
@pytest.mark.parametrize("reweight", [True, False])
def test_a_group_stays_set_aside_beyond_the_sample(n, reweight):
    cloud = planted("none", n=n)
    rng = np.random.default_rng(0)
    off = np.linalg.svd(cloud.components)[2][3]
    group = np.arange(n) >= 0.65 * n
    cloud.X[group] = (
        cloud.mean + 2 * off + 0.05 * rng.standard_normal((group.sum(), 20))
    )
    model = DSWL(3, reweight=reweight).fit(cloud.X)
    assert angle(model.components_, cloud.components) < 2
    assert not model.support_[group].any() and model.weights_[group].sum() == 0


def test_on_large_data_support_is_what_predict_says():
    X = planted("none", n=6000, n_features=12, n_components=2).X
    model = DSWL(5).fit(X)
    np.testing.assert_array_equal(model.predict(X) == 1, model.support_)


@pytest.mark.parametrize("n", [3900, 4200])
def test_light_rows_stay_light_beyond_the_sample(n):
    cloud = planted("ocs", n=n, share=0.55)
    model = DSWL(3).fit(cloud.X, sample_weight=np.where(cloud.is_outlier, 0.1, 1.0))
    assert angle(model.components_, cloud.components) < 2
    assert not model.support_[cloud.is_outlier].any()


def test_blocks_do_not_matter(monkeypatch):
    from trueaxis._rows import base as rows

    X = planted("ocs", n=2000, share=0.2).X
    one = DSWL(3).fit(X)
    monkeypatch.setattr(rows, "BLOCK_BYTES", 1)
    two = DSWL(3).fit(X)
    np.testing.assert_allclose(one.components_, two.components_, atol=1e-10)
    np.testing.assert_allclose(one.weights_, two.weights_, atol=1e-8)


def test_variances_are_those_of_all_clean_rows():
    X = planted("none", n=20000, n_features=30, n_components=2).X
    model = DSWL(2).fit(X)
    clean = PCA(2).fit(X)
    np.testing.assert_allclose(
        model.explained_variance_, clean.explained_variance_, rtol=0.03
    )
    np.testing.assert_allclose(model.noise_variance_, clean.noise_variance_, rtol=0.02)


# ---------------------------------------------------------------- number of components


def test_a_share_is_reached_and_no_component_is_superfluous():
    X = planted("ocs", share=0.25, n_components=5, n_features=15).X
    for share in (0.3, 0.6, 0.9, 0.99):
        model = DSWL(share).fit(X)
        ratio = model.explained_variance_ratio_
        assert ratio.sum() >= share
        assert ratio[:-1].sum() < share


def test_a_share_is_reached_on_heavy_tails_too():
    for seed in range(4):
        X = np.random.default_rng(seed).standard_t(3, size=(150, 30))
        for share in (0.5, 0.9, 0.99):
            assert DSWL(share).fit(X).explained_variance_ratio_.sum() >= share


def test_a_number_found_is_that_number_asked_for():
    X = planted("ocs", share=0.2).X
    found = DSWL().fit(X)
    asked = DSWL(found.n_components_).fit(X)
    np.testing.assert_array_equal(found.components_, asked.components_)


def test_rows_of_weight_zero_are_no_components():
    X = planted("none", n=10, n_features=20).X
    assert (
        DSWL(None).fit(X, sample_weight=np.r_[np.ones(5), np.zeros(5)]).n_components_
        == 5
    )


def test_auto_finds_the_planted_dimension():
    for k in (1, 2, 3, 5):
        for kind in ("none", "ocs", "both", "scatter"):
            X = planted(kind, share=0.3, n_components=k).X
            assert DSWL().fit(X).n_components_ == k


def test_none_keeps_all_components():
    X = planted("scatter", n=50, n_features=6).X
    model = DSWL(None).fit(X)
    assert model.n_components_ == 6
    np.testing.assert_allclose(
        model.inverse_transform(model.transform(X)), X, atol=1e-9
    )
    wide = DSWL(None).fit(planted("ocs", n=20, n_features=40, share=0.1).X)
    assert wide.n_components_ == 20


# ---------------------------------------------------------------- degenerate data


@pytest.mark.parametrize("case", list(nasty()), ids=lambda case: case[0])
@pytest.mark.parametrize("reweight", [True, False])
def test_degenerate_data_give_finite_answers(case, reweight):
    name, X, k = case
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="DSWL: only")
        model = DSWL(k, reweight=reweight).fit(X)
    for attribute in (
        "components_", "mean_", "explained_variance_", "explained_variance_ratio_",
        "noise_variance_", "weights_", "tau_", "trust_", "objective_", "cutoffs_",
    ):  # fmt: skip
        assert np.isfinite(getattr(model, attribute)).all(), attribute
    np.testing.assert_allclose(
        model.components_ @ model.components_.T, np.eye(k), atol=1e-9
    )
    np.testing.assert_allclose(model.weights_.sum(), 1)
    assert not np.isnan(model.score_samples(X)).any()
    assert set(model.predict(X)) <= {1, -1}
    assert model.support_.sum() >= len(X) / 2 - 1
    assert np.isfinite(DSWL().fit(X).components_).all()


def test_a_row_of_1e300_is_an_outlier_and_leaves_no_trace():
    X = planted("none", n=100, n_features=6).X
    bad = np.vstack([X, np.full((1, 6), 1e300)])
    model, clean = DSWL(3).fit(bad), DSWL(3).fit(X)
    assert not model.support_[-1] and model.weights_[-1] == 0
    assert model.predict(bad)[-1] == -1
    assert angle(model.components_, clean.components_) < 3
    np.testing.assert_allclose(model.mean_, clean.mean_, atol=0.2)


def test_the_papers_start_cannot_stand_1e300_and_says_so():
    X = np.vstack([planted("none", n=100, n_features=6).X, np.full((1, 6), 1e300)])
    with pytest.raises(ValueError, match=r'overflow.*init="auto"'):
        DSWL(2, init="uniform", tau=(1.0, 1.0, 1.0)).fit(X)


# ---------------------------------------------------------------- errors

GOOD = planted("none", n=30, n_features=4, n_components=2).X


def with_cell(value):
    X = GOOD.copy()
    X[17, 3] = value
    return X


@pytest.mark.parametrize(
    ("X", "error", "message"),
    [
        (with_cell(np.nan), ValueError, "NaN in row 17, column 3.*impute"),
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
            np.ma.masked_greater(GOOD, 1),
            ValueError,
            "masked array with .* masked cells",
        ),
        (
            pd.DataFrame(
                {"a": [1.0, 2, 3], "t": pd.date_range("2026-01-01", periods=3)}
            ),
            TypeError,
            "not numeric, such as dates.*Drop",
        ),
    ],
)
def test_bad_data_are_refused_with_reason_and_remedy(X, error, message):
    with pytest.raises(error, match=message):
        DSWL(1).fit(X)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        (
            {"n_components": 9},
            ValueError,
            "n_components=9, but X has 30 rows and 4.*1 to 4",
        ),
        ({"n_components": 0}, ValueError, "n_components=0"),
        ({"n_components": -1}, ValueError, "1 to 4"),
        ({"n_components": 1.5}, ValueError, "between 0 and 1"),
        ({"n_components": "many"}, TypeError, "'many'"),
        ({"n_components": True}, TypeError, "bool"),
        ({"trust": 0}, ValueError, r"trust=0 .*\(0, 1\]"),
        ({"trust": 1.2}, ValueError, "trust=1.2"),
        ({"trust": "high"}, TypeError, "trust='high'"),
        ({"trust": np.nan}, ValueError, "trust=nan"),
        ({"tau": (1, 0, 1)}, ValueError, "tau_b=0.0.*positive"),
        ({"tau": (1, 1, -2)}, ValueError, "tau_c=-2.0"),
        ({"tau": (1, np.nan, 1)}, ValueError, "tau_b=nan"),
        ({"tau": (1, 1)}, TypeError, "three temperatures"),
        ({"tau": "hot"}, TypeError, "'hot'"),
        ({"tau": 3.0}, TypeError, "three temperatures"),
        ({"init": "best"}, ValueError, "init='best'.*'auto'.*'uniform'"),
        ({"tau": "123"}, TypeError, "three temperatures"),
        ({"tau": (1e-320,) * 3}, ValueError, "No row carries weight.*raise tau"),
        ({"init": np.zeros(3)}, ValueError, "init="),
        ({"reweight": "no"}, TypeError, "reweight='no'"),
        ({"trust": None}, TypeError, r"NoneType: pass a number in \(0, 1\]"),
        ({"max_iter": 0}, ValueError, "max_iter=0"),
        ({"max_iter": 1.5}, TypeError, "max_iter=1.5"),
        ({"tol": -1.0}, ValueError, "tol=-1.0"),
    ],
)
def test_bad_parameters_are_refused_with_reason_and_remedy(options, error, message):
    with pytest.raises(error, match=message):
        DSWL(**options).fit(GOOD)


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        (np.ones(29), r"shape \(29,\), but X has 30 rows"),
        (-np.ones(30), "-1.0 in row 0"),
        (np.r_[np.ones(29), np.nan], "nan in row 29"),
        ("balanced", "not numeric"),
        (np.r_[1, np.zeros(29)], "Only 1 of 30 rows have a sample_weight above zero"),
    ],
)
def test_bad_weights_are_refused_with_reason_and_remedy(weight, message):
    with pytest.raises((ValueError, TypeError), match=message):
        DSWL(1).fit(GOOD, sample_weight=weight)


def test_wrong_columns_at_transform_are_refused():
    model = DSWL(2).fit(GOOD)
    for method in (model.transform, model.predict, model.distances):
        with pytest.raises(
            ValueError, match="X has 3 features, but DSWL is expecting 4"
        ):
            method(GOOD[:, :3])
    with pytest.raises(ValueError, match="3 columns, but there are 2 components"):
        model.inverse_transform(GOOD[:, :3])


# ---------------------------------------------------------------- data sets


def test_planted_kinds_are_what_they_say():
    with pytest.raises(ValueError, match="kind='odd'.*pcs"):
        planted("odd")
    inside = planted("pcs", share=0.2)
    y = inside.X - inside.mean
    off = np.linalg.norm(y - y @ inside.components.T @ inside.components, axis=1)
    assert off[inside.is_outlier].max() < off.max()
    assert planted("none").is_outlier.sum() == 0
    heavy = planted("none", df=3)
    assert np.abs(heavy.X).max() > np.abs(planted("none").X).max()


def test_the_sensor_faults_are_found():
    table = sensors()
    model = DSWL(2).fit(table.X)
    faulty = table.fault != ""
    assert not model.support_[faulty].any()
    assert model.support_[~faulty].mean() > 0.93


@settings(max_examples=10)
@given(seed=SEEDS)
def test_wide_data_rotate_too(seed):
    X = random_cloud(seed, n=25, D=40)
    Q = rotation(seed, 40)
    one, two = DSWL(2).fit(X), DSWL(2).fit(X @ Q)
    np.testing.assert_array_equal(one.support_, two.support_)
    assert_same_subspace(one.components_ @ Q, two.components_)
