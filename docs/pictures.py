"""Draw the pictures of the docs anew: python docs/pictures.py."""

from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure

from trueaxis import DSWL
from trueaxis.datasets import sensors
from trueaxis.plots import OutlierMapDisplay, ScoresDisplay

IMAGES = Path(__file__).parent / "images"

table = sensors()
X = pd.DataFrame(table.X, columns=table.columns)
model = DSWL(2).fit(X)
display = OutlierMapDisplay.from_estimator(model, X)
display.figure_.savefig(IMAGES / "outlier-map.png", dpi=110)

figure = Figure(figsize=(12, 5), layout="constrained")
left, right = figure.subplots(1, 2)
ScoresDisplay.from_estimator(model, X, ax=left)
OutlierMapDisplay.from_estimator(model, X, ax=right)
figure.savefig(IMAGES / "demo.png", dpi=110)
