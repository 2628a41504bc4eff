"""The caller's floating-point settings stay outside."""

import numpy as np
import pytest

from trueaxis import diagnostics
from trueaxis.data.threads import ignore_float_errors
from trueaxis.datasets import planted
from trueaxis.methods import METHODS


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
            model.outliers,
            model.explain,
            lambda X: diagnostics.diagnose(model, X),
            lambda X: diagnostics.effect(model, X),
        ):
            use(X)
        model.inverse_transform(model.transform(X))
        assert np.isfinite(model.get_covariance()).all()
        assert np.geterr()["under"] == "raise"


def test_settings_are_restored_after_an_error():
    @ignore_float_errors
    def fails():
        raise KeyError(np.geterr()["over"])

    with np.errstate(over="raise"):
        with pytest.raises(KeyError, match="ignore"):
            fails()
        assert np.geterr()["over"] == "raise"
