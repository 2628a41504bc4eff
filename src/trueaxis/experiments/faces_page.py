"""The section of the page on faces; every verdict is computed, see `faces_verdicts`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from trueaxis.experiments import printed_faces as printed
from trueaxis.experiments.faces_methods import COMPARED, RIVALS, TITLES
from trueaxis.experiments.faces_verdicts import (
    Tally,
    Verdict,
    discriminates,
    falling,
    gain_reached,
    highest_psnr,
    lowest,
    near_oracle,
    prefers_occluded,
    refuted,
    shown,
    weights_at,
    wider_gap,
)
from trueaxis.experiments.study import Results

K, WEIGHTS_OF = 100, "orl"  # of the paper's PSNR and weights
SHOWN = (10, 20, 50, 100, 150, 200)
AUTOMATIC, PUBLISHED = "dswl", "dswl-published"
# The paper's own field: without DSWL.
OTHERS = ("pca", "pca-l1", "r1-pca", "l2p-pca", "rpca-om", "rpca-di")

INTRODUCTION = """\
## Faces

Axes are learnt from images of which a fifth has a block of black and white noise
(16 x 16 of 32 x 32 pixels); how well do they show clean images that they have not seen?
Images are split into {folds} shuffled parts, each tested in turn; error is the paper's,
the mean length of x - m - PP'(x - m) over test images, with the centre m of each method
(plain mean, or learnt by RPCA-OM and DSWL). PSNR is the mean over test images (white =
255). UMIST has 565 images here, without the 10 that occur twice (the paper has 564).

{runs}

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
defaults and stop at a change of 1e-3.

