"""How many components do I need?
=================================

Spectra with four causes and correlated noise, a tenth of them with a foreign substance.
``n_components="auto"``, the default, counts the variances that stand out of the noise;
a share of the variance is another answer, to another question.
"""

import matplotlib.pyplot as plt
import numpy as np

from trueaxis import DSWL
from trueaxis.datasets import spectra
from trueaxis.methods import PlainPCA

cloud = spectra(n=150, n_features=120, n_components=4, share=0.1)
for asked in ("auto", 0.9, 0.999):
    model, plain = DSWL(asked).fit(cloud.X), PlainPCA(asked).fit(cloud.X)
    print(f"{asked}: DSWL takes {model.n_components_}, PCA {plain.n_components_}")

# %%
# Robust and plain variances of the first twelve components:

robust = DSWL(12).fit(cloud.X).explained_variance_
plain = PlainPCA(12).fit(cloud.X).explained_variance_
figure, ax = plt.subplots(figsize=(5.2, 3.8), layout="constrained")
number = np.arange(1, 13)
ax.semilogy(number, plain, "ks--", mfc="white", label="plain PCA")
ax.semilogy(number, robust, "o-", color="#0072b2", label="DSWL")
ax.axvline(4.5, color="0.6", ls=":", label="four true causes")
ax.set(xticks=number, xlabel="component", ylabel="variance")
ax.set_title("A foreign substance looks like one more component")
ax.legend(frameon=False)

# %%
# What the choice costs: the distance of regular spectra without noise from the
# subspace.

good = cloud.clean[~cloud.is_outlier]
for k in (3, 4, 8):
    model = DSWL(k).fit(cloud.X)
    rest = good - model.inverse_transform(model.transform(good))
    flags = ~model.support_[~cloud.is_outlier]
    error, share = np.sqrt((rest**2).mean()), flags.mean()
    print(f"k = {k}: error {error:.3f}, {share:.1%} of the regular spectra are flagged")

# %%
# "auto" finds the 4 causes. Too few components cost accuracy (3: error 0.196 instead of
# 0.007), too many hardly any (8: 0.006). Plain PCA also takes 4, but one of its
# components is the foreign substance: its scree plot has five, and a share of 0.999 of
# the variance takes 8.
