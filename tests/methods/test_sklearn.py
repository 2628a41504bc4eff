"""scikit-learn's own estimator checks, on every estimator."""

import pytest
from estimator_data import OTHERS
from sklearn.utils.estimator_checks import parametrize_with_checks

from trueaxis import DSWL, ColumnScaler
from trueaxis.core.rules import PowerRule
from trueaxis.methods import ReweightedPCA

pytestmark = pytest.mark.sklearn


# The checks expect outliers among the rows of three blobs, where a level of 2.5 % may
# find none.
@parametrize_with_checks([DSWL(), DSWL(2, trust=0.7, level=0.1), DSWL(1)])
def test_dswl(estimator, check):
    check(estimator)


@parametrize_with_checks(
    [
        *(cls(level=0.1) for cls in OTHERS.values()),
        ReweightedPCA(1, rule=PowerRule(1.5)),
    ]
)
def test_other_methods(estimator, check):
    check(estimator)


@parametrize_with_checks([ColumnScaler()])
def test_scaler(estimator, check):
    check(estimator)
