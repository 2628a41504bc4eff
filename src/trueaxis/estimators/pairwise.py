"""Weighted PCA: weights for pairs of rows instead of rows."""

from __future__ import annotations

from dataclasses import dataclass

from trueaxis._engine.fit import Recipe
from trueaxis._engine.recipes import PairwiseRecipe
from trueaxis.estimators.method import Method
from trueaxis.estimators.parameters import number


@dataclass(eq=False, repr=False, kw_only=True)
class WeightedPCA(Method):
    """Normalized PCA: pairs of rows count less the farther apart they are.

    Maximizes ``sum |P(x - x')|^2 / |x - x'|^power`` over all pairs of rows. The leading
    eigenvectors of the weighted scatter of pairs are the global optimum, in closed
    form.

    The subspace does not depend on a center. Scores are centered at the sample mean,
    and the axes are rotated so that scores are uncorrelated. The time is proportional
    to n^2.

    Confidence: as published, from memory of the paper (power=1; its supervised form,
    with smaller weights inside classes, is not implemented).

    Parameters
    ----------
    power : float in [0, 2], default=1.0
        Power of the distances. 0 gives all pairs equal weights, which is plain PCA.
    max_rows : int, default=20000
        Maximum number of rows; beyond it, an error is raised, as the fit would take
        too long.
    n_components, random_state, level, contamination
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

    power: float = number(1.0, 0, 2, include_low=True)
    max_rows: int = number(20_000, 2, whole=True)

    def _recipe(self) -> Recipe:
        return PairwiseRecipe(float(self.power), self.max_rows)
