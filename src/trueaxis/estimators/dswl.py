"""DSWL, the method of the paper: the file to read first.

`Method.fit` checks the parameters, has the engine find a robust start, run Algorithm 1
and reweight, and stores the outcome.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from trueaxis._engine.dswl.recipe import DSWLRecipe
from trueaxis._engine.fit import Recipe
from trueaxis._validation import validate_tau, warn
from trueaxis.estimators.method import IterativeMethod
from trueaxis.estimators.parameters import checked, choice, flag, number


def _check_tau(name: str, value: Any) -> None:
    validate_tau(value)


@dataclass(eq=False, repr=False, kw_only=True)
class DSWL(IterativeMethod):
    """Robust PCA by discriminant sample weight learning.

    Every row gets a weight from three views: its squared distance v from the center
    inside the principal subspace, its squared distance e off it, and d = v + e,

        w = exp(-(v / (n tau_a) + e / (n tau_b) + d / (n tau_c))), scaled to sum 1.

    The weights give a center (weighted mean) and a subspace (leading eigenvectors of
    the weighted scatter), these give new weights, and so on: Algorithm 1 of the paper.
    By default it starts robustly, its temperatures are calibrated by `trust`, and a
    last stage keeps all rows within cut-offs, so that clean data lose next to nothing.

    Parameters
    ----------
    n_components : int, float, "auto" or None, default="auto"
        Number of components. A float in (0, 1) asks for the least number whose robust
        variance reaches that share; "auto" for the components above the noise (the
        hard threshold of Gavish and Donoho, 2014, on the robust variances, at most one
        component per five regular rows); None for all, min(n, D).
    trust : float in (0, 1], default=0.5
        Share of rows that may carry the weights (their perplexity over n), but at least
        2 (k + 1) rows. 0.5 withstands nearly half of the rows being bad. If more
        components are asked for, rows are weighed and judged with as many as fit that,
        and those kept give all of them.
    tau : "auto" or tuple of three floats, default="auto"
        The paper's temperatures (tau_a, tau_b, tau_c), in squared units of X over n.
        "auto" calibrates them by `trust`. Only 1/tau_a + 1/tau_c and 1/tau_b + 1/tau_c
        matter; the objective never falls if tau_b <= tau_a.
    init : {"auto", "uniform"}, default="auto"
        Robust start (Stahel-Donoho outlyingness; a group of rows that stands apart is
        set aside if the rest then looks like one cloud), or the paper's equal weights.
    reweight : bool, default=True
        Whether to finish with the rows within cut-offs. With False the result is the
        fixed point of Algorithm 1.
    max_iter : int, default=200
        Most iterations of Algorithm 1.
    tol : float, default=1e-6
        Algorithm 1 stops when the subspace (rms of the sines) and the objective change
        by less. Where the last stage decides anyhow, less will do: the root of `tol` in
        100 dimensions and more (the cube root there, after a group that bent an axis
        was set apart) or when `max_iter` is reached, 1e-4 on a sample.
    random_state : int, RandomState instance or None, default=0
        Seeds the directions of the start and the sample on which large data start.

    Attributes
    ----------
    components_ : ndarray of shape (n_components_, D)
        Principal axes; the loading of largest size of each is positive.
    mean_ : ndarray of shape (D,)
        Robust center.
    explained_variance_ : ndarray of shape (n_components_,)
        Variances of regular rows along the axes (with `reweight=False` the paper's:
        weighted, and so smaller).
    explained_variance_ratio_ : ndarray of shape (n_components_,)
        The same as shares of the variance in all directions.
    noise_variance_ : float
        Mean variance of regular rows in the directions left out.
    n_components_ : int
    n_samples_ : float
        Number of rows, repetitions counted.
    weights_ : ndarray of shape (n,)
        Learned weights, sample weights included; they sum to 1. 0 for rows that were
        set aside as a group.
    support_ : ndarray of shape (n,), bool
        Regular rows: within both cut-offs, seen without their own part in the fit
        (which is next to nothing in large data), of a weight above 0, and in no group
        that was set aside. Those near the subspace give `mean_` and the variances.
    tau_ : tuple of three floats
        The temperatures used.
    trust_ : float
        Perplexity of `weights_` over n; below `trust` if a group was set aside.
    objective_ : float
        ln sum exp(-(...)), which Algorithm 1 climbs, over all rows.
    history_ : dict of ndarray
        "objective", "change" of the subspace and "effective" sample size for every
        iteration (with `reweight=True` on the sample that large data start on).
    n_iter_ : int
    converged_ : bool
    cutoffs_ : Distances
        Largest score and orthogonal distance of a regular row.
    offset_ : float
        `decision_function` is `score_samples` minus this, -1.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (D,)
        If X had names for its columns.

    Notes
    -----
    ``DSWL(k, tau=(a, b, c), init="uniform", reweight=False)`` is the paper's algorithm
    to the letter. Data of more than 4000 rows start on a random sample; passes over all
    rows then give weights, subspace and verdicts.

    References
    ----------
    Y. Deng, K. Hu, B. Li, Y. Zhang: Robust Principal Component Analysis via
    Discriminant Sample Weight Learning.

    Examples
    --------
    >>> from trueaxis import DSWL
    >>> from trueaxis.datasets import planted
    >>> cloud = planted("ocs", share=0.3)
    >>> model = DSWL(n_components=3).fit(cloud.X)
    >>> bool(model.support_[cloud.is_outlier].any())
    False
    >>> model.transform(cloud.X).shape
    (500, 3)
    >>> model.predict(cloud.X[-2:])
    array([-1, -1])
    """

    trust: float = number(0.5, 0, 1)
    tau: Literal["auto"] | tuple[float, float, float] = checked("auto", _check_tau)
    init: Literal["auto", "uniform"] = choice("auto", "uniform")
    reweight: bool = flag(True)

    _own_attributes: ClassVar[frozenset[str]] = frozenset(
        {"objective_", "tau_", "trust_"}
    )

    def _recipe(self) -> Recipe:
        tau = validate_tau(self.tau)
        if tau is not None and tau[1] > tau[0]:
            warn(
                f"tau_b={tau[1]:g} is above tau_a={tau[0]:g}: the objective may fall "
                "and the iteration cycle. Choose tau_b <= tau_a."
            )
        return DSWLRecipe(
            trust=self.trust,
            tau=tau,
            init=self.init,
            reweight=bool(self.reweight),
            max_iter=self.max_iter,
            tol=self.tol,
        )
