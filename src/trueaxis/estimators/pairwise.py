"""Weighted PCA: pairs of rows are weighted, not rows."""

from __future__ import annotations

from dataclasses import dataclass

from trueaxis._engine.fit import Recipe
from trueaxis._engine.recipes import PairwiseRecipe
from trueaxis.estimators.method import Method
from trueaxis.estimators.parameters import number


@dataclass(eq=False, repr=False, kw_only=True)
class WeightedPCA(Method):
    """Normalised PCA: pairs of rows count less, the farther they are apart.

    Maximises sum |P(x - x')|^2 / |x - x'|^power over all pairs of rows, in closed form:
    the leading eigenvectors of the weighted scatter of pairs, a global optimum.

    No center is needed to find the subspace; for scores it is the sample mean, and the
    axes are turned so that scores are uncorrelated. Takes time in proportion to n^2.

    Confidence: as published, from memory of the paper (power=1; its supervised form,
    with smaller weights inside classes, is not offered).

    Parameters
    ----------
    power : float in [0, 2], default=1.0
        0 weighs all pairs alike, which is plain PCA.
    max_rows : int, default=20000
        More rows are refused rather than waited for.
    n_components, random_state
        See `Method`.

    References
    ----------
    Y. Koren, L. Carmel (2004): Robust linear dimensionality reduction.

    Examples
    --------
    >>> from trueaxis import WeightedPCA
    >>> from trueaxis.datasets import planted
    >>> WeightedPCA(3).fit(planted("scatter", share=0.1).X).components_.shape
    (3, 20)
    """

    power: float = number(1.0, 0, 2, low_too=True)
    max_rows: int = number(20_000, 2, whole=True)

    def _recipe(self) -> Recipe:
        return PairwiseRecipe(float(self.power), self.max_rows)
