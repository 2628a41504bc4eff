"""Diagnostics of rows with holes and wrong cells."""

import numpy as np
import pytest
from small_tables import cloud, holed

from trueaxis import DSWL
from trueaxis._validation import fitted_rows
from trueaxis.diagnostics import (
    compare,
    contributions,
    diagnose,
    effect,
    outlier_table,
    reasons,
    score_plane,
    trust_path,
)
from trueaxis.diagnostics.filled import cell_repair, imputed
from trueaxis.diagnostics.influence import principal_angles
from trueaxis.methods import PlainPCA


@pytest.fixture(scope="module", params=[True, False], ids=["cells", "holes"])
def model(request):
    return DSWL(2, cells=request.param).fit(holed())


@pytest.fixture(scope="module")
def X():
    return holed()


def test_imputed_rows_are_those_of_the_model(model, X):
    rows = fitted_rows(model, X)
    good = model.support_  # outliers keep their cells
    np.testing.assert_array_equal(rows.read()[good], model.repair(X)[good])
    np.testing.assert_array_equal(imputed(rows).read(), model.impute(X))
    assert (imputed(rows) is rows) == (not model.cells)


def test_complete_rows_are_left_alone():
    X = cloud().X
    rows = fitted_rows(DSWL(2).fit(X), X)
    assert imputed(rows) is rows and cell_repair(rows) is None


def test_plain_pca_gets_holes_filled_and_wrong_cells_as_they_are(model, X):
    filled = model.impute(X)
    plain = PlainPCA(2).fit(filled)
    change = effect(model, X)
    expected = principal_angles(model.components_, plain.components_)
    np.testing.assert_allclose(change.angles, expected, atol=1e-6)
    np.testing.assert_allclose(change.shift, plain.mean_ - model.mean_, atol=1e-9)
    np.testing.assert_allclose(change.plain_variance, plain.explained_variance_)
    for share in (change.tilt_share, change.shift_share):
        assert np.isclose(share.sum(), 1.0)


def test_scores_are_of_repaired_rows_and_the_plain_spread_is_of_rows_as_they_are(
    model, X
):
    plane = score_plane(model, X)
    np.testing.assert_allclose(plane.scores, np.asarray(model.transform(X)))
    y = (model.impute(X) - model.mean_) @ model.components_.T
    np.testing.assert_allclose(plane.plain.covariance, np.cov(y.T))
    np.testing.assert_allclose(plane.plain.center, y.mean(axis=0), atol=1e-9)


def test_columns_to_correct_are_cells_that_are_there(model, X):
    found, repaired = diagnose(model, X), model.repair(X)
    each, given = np.arange(len(X)), X.to_numpy()
    kept = given == repaired
    assert kept[each, found.column].all()
    if not model.cells:  # complete rows are judged alike, filled or not
        same, full = kept.all(axis=1), diagnose(model, X.fillna(0))
        np.testing.assert_array_equal(found.column[same], full.column[same])
        np.testing.assert_array_equal(found.surplus[same], full.surplus[same])


def test_a_row_without_any_cell_is_regular_and_blames_nothing(model):
    found = diagnose(model, holed().iloc[:1] * np.nan)
    assert found.kind[0] == "regular" and found.share[0] == 0.0


def test_every_diagnostic_is_finite(model, X):
    parts = contributions(model, X)
    distances = model.distances(X)
    np.testing.assert_allclose(parts.score.sum(axis=1), distances.score**2)
    np.testing.assert_allclose(
        parts.orthogonal.sum(axis=1), distances.orthogonal**2, atol=1e-9
    )
    assert all(np.isfinite(part).all() for part in reasons(model, X))
    path = trust_path(model, X, [0.8, 0.5])
    assert np.isfinite(path.weights).all() and np.isfinite(path.to_model).all()
    table = outlier_table(model, X, everything=True)
    assert table["share"].between(0, 1).all() and len(table) == len(X)


def test_methods_that_need_complete_rows_are_compared_on_filled_ones(X):
    dswl, pca = compare(X, ["dswl", "pca"], n_components=2)
    filled = dswl.model.impute(X.to_numpy())
    assert pca.problem == ""
    np.testing.assert_array_equal(pca.model.mean_, PlainPCA(2).fit(filled).mean_)
    assert dswl.flagged == int((dswl.model.predict(X.to_numpy()) < 0).sum())
    with pytest.raises(ValueError, match="DSWL"):
        compare(X, ["pca", "dswl"])


def test_files_are_diagnosed_like_arrays(model, X, tmp_path):
    np.save(tmp_path / "pumps.npy", X.to_numpy())
    for whole, streamed in (
        (diagnose(model, X), diagnose(model, tmp_path / "pumps.npy")),
        (effect(model, X), effect(model, tmp_path / "pumps.npy")),
        (score_plane(model, X).plain, score_plane(model, tmp_path / "pumps.npy").plain),
    ):
        assert not hasattr(whole, "log_p") or len(whole.log_p) == len(X)  # now in vars
        for name, value in vars(whole).items():
            if name == "judged":  # which log_p follows from
                continue
            other = getattr(streamed, name)
            if np.asarray(value).dtype.kind == "f":
                np.testing.assert_allclose(value, other, rtol=1e-6, atol=1e-9)
            else:
                np.testing.assert_array_equal(value, other)
