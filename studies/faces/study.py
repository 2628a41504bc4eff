"""Study of face images: axes learned from images, some of which are occluded.

There are ten folds. A fifth of the training images has a block of noise; test images
are clean. How well does the subspace reconstruct images that were not used for fitting?

Methods are compared with two ideals. The oracle is plain PCA on the training images
that are not occluded: the result of a method that recognizes every bad image and loses
no good one. "Nothing occluded" is plain PCA on all training images before the damage.
No method that weights whole images can be expected to reach it, as a fifth of the
images is lost.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from studies.data import FACES
from studies.data.loading import split_available
from studies.faces import figures as faces_figures
from studies.faces import page as faces_page
from studies.faces.measures import (
    Fold,
    fewest_clean,
    fold_of,
    mean_error,
    pictures,
    psnr,
    rebuilt,
)
from studies.faces.methods import (
    NESTED,
    TITLES,
    RelativeTemperatures,
    build,
    chosen_heat,
    fit,
    published,
)
from studies.study import Key, Results, Row, TaskOutcome
from trueaxis.dswl.estimator import DSWL

QUICK = ("yale",)
SHOWN_K = 100  # number of components for weights and images in figures
SHOWN_FOLD = 0


@dataclass(frozen=True)
class FacesStudy:
    """Mean reconstruction error, PSNR and weights on face images.

    Attributes
    ----------
    sets : tuple of str
        Names in `studies.data.FACES`.
    folds : int
        Number of folds that the images are split into.
    run_folds : int
        Number of folds to run, starting with the first.
    yaleb_folds : int
        Number of folds to run on Extended Yale B, whose fits take ten times as long as
        those of the other sets.
    ks : tuple of int
        Numbers of components. Those that reach the number of clean training images in
        a fold are left out: Yale ends at 110.
    share : float
        Share of the training images that are occluded.
    block : int
        Number of values of k in one task.
    seed : int
    data_home : str or None
        Folder of the images, see `studies.data.load`.
    missing : tuple of str
        Sets that were left out because they are not available.
    """

    sets: tuple[str, ...] = FACES
    folds: int = 10
    run_folds: int = 10
    yaleb_folds: int = 2
    ks: tuple[int, ...] = tuple(range(10, 201, 10))
    share: float = 0.2
    block: int = 5
    seed: int = 0
    data_home: str | None = None
    missing: tuple[str, ...] = ()

    name = "faces"

    @classmethod
    def prepare(
        cls,
        *,
        data_home: str | Path | None = None,
        download: bool = True,
        quick: bool = False,
    ) -> FacesStudy:
        """Return a study of the sets that are available.

        Parameters
        ----------
        data_home : str or Path, optional
            Folder of the images.
        download : bool
            Whether to download missing sets.
        quick : bool
            Whether to use only one set, two folds and two numbers of components, which
            takes seconds.

        Returns
        -------
        FacesStudy
        """
        home = None if data_home is None else str(data_home)
        sets, missing = split_available(QUICK if quick else FACES, home, download)
        if quick:
            return cls(sets, run_folds=2, ks=(20, 100), data_home=home, missing=missing)
        return cls(sets, data_home=home, missing=missing)

    def tasks(self) -> list[Key]:
        """Return the tasks: set, fold, method and block of numbers of components."""
        return [
            (name, f"fold{fold}", method, f"block{block}")
            for name in self.sets
            for fold in range(self.n_run(name))
            for method in TITLES
            for block in range(self._n_blocks(name, method))
        ]

    def n_run(self, name: str) -> int:
        """Return the number of folds of a set to run."""
        most = min(self.folds, self.run_folds)
        return min(most, self.yaleb_folds) if name == "yaleb" else most

    def ks_of(self, name: str) -> tuple[int, ...]:
        """Return the numbers of components that the oracle can have."""
        n = len(pictures(name, self.data_home))
        clean = fewest_clean(n, self.folds, self.share)
        return tuple(k for k in self.ks if k < clean)

    def _n_blocks(self, name: str, method: str) -> int:
        if method in NESTED:
            return 1
        return -(-len(self.ks_of(name)) // self.block)

    def fold(self, name: str, fold: int) -> Fold:
        """Return the images of one fold."""
        return fold_of(
            pictures(name, self.data_home),
            name,
            fold,
            folds=self.folds,
            seed=self.seed,
            share=self.share,
        )

    def run(self, task: Key) -> TaskOutcome:
        """Fit one method to one fold with several numbers of components."""
        name, fold, method = task[0], int(task[1][4:]), task[2]
        data, ks = self.fold(name, fold), self.ks_of(name)
        if method not in NESTED:
            first = self.block * int(task[3][5:])
            ks = ks[first : first + self.block]
        rows: list[Row] = []
        arrays: dict[str, NDArray[Any]] = {}
        heat = self._heat(name) if method == "dswl-published" else None
        for k, model in _fits(method, data, ks, heat):
            shown = rebuilt(data.test, model.mean_, model.components_[:k])
            row = {"set": name, "fold": fold, "method": method, "k": k}
            row["error"] = mean_error(data.test, shown)
            row["psnr"] = float(psnr(data.test, shown).mean())
            row["setting"] = "" if heat is None else f"{heat.shape} {heat.scale:g}"
            rows.append(row | _support(method, model, data))
            if k == SHOWN_K and fold == SHOWN_FOLD:
                arrays = _figure_data(model, data, shown)
        return TaskOutcome(rows, arrays)

    def _heat(self, name: str) -> RelativeTemperatures:
        return chosen_heat(name, self.data_home, self.folds, self.seed, self.share)

    def figures(self, results: Results, folder: Path) -> list[Path]:
        """Draw the figures; those that show faces go to <folder>/private.

        The licenses of the data sets do not permit publishing the images, so these
        figures must not be copied into the documentation.
        """
        folds = {name: self.fold(name, SHOWN_FOLD) for name in self.sets}
        return faces_figures.draw(results, folds, folder)

    def section(self, results: Results) -> str:
        """Return the section of the page: protocol, verdicts, tables."""
        return faces_page.section(results, self.folds)


def _fits(
    method: str, data: Fold, ks: tuple[int, ...], heat: RelativeTemperatures | None
) -> Iterator[tuple[int, Any]]:
    X = data.train
    if method == "oracle":
        X = X[~data.occluded]
    elif method == "intact":
        X = data.intact
    elif method == "kept":
        X = X[fit(DSWL(), X).support_]
    if method in NESTED:
        model = fit(build(method, min(max(ks), len(X) - 1)), X)
        yield from ((k, model) for k in ks)
        return
    if heat is None:
        yield from ((k, fit(build(method, k), X)) for k in ks)
        return
    plain = fit(build("pca", max(ks)), X)
    yield from ((k, fit(published(X, plain, k, heat), X)) for k in ks)


def _support(method: str, model: Any, data: Fold) -> Row:
    """Count errors of the support; nested fits do not have one for each k."""
    row: Row = {"converged": bool(model.converged_)}
    if method in NESTED:
        return row | {"occluded_kept": None, "clean_dropped": None}
    kept = model.support_
    row["occluded_kept"] = int(kept[data.occluded].sum())
    row["clean_dropped"] = int((~kept[~data.occluded]).sum())
    return row


def _figure_data(
    model: Any, data: Fold, shown: NDArray[Any]
) -> dict[str, NDArray[Any]]:
    """Return the weights and the first test image; test images are in random order."""
    arrays = {
        "image": shown[0],
        "psnr": psnr(data.test[:1], shown[:1]),
        "occluded": data.occluded,
    }
    if hasattr(model, "weights_"):
        arrays["weights"] = np.asarray(model.weights_)
    return arrays
