"""Draw the pictures of the docs anew: python docs/pictures.py."""

from pathlib import Path

import pandas as pd

from trueaxis import DSWL
from trueaxis.datasets import sensors
from trueaxis.plots import OutlierMapDisplay

table = sensors()
X = pd.DataFrame(table.X, columns=table.columns)
display = OutlierMapDisplay.from_estimator(DSWL(2).fit(X), X)
target = Path(__file__).parent / "images" / "outlier-map.png"
display.figure_.savefig(target, dpi=110)
