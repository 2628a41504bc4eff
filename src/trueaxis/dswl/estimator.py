"""DSWL, the method of the paper and the default of this package.

`Method.fit` checks the parameters, has the engine find a robust start, run Algorithm 1
and reweight, and stores the result.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from trueaxis._validation import make_rng, raw_rows, validate_flag, validate_tau, warn
from trueaxis.base import IterativeMethod, checked, flag, number
from trueaxis.cells.factors import FactorModel
from trueaxis.cells.learn import FEWEST_ROWS, learn_from_rows
from trueaxis.cells.model import CellModel, RememberedRepair
from trueaxis.core.problem import FillingCovariance
from trueaxis.core.recipes import Recipe
from trueaxis.data.dask import refuse_frames
from trueaxis.data.rows import Rows
from trueaxis.data.threads import ignore_float_errors
from trueaxis.data.transformed import TransformedRows
from trueaxis.dswl.full_fit import DSWLRecipe

NOISE_FLOOR = 1e-12  # share of the variance that is noise, for rows without any
NO_VARIANCE = 1e-150  # stands for the variance of rows without any


def _check_tau(name: str, value: Any) -> None:
    validate_tau(value)


@dataclass(eq=False, repr=False, kw_only=True)
class DSWL(IterativeMethod):
    """Robust PCA by discriminant sample weight learning.

    The weight of a row depends on its squared distance v from the center inside the
    principal subspace, its squared distance e from the subspace, and d = v + e::

        w = exp(-(v / (n tau_a) + e / (n tau_b) + d / (n tau_c)))

    scaled to sum to 1. Algorithm 1 of the paper alternates two steps: the weights
    determine a center (weighted mean) and a subspace (leading eigenvectors of the
    weighted scatter), and these determine new weights. By default it starts robustly,
    `trust` calibrates the temperatures, and a final stage refits with all rows that
    look regular, so that almost nothing is lost on clean data. The null distribution of
    their distances then gives every row a p-value, from which all verdicts follow.

    Parameters
    ----------
    n_components : int, float, "auto" or None, default="auto"
        Number of components. A float in (0, 1) selects the smallest number whose robust
        variance reaches that share (of 20 and more, up to 5 % too many); "auto" the
        components above the noise, white or correlated, by the robust variances (see
        docs/method.md); None all of them, min(n, D).
    trust : float in (0, 1], default=0.5
        Effective share of the rows used: the perplexity of the weights over n, but at
        least 2 (k + 1) rows. 0.5 withstands nearly half of the rows being bad. If this
        is too few rows for the number of components, rows are weighted and judged with
        fewer components, and the rows kept then determine all of them.
    tau : "auto" or tuple of three floats, default="auto"
        Given the paper's temperatures (tau_a, tau_b, tau_c), in squared units of X
        divided by n, the fit is exactly the paper's Algorithm 1: from equal weights to
        its fixed point, without later stages; `trust` is then ignored. Only 1/tau_a +
        1/tau_c and 1/tau_b + 1/tau_c matter; the objective never falls if tau_b <=
        tau_a. "auto" starts robustly, from Stahel-Donoho outlyingness, setting a
        separate group of rows aside if the rest then looks like one cloud; calibrates
        the temperatures to reach `trust`; and refits with the rows that look regular.
    cells : bool, default=False
        Whether to look for wrong cells in rows that are otherwise good, and to replace
        them by values that would fit before the rows are fitted and judged. Missing
        cells (NaN) are always filled in this way.
    max_iter : int, default=200
        Maximum number of iterations of Algorithm 1.
    tol : float, default=1e-6
        Tolerance of Algorithm 1: it stops when both the subspace (root mean square of
        the sines of its angles) and the objective change by less. If a later stage
        corrects the answer, or a sample stands for all rows, the cube root of `tol`
        suffices.
    random_state : int, RandomState instance or None, default=0
        Seed of the sample used for large data, of more than 4000 rows and more than 4
        rows per column. Fits to smaller data do not depend on it.
    level : float in (0, 0.5], default=0.025
        Expected share of regular rows that are flagged: a row is an outlier if its
        p-value is smaller. Neither the subspace nor `score_samples` depends on it.
    contamination : float in (0, 0.5], optional
        Share of all rows to flag, if known; `level` is then ignored.

    Attributes
    ----------
    components_ : ndarray of shape (n_components_, D)
        Principal axes. The largest loading of each axis in absolute value is positive.
    loadings_ : ndarray of shape (n_components_, D)
        Axes times the standard deviations along them.
    singular_values_ : ndarray of shape (n_components_,)
        Roots of (n - 1) times the variances along the axes.
    mean_ : ndarray of shape (D,)
        Robust center.
    explained_variance_ : ndarray of shape (n_components_,)
        Variances of the regular rows along the axes. With `tau` given, these are the
        weighted variances of the paper, which are smaller.
    explained_variance_ratio_ : ndarray of shape (n_components_,)
        Variances along the axes as shares of the total variance.
    noise_variance_ : float
        Mean variance of the regular rows in the remaining directions.
    n_components_ : int
        Number of components.
    n_samples_ : float
        Number of rows, repetitions included.
    weights_ : ndarray of shape (n,)
        Learned weights, sample weights included; they sum to 1. Rows that were set
        aside as a group have weight 0.
    support_ : ndarray of shape (n,), bool
        Regular rows: the answer of `predict` for the rows of the fit.
    tau_ : tuple of three floats
        The temperatures used.
    trust_ : float
        Perplexity of `weights_` over n; below `trust` if a group was set aside.
    objective_ : float
        The objective that Algorithm 1 increases, ln sum exp(-(...)), over all rows.
    history_ : dict of ndarray
        For every iteration the "objective", the "change" of the subspace, and the
        "effective" sample size (of large data on the sample, unless `tau` is given).
    n_iter_ : int
        Number of iterations.
    converged_ : bool
        Whether the iterations converged.
    cutoffs_ : Distances
        Largest score distance and orthogonal distance of a regular row.
    offset_ : float
        `decision_function` is `score_samples` minus `offset_`, the logarithm of the
        level to base 10.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : ndarray of shape (D,)
        Names of the columns, if X has names that are all strings.

    Notes
    -----
    ``DSWL(k, tau=(a, b, c))`` is exactly the algorithm of the paper. Otherwise, with
    more than 4000 rows, the fit starts on a random sample; passes over all rows then
    give the weights, the subspace and the regular rows.

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
    cells: bool = flag(False)

    _own_attributes: ClassVar[frozenset[str]] = frozenset(
        {"objective_", "tau_", "trust_", "_cells"}
    )

    _takes_missing: ClassVar[bool] = True

    @ignore_float_errors
    def repair(self, X: ArrayLike, *, wrong: bool = True) -> NDArray[Any]:
        """Fill missing cells, and replace wrong cells by the values that would fit.

        Rows that are outliers even then keep their cells, except for missing ones. Only
        models that were fitted with ``cells=True`` know which cells are wrong.

        Parameters
        ----------
        X : array-like of shape (n, D)
            Rows of the fit, or new ones, with NaN for missing cells.
        wrong : bool, default=True
            Whether to replace wrong cells. If False, missing cells are filled, and all
            others stay as they are.

        Returns
        -------
        ndarray of shape (n, D)
        """
        check_is_fitted(self, "components_")
        validate_flag("wrong", wrong)
        verdicts, cells = self._support_kernel(), self._repair()

        @ignore_float_errors
        def repair(block: NDArray[Any]) -> NDArray[Any]:
            if not wrong:
                return cells.impute(block)
            repaired = cells(block)
            regular = verdicts.absorb(verdicts.start(), repaired, 0)[0]
            if cells.wrong is None or regular.all():
                return repaired
            kept = ~regular[:, None] & ~np.isnan(block)
            return np.where(kept, block, repaired)

        with raw_rows(self, X) as rows:
            if rows.lazy:
                refuse_frames(self)
            changed: NDArray[Any] = rows.map(repair, rows.shape[1])
            return changed

    @ignore_float_errors
    def wrong_cells(self, X: ArrayLike, *, missing: bool = False) -> Any:
        """List the wrong cells of rows, with the values that would fit.

        Only models that were fitted with ``cells=True`` know which cells are wrong.

        Parameters
        ----------
        X : array-like of shape (n, D)
            Rows of the fit, or new ones.
        missing : bool, default=False
            Whether to list missing cells as well.

        Returns
        -------
        pandas.DataFrame, or ndarray with named fields if pandas is not installed
            See `trueaxis.diagnostics.cell_table`.
        """
        # Imported here, because diagnostics import the estimators.
        from trueaxis.diagnostics import cell_table

        check_is_fitted(self, "components_")
        validate_flag("missing", missing)
        if self._repair().wrong is None and not missing:
            raise ValueError(
                "The model was fitted without looking for wrong cells: fit "
                "DSWL(cells=True) on at least 20 rows, or pass missing=True to list "
                "missing cells only."
            )
        return cell_table(self, X, missing=missing)

    def _repair(self) -> CellModel:
        """Return the model that fills missing cells and replaces wrong ones."""
        if self._cells:
            return CellModel.from_arrays(self._cells)
        # Fitted on complete rows: missing cells are predicted by the components.
        least = max(NOISE_FLOOR * self._total_variance, NO_VARIANCE)
        noise = max(self.noise_variance_, least)
        along = np.maximum(self.explained_variance_.astype(float) - noise, 0.0)
        axes = self.components_.astype(float)
        unit = np.sqrt(along @ np.square(axes) + noise)
        loadings = (axes * np.sqrt(along)[:, None]).T / unit[:, None]
        factors = FactorModel(np.zeros(len(unit)), loadings, noise / np.square(unit))
        return CellModel(self.mean_.astype(float), unit, factors)

    def _complete(
        self,
        rows: Rows,
        counts: NDArray[np.float64] | None,
        recipe: Recipe,
        missing_ok: bool,
    ) -> tuple[Rows, FillingCovariance | None]:
        """Return rows with cells filled and wrong ones replaced; see `Method`."""
        # Empty if the rows are complete and wrong cells are not looked for.
        self._cells: dict[str, NDArray[Any]] = {}
        if not missing_ok and not bool(self.cells):
            return rows, None
        learned = learn_from_rows(
            rows,
            counts,
            make_rng(self.random_state),
            recipe,
            self.n_components,
            find_wrong=bool(self.cells),
            names=getattr(self, "feature_names_in_", None),
        )
        if self.cells and learned.model.wrong is None:
            warn(
                f"DSWL(cells=True): {rows.shape[0]} rows are too few to say which "
                f"cells are wrong, which takes at least {FEWEST_ROWS}. Missing cells "
                "are filled; wrong cells are not looked for."
            )
        self._cells = learned.model.to_arrays()
        change: Any = learned.model
        if rows.in_memory:
            change = RememberedRepair(learned.model)
        return TransformedRows(rows, change), learned.filling

    def _recipe(self) -> Recipe:
        tau = validate_tau(self.tau)
        if tau is not None and tau[1] > tau[0]:
            warn(
                f"tau_b={tau[1]:g} is above tau_a={tau[0]:g}: the objective may fall, "
                "and the iteration may cycle. Choose tau_b <= tau_a."
            )
        return DSWLRecipe(
            trust=self.trust,
            tau=tau,
            max_iter=self.max_iter,
            tol=self.tol,
        )
