"""How do I read the outlier map?
=================================

Every row has two distances: inside the subspace (is it extreme?) and off it (do its
columns contradict each other?). The map shows both, with the line beyond which rows are
flagged.
"""

import matplotlib.pyplot as plt
import numpy as np

from trueaxis import DSWL
from trueaxis.datasets import sensors
from trueaxis.diagnostics import diagnose
from trueaxis.plots import OutlierMapDisplay

table = sensors()
model = DSWL(2).fit(table.X)
figure, ax = plt.subplots(figsize=(5.2, 4.8), layout="constrained")
OutlierMapDisplay.from_estimator(model, table.X, n_labels=4, ax=ax)

# %%
# What is really wrong with the rows of each kind:

kind = diagnose(model, table.X).kind
for name in ("inside", "off", "both"):
    faults, counts = np.unique(table.fault[kind == name], return_counts=True)
    found = [
        f"{n} {fault or 'healthy'}" for fault, n in zip(faults, counts, strict=True)
    ]
    print(f"{name}: {', '.join(found)}")

# %%
# Right of the vertical line are extreme rows whose columns agree with each other: 8
# hours of over-run, and 3 healthy ones that are just beyond the line (some are expected
# there). Above the horizontal line, columns contradict each other: 6 rows with a loose
# sensor. Rows that are far in both ways are the 10 with a wrong unit and 6 with two
# faults. The map says how a row is unusual, not why: for that see ``model.explain``.
