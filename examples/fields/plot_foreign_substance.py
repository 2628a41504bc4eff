"""Is there something in these samples that should not be?
==========================================================

Spectra of mixtures of three substances. A fifth of the samples also contains a foreign
one. There are more wavelengths than samples, and nobody has a spectrum of the foreign
substance to look for.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import PCA

from trueaxis import DSWL
from trueaxis.datasets import spectra

cloud = spectra(n=80, n_features=150, n_components=4, share=0.2, random_state=3)
model = DSWL(4).fit(cloud.X)
bad = ~model.support_
print(
    f"{(bad & cloud.is_outlier).sum()} of {cloud.is_outlier.sum()} are found,", end=" "
)
print(f"and {(bad & ~cloud.is_outlier).sum()} of {(~cloud.is_outlier).sum()} others")

# %%
# What the components cannot explain in the flagged samples, on average, is the spectrum
# of the foreign substance. Plain PCA has spent a component on it instead.

figure, ax = plt.subplots(figsize=(5.2, 3.8), layout="constrained")
regular = cloud.clean[~cloud.is_outlier]
basis = cloud.components
foreign = (cloud.clean[cloud.is_outlier] - cloud.mean).mean(axis=0)
foreign -= foreign @ basis.T @ basis
ax.plot(foreign, "k:", lw=2, label="truth")
for name, fit, look in (("DSWL", model, "-"), ("PCA", PCA(4).fit(cloud.X), "--")):
    rest = cloud.X[bad] - fit.inverse_transform(fit.transform(cloud.X[bad]))
    match = np.corrcoef(rest.mean(axis=0), foreign)[0, 1]
    print(f"{name}: what is left of the flagged samples correlates {match:.2f}")
    ax.plot(rest.mean(axis=0), look, lw=1.4, label=name)
ax.set(xlabel="wavelength (number)", ylabel="mean residual of flagged samples")
ax.set_title("The foreign substance is what the components leave")
ax.legend(frameon=False)

# %%
# Yes: 16 of the 16 samples are found, and 2 of 64 others are flagged as well. What DSWL
# leaves of the flagged samples correlates with the true foreign spectrum by 1.00: you
# can look it up in a library. Plain PCA has made it a component, and its residual
# (0.06) tells nothing.
