"""The section of the page on faces; every verdict is computed, see `faces_verdicts`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from trueaxis.reproduction.faces import printed as printed
from trueaxis.reproduction.faces.methods import COMPARED, RIVALS, TITLES
from trueaxis.reproduction.faces.protocol import introduction
from trueaxis.reproduction.faces.verdicts import (
    NEAR,
    FaceMeasurements,
    FaceVerdict,
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
from trueaxis.reproduction.study import Results

K, WEIGHTS_OF = 100, "orl"  # of the paper's PSNR and weights
SHOWN = (10, 20, 50, 100, 150, 200)
LIMIT = 1 + NEAR
AUTOMATIC, PUBLISHED = "dswl", "dswl-published"
# The paper's own field: without DSWL.
OTHERS = ("pca", "pca-l1", "r1-pca", "l2p-pca", "rpca-om", "rpca-di")


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
    tally = FaceMeasurements(results.rows)
    parts = [
        introduction(tally, results.rows, folds),
        "### Verdicts on automatic DSWL\n\n" + _aims(tally),
        "### Verdicts on the paper's claims\n\n" + _claims(tally, results),
        f"### PSNR at k = {K}\n\n" + _psnr_table(tally),
        _gain_table(tally),
        "### Mean error over the oracle's",
        *(_error_table(tally, name) for name in tally.sets),
        "### Whom automatic DSWL leaves out\n\n" + _support_table(tally),
        _recognised(tally),
        _convergence(results),
    ]
    return "\n\n".join(part.strip() for part in parts) + "\n"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _verdicts(found: Iterable[tuple[str, str, FaceVerdict]]) -> str:
    rows = [
        (claim, place, f"**{verdict.verdict}**", verdict.why)
        for claim, place, verdict in found
    ]
    return table(("claim", "set", "verdict", "numbers"), rows)


def _each(
    tally: FaceMeasurements,
    claim: str,
    rule: Callable[[str], FaceVerdict],
    sets: Sequence[str] | None = None,
) -> list[tuple[str, str, FaceVerdict]]:
    wanted = tally.sets if sets is None else sets
    return [
        (claim, printed.TITLES[name], rule(name))
        for name in tally.sets
        if name in wanted
    ]


def _with_psnr(tally: FaceMeasurements) -> list[str]:
    return [name for name in tally.sets if K in tally.ks(name)]


def _aims(tally: FaceMeasurements) -> str:
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


def _claims(tally: FaceMeasurements, results: Results) -> str:
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


def _second(tally: FaceMeasurements, name: str) -> FaceVerdict:
    return lowest(tally, name, "rpca-di", [m for m in OTHERS if m != "rpca-di"])


def _on_weights(results: Results) -> list[tuple[str, str, FaceVerdict]]:
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


def _psnr_table(tally: FaceMeasurements) -> str:
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


def _gain_table(tally: FaceMeasurements) -> str:
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


def _error_table(tally: FaceMeasurements, name: str) -> str:
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


def _support_table(tally: FaceMeasurements) -> str:
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


def _recognised(tally: FaceMeasurements) -> str:
    """Whether what is lost against the oracle is lost by recognition at large k."""
    pairs = [(name, k) for name in tally.sets for k in tally.ks(name)]
    lost = [
        pair
        for pair in pairs
        if tally.ratio(pair[0], AUTOMATIC, pair[1]).mean() > LIMIT
    ]
    if not lost:
        return f"Automatic DSWL is within 2 % of the oracle in all {len(pairs)} cases."
    saved = [
        (name, k) for name, k in lost if tally.ratio(name, "kept", k).mean() <= LIMIT
    ]
    return (
        f"Automatic DSWL is more than 2 % above the oracle in {len(lost)} of "
        f"{len(pairs)} pairs of set and k. In {len(saved)} of these, plain PCA on the "
        "images that it keeps with its own number of components is within 2 %: what is "
        "lost there is lost in telling the images apart at so large a k. In the other "
        f"{len(lost) - len(saved)} that does not help."
    )


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
