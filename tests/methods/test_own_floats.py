"""The caller's floating-point settings stay outside."""

import numpy as np
import pytest

from trueaxis import DSWL, ColumnScaler, TableEncoder, diagnostics, load, plots, save
from trueaxis.data.threads import own_floats
from trueaxis.datasets import planted
from trueaxis.methods import METHODS
from trueaxis.report import write_report


@pytest.fixture(scope="module")
def X():
    rows = planted("ocs", n=40, n_features=6, share=0.1).X
    rows[0] *= 1e3
    rows[1] *= 1e-200  # whose squares underflow
    return rows


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_estimators_compute_the_same_whatever_the_caller_set(name, X):
    model = METHODS[name](2)
    expected = model.fit(X)
    components, scores = expected.components_, expected.score_samples(X)
    with np.errstate(all="raise"):
        model.fit(X)
        np.testing.assert_array_equal(model.components_, components)
        np.testing.assert_array_equal(model.score_samples(X), scores)
        for use in (
            model.predict,
            model.distances,
            model.p_values,
            model.decision_function,
            model.score,
            model.outliers,
            model.explain,
            model.summary,
            lambda X: diagnostics.diagnose(model, X),
            lambda X: diagnostics.effect(model, X),
            lambda X: diagnostics.contributions(model, X),
        ):
            use(X)
        model.inverse_transform(model.transform(X))
        assert np.isfinite(model.get_covariance()).all()
        model.get_precision()
        assert np.geterr()["under"] == "raise"


@pytest.mark.slow
def test_reports_plots_files_and_cells_do_not_depend_on_the_caller_either(X, tmp_path):
    holes = X.copy()
    holes[5, 2] = np.nan
    with np.errstate(all="raise"):
        model = DSWL(2, cells=True).fit(holes)
        model.repair(holes)
        model.impute(holes)
        model.wrong_cells(holes)
        diagnostics.cell_map(model, holes)
        plain = DSWL(2).fit(X)
        plots.OutlierMapDisplay.from_estimator(plain, X)
        plots.ScoresDisplay.from_estimator(plain, X)
        plots.ScreeDisplay.from_estimator(plain, X)
        plots.ContributionsDisplay.from_estimator(plain, X, 0)
        write_report(plain, X, tmp_path / "page.html")
        save(plain, tmp_path / "model.npz")
        load(tmp_path / "model.npz")
        for first in (ColumnScaler(), TableEncoder()):
            first.inverse_transform(first.fit_transform(X))


def test_settings_are_restored_after_an_error():
    @own_floats
    def fails():
        raise KeyError(np.geterr()["over"])

    with np.errstate(over="raise"):
        with pytest.raises(KeyError, match="ignore"):
            fails()
        assert np.geterr()["over"] == "raise"
