"""Did one plate of a gene experiment go wrong?
===============================================

Expression of 1000 genes in 60 samples: 1000 columns and few rows. Eight samples were on
a plate that was read with another setting, which changes a quarter of the genes.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import PCA

from trueaxis import DSWL

rng = np.random.default_rng(2)
n, genes = 60, 1000
programs = rng.standard_normal((2, genes)) * (rng.random((2, genes)) < 0.3)
X = rng.normal(0, [2, 1], (n, 2)) @ programs + rng.normal(0, 1, (n, genes)) + 8
plate = np.arange(n) >= 52
shifted = rng.random(genes) < 0.25
X[np.ix_(plate, shifted)] += 5.0

plain, model = PCA(2, svd_solver="full").fit(X), DSWL(2).fit(X)
truth = np.linalg.qr(programs.T)[0]
oracle = PCA(2, svd_solver="full").fit(X[~plate])
for name, fit in (("PCA", plain), ("DSWL", model), ("oracle", oracle)):
    angle = np.degrees(np.arccos(np.linalg.svd(fit.components_ @ truth)[1].min()))
    print(f"{name}: {angle:.0f} degrees from the two true programs")
flagged = ~model.support_
print(
    f"{flagged[plate].sum()} of {plate.sum()} samples of the plate are flagged,",
    end=" ",
)
print(f"{flagged[~plate].sum()} of {(~plate).sum()} others")

# %%
# Which genes? Their mean residual in the flagged samples tells.

rest = X[flagged] - model.inverse_transform(model.transform(X[flagged]))
order = np.argsort(-np.abs(rest.mean(axis=0)))[: shifted.sum()]
print(f"{shifted[order].sum()} of the {shifted.sum()} genes named are the shifted ones")

figure, axes = plt.subplots(1, 2, figsize=(5.2, 3.4), layout="constrained")
for ax, (name, fit) in zip(axes, (("PCA", plain), ("DSWL", model)), strict=True):
    Z = fit.transform(X)
    ax.scatter(*Z[~plate].T, s=14, color="0.55", label="other samples")
    ax.scatter(
        *Z[plate].T, s=40, color="#d55e00", marker="^", ec="k", label="the plate"
    )
    ax.set(title=name, xlabel="component 1", ylabel="component 2")
figure.suptitle("Scores: PCA spends a component on the plate")
figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)

# %%
# Yes: 8 of the 8 samples of the plate are flagged and 0 of 52 others, and the 240 genes
# named are the ones that shifted. Plain PCA makes the plate a component (89 degrees).
# DSWL has 14 degrees: no more can be learned from 52 samples about so many genes, as
# the oracle shows (14), plain PCA without the plate.
