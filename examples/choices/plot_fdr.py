"""How many of the flagged rows are false alarms?
=================================================

With a level of 2.5 %, a table of 4000 rows has about a hundred false alarms, however
few rows are bad. ``fdr`` asks another question: which rows can I list, so that at most
a tenth of the list is expected to be wrong?
"""

import matplotlib.pyplot as plt
import numpy as np

from trueaxis import DSWL
from trueaxis.datasets import planted

n = 4000
figure, ax = plt.subplots(figsize=(5.2, 3.8), layout="constrained")
for share, look in ((0.0, "o"), (0.01, "s"), (0.1, "^")):
    cloud = planted("none", n=n, n_features=8, n_components=2)
    bad = np.arange(n) >= n - round(share * n)
    X = cloud.X.copy()
    X[bad, 2] += 3.0
    model = DSWL(2).fit(X)
    p = model.p_values(X)
    listed = np.zeros(n, dtype=bool)
    listed[model.outliers(X, fdr=0.1).position] = True
    for name, rows in (("level 0.025", p < 0.025), ("fdr 0.1", listed)):
        false = (rows & ~bad).sum()
        part = f"{false / max(rows.sum(), 1):.0%}"
        print(
            f"{bad.sum()} bad rows, {name}: {rows.sum()} listed, {false} false, {part}"
        )
    order = np.sort(p)
    ax.plot(order[:600], look, ms=3, markevery=12, label=f"{bad.sum()} bad rows")

# %%
# The sorted p-values, and the line of Benjamini and Hochberg: rows are listed up to the
# last crossing.

rank = np.arange(600)
ax.plot(rank, 0.1 * (rank + 1) / n, "k-", lw=1.2, label="0.1 times rank / 4000")
ax.axhline(0.025, color="0.5", ls="--", lw=1, label="level 0.025")
ax.set(xlabel="rank of the row", ylabel="p-value", ylim=(-0.002, 0.06))
ax.set_title("The line adapts to the number of bad rows")
figure.legend(loc="outside lower center", ncols=2, fontsize=9)

# %%
# With the level, 67% of the list are false alarms if 40 rows are bad, and 100% if none
# is. With ``fdr=0.1`` it is 17% and an empty list, and all 40 are on it (48 rows, 8 of
# them false). If 400 rows are bad, it is 10%. A tenth is an expectation: single tables
# have more, as here, or fewer, and heavy tails are harder.
