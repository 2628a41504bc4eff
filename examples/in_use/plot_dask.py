"""Is the answer the same on a cluster?
=======================================

Rows that are spread over the workers of a cluster are never brought together: every
worker adds up its own blocks, and the sums are merged. Here the blocks of a Dask array
are processed in this process; with ``distributed.Client(...)`` open, the same lines use
its workers.
"""

import dask.array as da
import matplotlib.pyplot as plt
import numpy as np

from trueaxis import DSWL
from trueaxis.datasets import planted

cloud = planted("ocs", n=40_000, n_features=10, n_components=2, share=0.2)
order = np.random.default_rng(0).permutation(40_000)
X, is_bad = cloud.X[order], cloud.is_outlier[order]
lazy = da.from_array(X, chunks=(5_000, -1))

there = DSWL(2).fit(lazy)
labels = there.predict(lazy)
print(f"predict returns a lazy array of {labels.numblocks[0]} blocks")
labels = labels.compute()
here = DSWL(2).fit(X)
difference = np.abs(there.components_ - here.components_).max()
print(f"components differ by less than 1e-10: {difference < 1e-10}")
print(f"verdicts that differ: {(labels != here.predict(X)).sum()} of {len(X)}")
print(f"bad rows found: {(labels[is_bad] < 0).sum()} of {is_bad.sum()}")

# %%
# Other blocks add up in another order, and round differently in the last digits. The
# same blocks give the same bits, whoever computes them.

sizes = [1_000, 2_000, 5_000, 10_000, 20_000]
gaps = []
for rows in sizes:
    model = DSWL(2).fit(da.from_array(X, chunks=(rows, -1)))
    gaps.append(np.abs(model.components_ - here.components_).max())
figure, ax = plt.subplots(figsize=(5.2, 3.4), layout="constrained")
ax.semilogy(sizes, np.maximum(gaps, 1e-17), "o-")
ax.axhline(np.finfo(float).eps, color="k", ls="--", lw=1, label="one rounding")
ax.set(xlabel="rows in a block", ylabel="largest difference of a loading")
ax.set(ylim=(1e-18, 1e-10), title="Blocks of a cluster, and all rows at once")
ax.legend(frameon=False)

# %%
# Up to the last digits of a number: loadings differ by less than 1e-10, and 0 of 40000
# verdicts differ. All 8000 bad rows are found. Small tables are faster in one process:
# a cluster pays if the rows do not fit into one machine, or are on it already.