Rules: folds are compared in pairs. A claim "holds" if the means over folds say so (the
numbers tell whether the nearest rival is off by more than chance); it "does not hold"
if they say the opposite beyond chance (95 %, Student's t over folds); else it "cannot
be told".
"""


def section(results: Results, folds: int) -> str:
    """Text and tables in Markdown.

    Parameters
    ----------
    results : Results
    folds : int
        Parts that the images were split into.

    Returns
    -------
    str
    """
    tally = Tally(results.rows)
    parts = [
        INTRODUCTION.format(folds=folds, runs=_runs(tally), heats=_heats(results)),
        "### Verdicts on automatic DSWL\n\n" + _aims(tally),
        "### Verdicts on the paper's claims\n\n" + _claims(tally, results),
        f"### PSNR at k = {K}\n\n" + _psnr_table(tally),
        _gain_table(tally),
        "### Mean error over the oracle's",
        *(_error_table(tally, name) for name in tally.sets),
        "### Whom automatic DSWL leaves out\n\n" + _support_table(tally),
        _convergence(results),
    ]
    return "\n\n".join(part.strip() for part in parts) + "\n"


def _runs(tally: Tally) -> str:
    words = []
    for name in tally.sets:
        ks = tally.ks(name)
        n = len(tally.of(name, "pca", ks[0]))
        words.append(f"{printed.TITLES[name]} {n} (k = {ks[0]} to {ks[-1]})")
    return f"Folds run: {', '.join(words)}."


def _heats(results: Results) -> str:
    found = {
        row["set"]: row["setting"] for row in results.rows if row["method"] == PUBLISHED
    }
    return ", ".join(f"{printed.TITLES[name]}: {found[name]}" for name in found)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _verdicts(found: Iterable[tuple[str, str, Verdict]]) -> str:
    rows = [
        (claim, place, f"**{verdict.verdict}**", verdict.why)
        for claim, place, verdict in found
    ]
    return table(("claim", "set", "verdict", "numbers"), rows)


def _each(
    tally: Tally,
    claim: str,
    rule: Callable[[str], Verdict],
    sets: Sequence[str] | None = None,
) -> list[tuple[str, str, Verdict]]:
    wanted = tally.sets if sets is None else sets
    return [
        (claim, printed.TITLES[name], rule(name))
        for name in tally.sets
        if name in wanted
    ]


def _with_psnr(tally: Tally) -> list[str]:
    return [name for name in tally.sets if K in tally.ks(name)]


def _aims(tally: Tally) -> str:
    found = _each(
        tally,
        "lowest error of all robust methods at every k",
        lambda name: lowest(tally, name, AUTOMATIC, RIVALS),
    )
    found += _each(
        tally,
        "within 2 % of the oracle at every k",
        lambda name: near_oracle(tally, name, AUTOMATIC),
    )
    found += _each(
        tally,
        "PSNR above PCA's by the printed gain",
        lambda name: gain_reached(tally, name, AUTOMATIC, K, printed.gain(name)),
        _with_psnr(tally),
    )
    return _verdicts(found)


def _claims(tally: Tally, results: Results) -> str:
    found = _each(tally, "errors fall with k", lambda name: falling(tally, name))
    found += _each(
        tally,
        "published DSWL has the smallest error at every k",
        lambda name: lowest(tally, name, PUBLISHED, OTHERS),
    )
    found += _each(
        tally,
        "RPCA-DI is the best but for DSWL",
        lambda name: _second(tally, name),
        [name for name in tally.sets if name != "yaleb"],
    )
    found += _each(
        tally,
        "RPCA-DI is not the best but for DSWL",
        lambda name: refuted(_second(tally, name)),
        ["yaleb"],
    )
    found += _each(
        tally,
        f"published DSWL has the highest PSNR (k = {K})",
        lambda name: highest_psnr(tally, name, PUBLISHED, OTHERS, K),
        _with_psnr(tally),
    )
    found += _each(
        tally,
        "published DSWL gains the printed dB over PCA",
        lambda name: gain_reached(tally, name, PUBLISHED, K, printed.gain(name)),
        _with_psnr(tally),
    )
    return _verdicts(found + _on_weights(results))


def _second(tally: Tally, name: str) -> Verdict:
    return lowest(tally, name, "rpca-di", [m for m in OTHERS if m != "rpca-di"])


def _on_weights(results: Results) -> list[tuple[str, str, Verdict]]:
    weights = weights_at(results, WEIGHTS_OF)
    if "occluded" not in weights:
        return []
    bad = weights["occluded"]
    place = f"{printed.TITLES[WEIGHTS_OF]}, first fold, k = {K}"
    found = []
    for method in ("rpca-di", PUBLISHED, AUTOMATIC):
        claim = f"weights of {TITLES[method]} are smaller for occluded images"
        found.append((claim, place, discriminates(weights[method], bad)))
    for method in ("l2p-pca", "rpca-om"):
        claim = f"weights of {TITLES[method]} are larger for occluded images"
        found.append((claim, place, prefers_occluded(weights[method], bad)))
    for method in (PUBLISHED, AUTOMATIC):
        claim = f"weights of {TITLES[method]} have a wider gap than those of RPCA-DI"
        verdict = wider_gap(weights[method], weights["rpca-di"], bad)
        found.append((claim, place, verdict))
    return found


def _psnr_table(tally: Tally) -> str:
    sets = _with_psnr(tally)
    rows = []
    for method in TITLES:
        line = [TITLES[method]]
        for name in sets:
            key = "dswl" if method == PUBLISHED else method
            theirs = None if method == AUTOMATIC else printed.PSNR[name].get(key)
            found = tally.of(name, method, K, "psnr")
            line.append("-" if theirs is None else f"{theirs:.2f}")
            line.append(shown(found))
        rows.append(line)
    head = ["dB"]
    for name in sets:
        head += [f"{printed.TITLES[name]}, paper (one image)", "ours"]
    return table(head, rows)


def _gain_table(tally: Tally) -> str:
    methods = (PUBLISHED, AUTOMATIC, "kept", "oracle", "intact")
    rows = []
    for name in _with_psnr(tally):
        line = [printed.TITLES[name], f"{printed.gain(name):.2f}"]
        for method in methods:
            line.append(shown(tally.gain(name, method, K)))
        rows.append(line)
    return table(
        ("gain over PCA in dB", "paper", *(TITLES[method] for method in methods)), rows
    )


def _error_table(tally: Tally, name: str) -> str:
    ks = [k for k in tally.ks(name) if k in SHOWN or k == tally.ks(name)[-1]]
    rows = []
    for method in (*COMPARED, "kept", "intact"):
        cells = []
        for k in ks:
            ratio = (
                tally.of(name, method, k).mean() / tally.of(name, "oracle", k).mean()
            )
            cells.append(f"{ratio:.3f}")
        rows.append([TITLES[method], *cells])
    oracle = [f"{tally.of(name, 'oracle', k).mean():.0f}" for k in ks]
    rows.append(["oracle's error, grey levels", *oracle])
    return table([printed.TITLES[name], *(f"k = {k}" for k in ks)], rows)


def _support_table(tally: Tally) -> str:
    rows = []
    for name in tally.sets:
        for k in (k for k in tally.ks(name) if k in SHOWN or k == tally.ks(name)[-1]):
            kept = tally.of(name, AUTOMATIC, k, "occluded_kept")
            lost = tally.of(name, AUTOMATIC, k, "clean_dropped")
            ratio = tally.ratio(name, AUTOMATIC, k)
            rows.append(
                [
                    printed.TITLES[name],
                    str(k),
                    f"{kept.mean():.1f} (0 in {sum(kept == 0)} of {len(kept)} folds)",
                    f"{lost.mean():.1f}",
                    f"{ratio.mean():.3f} ({ratio.min():.3f} to {ratio.max():.3f})",
                ]
            )
    head = ("set", "k", "occluded images kept", "clean images left out")
    return table((*head, "error over oracle's (folds)"), rows)


def _convergence(results: Results) -> str:
    words = []
    for method in COMPARED:
        found = np.array(
            [r["converged"] for r in results.rows if r["method"] == method]
        )
        if not found.all():
            words.append(f"{TITLES[method]} {(~found).sum()} of {len(found)}")
    if not words:
        return "All fits converged."
    return f"Fits that were stopped before they settled: {', '.join(words)}."
