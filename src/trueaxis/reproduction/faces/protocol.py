"""How the experiment on faces was done, in words for the page."""

from __future__ import annotations

from collections.abc import Iterable

from trueaxis.reproduction.faces import printed as printed
from trueaxis.reproduction.faces.verdicts import FaceMeasurements
from trueaxis.reproduction.study import Row

INTRODUCTION = """\
## Faces

Axes are learnt from images of which a fifth has a block of black and white noise
(16 x 16 of 32 x 32 pixels); how well do they show clean images that they have not seen?
Images are split into {folds} shuffled parts, each tested in turn; error is the paper's,
the mean length of x - m - PP'(x - m) over test images, with the centre m of each method
(plain mean, or learnt by RPCA-OM and DSWL). PSNR is the mean over test images (white =
255). UMIST has 565 images here, without the 10 that occur twice (the paper has 564).

{runs}
Where these are fewer than {folds}, the first ones were run, to save time: fits of
Extended Yale B take ten times as long as the others. Yale has too few images for more
components.

Ideals: the **oracle** is plain PCA on the training images that are not occluded, all
that a method can gain by recognising the bad images; **nothing occluded** is plain PCA
on all training images before the damage, which no weighting of whole images can be
expected to reach, as it has a quarter more images.

**PCA on what DSWL keeps** is no contender: automatic DSWL with its own number of
components says which images are regular, and plain PCA of these has k components. It
was added after the first results, to tell errors of recognition at large k from others.

"DSWL, published" is Algorithm 1 from equal weights, with temperatures from a grid of
ten (three alike, or each in the unit of its view; 0.5 to 8 medians), chosen once per
set on the damaged training images of the first fold: those that rebuild the better half
of held-out training images best. Chosen were: {heats}.
"DSWL, automatic" is the default, with nothing chosen. The other methods have their
defaults. All but automatic DSWL stop at a change of 1e-3, to save time: that moves
their errors by 0.15 % at most.

Rules: folds are compared in pairs. A claim "holds" if the means over folds say so (the
numbers tell whether the nearest rival is off by more than chance); it "does not hold"
if they say the opposite beyond chance (95 %, Student's t over folds); else it "cannot
be told".
"""


def introduction(tally: FaceMeasurements, rows: Iterable[Row], folds: int) -> str:
    """The protocol, and what the paper leaves open.

    Parameters
    ----------
    tally : FaceMeasurements
    rows : iterable of dict
        All measurements.
    folds : int
        Parts that the images were split into.

    Returns
    -------
    str
    """
    return INTRODUCTION.format(folds=folds, runs=_runs(tally), heats=_heats(rows))


def _runs(tally: FaceMeasurements) -> str:
    words = []
    for name in tally.sets:
        ks = tally.ks(name)
        n = len(tally.of(name, "pca", ks[0]))
        words.append(f"{printed.TITLES[name]} {n} (k = {ks[0]} to {ks[-1]})")
    return f"Folds run: {', '.join(words)}."


def _heats(rows: Iterable[Row]) -> str:
    found = {
        row["set"]: row["setting"] for row in rows if row["method"] == "dswl-published"
    }
    return ", ".join(f"{printed.TITLES[name]}: {found[name]}" for name in found)
