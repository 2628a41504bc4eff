"""Must I scale my columns first?
=================================

PCA depends on units. Four columns of a machine: two temperatures in degrees, a pressure
in pascal, and a speed. A sensor of the speed is broken in some rows. By default DSWL
takes the numbers as they are, and pascal are large numbers.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.pipeline import make_pipeline

from trueaxis import DSWL, ColumnScaler, TableEncoder
from trueaxis.diagnostics import diagnose

rng = np.random.default_rng(0)
load = rng.standard_normal((300, 1))
units = np.array([4.0, 3.0, 20_000.0, 0.5])
X = (
    np.array([60, 40, 300_000, 9])
    + (load + 0.2 * rng.standard_normal((300, 4))) * units
)
broken = np.arange(300) >= 280
X[broken, 3] -= 2.0
names = ["inlet (C)", "outlet (C)", "pressure (Pa)", "speed (m/s)"]
table = pd.DataFrame(X, columns=names)

models = {
    "as it is": DSWL(1).fit(table),
    "ColumnScaler": make_pipeline(ColumnScaler(), DSWL(1)).fit(table),
    "TableEncoder": make_pipeline(TableEncoder(), DSWL(1)).fit(table),
}
figure, axes = plt.subplots(1, 2, figsize=(5.2, 3.2), layout="constrained")
for name, model in models.items():
    flagged = model.predict(table) < 0
    print(f"{name}: {flagged[broken].sum()} of {broken.sum()} broken rows,", end=" ")
    print(f"{flagged[~broken].sum()} of {(~broken).sum()} others")
print(models["TableEncoder"][0].notes_[-1])
for ax, name in zip(axes, ["as it is", "ColumnScaler"], strict=True):
    off = diagnose(models[name], table).orthogonal
    ax.plot(load[~broken, 0], off[~broken], "o", ms=3, color="0.6", label="regular")
    ax.plot(load[broken, 0], off[broken], "^", color="#d55e00", mec="k", label="broken")
    ax.set(title=name, xlabel="load", ylabel="orthogonal distance")
figure.suptitle("Distance from the axis, without and with scaling")
figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)

# %%
# If the units differ, yes. As it is, the pressure decides alone, and 2 of the 20 broken
# rows are flagged; after scaling, all 20. ``ColumnScaler`` always scales;
# ``TableEncoder`` first looks at units and spreads, and says why it did. If all columns
# share a unit (spectra, images), do not scale: it would blow up columns that hardly
# vary.
