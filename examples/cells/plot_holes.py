"""How many holes can a table have?
===================================

A table of 300 x 15 with 3 components, a tenth of its rows bad. A growing share of its
cells is missing at random. DSWL takes holes as they are; the usual way is to fill them
with the median and to hope.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.linalg import subspace_angles
from sklearn.decomposition import PCA
from sklearn.impute import SimpleImputer

from trueaxis import DSWL
from trueaxis.datasets import planted

cloud = planted("ocs", n=300, n_features=15, share=0.1)
rng = np.random.default_rng(0)
order = rng.random(cloud.X.shape)
shares = [0.0, 0.1, 0.2, 0.3, 0.4, 0.5]
curves = {"DSWL": [], "median, then DSWL": [], "median, then PCA": []}


def angle(model):
    return np.degrees(subspace_angles(model.components_.T, cloud.components.T).max())


for share in shares:
    X = np.where(order < share, np.nan, cloud.X)
    filled = SimpleImputer(strategy="median").fit_transform(X)
    fits = DSWL(3).fit(X), DSWL(3).fit(filled), PCA(3).fit(filled)
    for name, model in zip(curves, fits, strict=True):
        curves[name].append(angle(model))
    if share in (0.1, 0.4):
        holes = np.isnan(X) & ~cloud.is_outlier[:, None]
        for name, values in (("DSWL", fits[0].repair(X)), ("median", filled)):
            error = np.sqrt(np.mean((values - cloud.X)[holes] ** 2))
            print(f"{share:.0%} missing: cells filled by {name} are off by {error:.2f}")
for name, values in curves.items():
    print(
        name,
        *(f"{share:.0%}: {a:.0f}" for share, a in zip(shares, values, strict=True)),
        sep=", ",
    )

figure, ax = plt.subplots(figsize=(5.2, 3.8), layout="constrained")
for (name, values), look in zip(curves.items(), ("o-", "s--", "^:"), strict=True):
    ax.plot(shares, values, look, label=name)
ax.set(xlabel="share of missing cells", ylabel="angle to the true axes (degrees)")
ax.set(title="Holes: what filling with the median costs", ylim=(0, 95))
ax.legend(frameon=False, loc="center right")

# %%
# Up to half, if they are at random: DSWL is 3 degrees off with 40% missing, 4 with 50%.
# The cells that it fills are off by 0.36 to 0.39, near the noise, the median's by 1.07
# and more. Median and DSWL give 14 and 24, and plain PCA is lost with or without holes
# (90 at 0%), because of the bad rows. Holes that hide what is large are another matter:
# then no filling is right.
