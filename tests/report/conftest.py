"""An analysis and its page."""

import pandas as pd
import pytest

from trueaxis import DSWL
from trueaxis.datasets import sensors
from trueaxis.report import render
from trueaxis.report.analysis import analyse


@pytest.fixture(scope="session")
def pump():
    table = sensors()
    X = pd.DataFrame(table.X, columns=table.columns)
    return analyse(DSWL(2).fit(X), X, labels=table.fault)


@pytest.fixture(scope="session")
def page(pump):
    return render(pump, title="Pump", source="pump.csv", command="trueaxis report")
