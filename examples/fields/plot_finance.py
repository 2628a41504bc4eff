"""Was it the market, or an error in the data?
==============================================

Daily returns of 30 shares, which follow one market and three sectors. There is a crash,
which is real, and there are mistakes: a split that nobody entered, and a day on which
two shares were swapped. All are outliers, but not of the same kind.
"""

import matplotlib.pyplot as plt
import numpy as np

from trueaxis import DSWL
from trueaxis.diagnostics import diagnose
from trueaxis.plots import OutlierMapDisplay

rng = np.random.default_rng(0)
days, shares = 750, 30
sector = np.repeat(np.eye(3), 10, axis=0)
loadings = np.column_stack([rng.uniform(0.7, 1.3, shares), sector])
causes = rng.standard_t(5, (days, 4)) * [0.9, 0.5, 0.5, 0.5]
causes[400] = [-9, -2, -1, -1]  # the crash, in per cent
X = causes @ loadings.T + rng.standard_t(5, (days, shares)) * 0.4
X[200, 7] = -50.0  # two for one, not entered
X[600, [3, 25]] = [6, -7]  # each has the return of the other
names = {200: "split", 400: "crash", 600: "swap"}

model = DSWL(4).fit(X)
found = diagnose(model, X)
table = model.outliers(X).set_index("row")
for day, event in names.items():
    row = table.loc[day]
    print(f"{event}: {row.kind}; share {row.column[1:]} is {row.value:.1f},", end=" ")
    print(f"{row.fitted:.1f} would fit, which removes {row.share:.0%} of the distance")
print(f"{(~model.support_).mean():.1%} of the days are flagged at level {model.level}")

# %%
# The three days on the map:

figure, ax = plt.subplots(figsize=(5.2, 4.8), layout="constrained")
OutlierMapDisplay.from_estimator(model, X, n_labels=0, ax=ax)
for day, event in names.items():
    spot = found.score[day], found.orthogonal[day]
    ax.annotate(event, spot, xytext=(0, 9), textcoords="offset points", ha="center")
ax.set_title("750 days of 30 shares")

# %%
# The kind tells. The crash is *inside*: extreme, but all shares moved as they always do
# together, and no single correction would remove more than 7% of the distance. The
# split is *both* and the swap is *off*: share 7 contradicts all others (-50.0 where 2.7
# would fit), and so does share 25. At most one column is named per row: the other half
# of the swap, which has the rest of the distance, is in ``model.explain``. Tails are
# heavy here, and 3.5% of the days are flagged.
