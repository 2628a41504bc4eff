"""Description of the experiment on faces, for the page."""

from __future__ import annotations

from collections.abc import Iterable

from studies.faces import printed
from studies.faces.verdicts import FaceMeasurements
from studies.study import Row

INTRODUCTION = """\
## Faces

Axes are learned from images of which a fifth has a block of black and white noise
(16 x 16 of 32 x 32 pixels). How well do they reconstruct clean images that were not
used for fitting? Images are split into {folds} shuffled folds, each tested in turn. The
error is the paper's: the mean length of x - m - PP'(x - m) over test images, where m is
the center of the method (the plain mean, or learned by RPCA-OM and DSWL). PSNR is the
mean over test images (white = 255). UMIST has 565 images here, without 10 duplicates
(the paper has 564).

{runs}
Where these are fewer than {folds}, the first ones were run to save time: fits of
Extended Yale B take ten times as long as the others. Yale has too few images for more
components.

Ideals: the **oracle** is plain PCA on the training images that are not occluded, which
is the best that recognizing the bad images can achieve. **Nothing occluded** is plain
PCA on all training images before the damage. No method that weights whole images can be
expected to reach it, as it has a quarter more images.

**PCA on images kept by DSWL** is not one of the compared methods: it is plain PCA with
k components on the images that automatic DSWL, with its own number of components, calls
regular. It was added after the first results, to separate errors of recognition at
large k from others.

"DSWL, published" is Algorithm 1, started from equal weights, with temperatures from a
grid of ten (the same for all three, or each in its own unit; 0.5 to 8 medians). They
are chosen once per set, on the damaged training images of the first fold, as those that
reconstruct the better half of held-out training images best. Chosen were: {heats}.
"DSWL, automatic" is the default, without any tuning. The other methods use their
defaults. All but automatic DSWL stop at a change of 1e-3 to save time, which changes
their errors by at most 0.15 %.

Rules: folds are compared in pairs. A claim "holds" if the means over folds agree with
it (the numbers show whether the difference from the nearest rival is beyond chance). It
"does not hold" if they contradict it beyond chance (95 %, Student's t over folds).
Otherwise it is "undecided".
"""


def introduction(data: FaceMeasurements, rows: Iterable[Row], folds: int) -> str:
    """Return the description of the protocol, including what the paper leaves open.

    Parameters
    ----------
    data : FaceMeasurements
    rows : iterable of dict
        All measurements.
    folds : int
        Number of folds that the images were split into.

    Returns
    -------
    str
    """
    return INTRODUCTION.format(folds=folds, runs=_runs(data), heats=_heats(rows))


def _runs(data: FaceMeasurements) -> str:
    words = []
    for name in data.sets:
        ks = data.ks(name)
        n = len(data.of(name, "pca", ks[0]))
        words.append(f"{printed.TITLES[name]} {n} (k = {ks[0]} to {ks[-1]})")
    return f"Folds run: {', '.join(words)}."


def _heats(rows: Iterable[Row]) -> str:
    settings = {
        row["set"]: row["setting"] for row in rows if row["method"] == "dswl-published"
    }
    return ", ".join(f"{printed.TITLES[name]}: {settings[name]}" for name in settings)
