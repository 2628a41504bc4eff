"""Methods compared on faces."""

import numpy as np
import pytest

from studies.faces import measures
from studies.faces import methods as faces_methods
from tests.soak.studies.invented_images import invented
from trueaxis.methods import METHODS


@pytest.mark.slow
@pytest.mark.parametrize("method", ["pca", "pca-l1"])
def test_one_fit_serves_every_smaller_number_of_components(method):
    options = {"folds": 10, "seed": 0, "share": 0.2}
    fold = measures.fold_of(invented(), "orl", 0, **options)
    large = faces_methods.build(method, 60).fit(fold.train)
    for k in (1, 7, 30):
        small = faces_methods.build(method, k).fit(fold.train)
        ours = measures.rebuilt(fold.test, large.mean_, large.components_[:k])
        theirs = measures.rebuilt(fold.test, small.mean_, small.components_)
        np.testing.assert_allclose(ours, theirs, atol=1e-6)


def test_temperatures_are_in_units_of_the_data():
    X = invented(60).reshape(60, -1)
    plain, larger = METHODS["pca"](9).fit(X), METHODS["pca"](9).fit(3 * X)
    for shape in faces_methods.SHAPES:
        heat = faces_methods.RelativeTemperatures(shape, 2.0)
        a, b, c = faces_methods.published(X, plain, 5, heat).tau
        assert b <= a
        thrice = faces_methods.published(3 * X, larger, 5, heat).tau
        np.testing.assert_allclose(thrice, np.multiply(9, (a, b, c)))
    e = METHODS["pca"](5).fit(X).distances(X).orthogonal ** 2
    d = ((X - X.mean(axis=0)) ** 2).sum(axis=1)
    np.testing.assert_allclose((b, c), (2 * np.median(e) / 60, 2 * np.median(d) / 60))
