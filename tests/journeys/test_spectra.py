"""A laboratory: more wavelengths than samples."""

import numpy as np
from scipy.linalg import subspace_angles

from trueaxis import DSWL
from trueaxis.datasets import spectra
from trueaxis.methods import PlainPCA


def angle(model, lab):
    return np.degrees(subspace_angles(model.components_.T, lab.components.T)[0])


def test_a_laboratory_finds_the_contaminated_samples():
    """80 spectra of 400 wavelengths; some contain a substance that should not be there.

    They are found, the axes are those of the clean mixtures, and the wavelengths that
    are blamed are those where the foreign substance absorbs.
    """
    lab = spectra(n=80, n_features=400, share=0.15)
    model = DSWL(4).fit(lab.X)
    assert model.transform(lab.X).shape == (80, 4)
    assert (model.predict(lab.X)[lab.is_outlier] == -1).all()
    assert (model.predict(lab.X)[~lab.is_outlier] == -1).mean() < 0.15
    assert angle(model, lab) < 15 < angle(PlainPCA(4).fit(lab.X), lab)

    row = int(np.flatnonzero(lab.is_outlier)[0])
    table = model.explain(lab.X, rows=[row])
    foreign = np.abs(lab.X[row] - lab.clean[row])
    blamed = int(str(table["column"].iloc[table["share"].argmax()]).removeprefix("x"))
    assert foreign[blamed] > 0.3 * foreign.max()
    near = np.abs(model.inverse_transform(model.transform(lab.X)) - lab.X).mean(axis=1)
    assert near[lab.is_outlier].min() > near[~lab.is_outlier].max()
    assert near[~lab.is_outlier].max() < 0.02 * np.abs(lab.X).mean()
