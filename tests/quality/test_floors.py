"""No figure of quality falls below its floor."""

import os
import warnings

import pytest

from tests.quality.figures import ALONE, WITH_DATA, data_home
from tests.quality.floors import FLOORS

HOME = data_home(os.environ.get("TRUEAXIS_DATA"))
BY_NAME = {floor.name: floor for floor in FLOORS}


def check(values, lines):
    """Compare figures with their floors; every figure must have one."""
    lines += [BY_NAME[name].line(value) for name, value in values.items()]
    fallen = [
        BY_NAME[name].line(value)
        for name, value in values.items()
        if not BY_NAME[name].holds(value)
    ]
    assert not fallen, "\n".join(fallen)


@pytest.mark.slow
@pytest.mark.parametrize("measure", ALONE, ids=lambda measure: measure.__name__)
def test_floor(measure, quality_lines):
    check(measure(0), quality_lines)


@pytest.mark.slow
@pytest.mark.skipif(HOME is None, reason="TRUEAXIS_DATA names no folder of data")
@pytest.mark.parametrize("measure", WITH_DATA, ids=lambda measure: measure.__name__)
def test_floor_on_real_data(measure, quality_lines):
    with warnings.catch_warnings():  # real tables have columns that DSWL remarks on
        warnings.simplefilter("ignore", UserWarning)
        check(measure(0, HOME), quality_lines)
