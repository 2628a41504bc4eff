"""Section of the page on faces; all verdicts are computed, see `verdicts`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from studies.faces import printed
from studies.faces.methods import COMPARED, RIVALS, TITLES
from studies.faces.protocol import introduction
from studies.faces.verdicts import (
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
from studies.study import Results

K, WEIGHTS_OF = 100, "orl"  # number of components and set of the paper's weights
SHOWN = (10, 20, 50, 100, 150, 200)
LIMIT = 1 + NEAR
AUTOMATIC, PUBLISHED = "dswl", "dswl-published"
# The methods that the paper compares DSWL with.
OTHERS = ("pca", "pca-l1", "r1-pca", "l2p-pca", "rpca-om", "rpca-di")


def section(results: Results, folds: int) -> str:
    """Return the section in Markdown.

    Parameters
    ----------
    results : Results
    folds : int
        Number of folds that the images were split into.

    Returns
    -------
    str
    """
    data = FaceMeasurements(results.rows)
    parts = [
        introduction(data, results.rows, folds),
        "### Verdicts on automatic DSWL\n\n" + _automatic_verdicts(data),
        "### Verdicts on the paper's claims\n\n" + _paper_verdicts(data, results),
        f"### PSNR at k = {K}\n\n" + _psnr_table(data),
        _gain_table(data),
        "### Mean error relative to the oracle",
        *(_error_table(data, name) for name in data.sets),
        "### Images that automatic DSWL leaves out\n\n" + _support_table(data),
        _explain_losses(data),
        _convergence(results),
    ]
    return "\n\n".join(part.strip() for part in parts) + "\n"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Format a Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _verdict_table(verdicts: Iterable[tuple[str, str, FaceVerdict]]) -> str:
    rows = [
        (claim, place, f"**{verdict.verdict}**", verdict.why)
        for claim, place, verdict in verdicts
    ]
    return table(("claim", "set", "verdict", "numbers"), rows)


def _each(
    data: FaceMeasurements,
    claim: str,
    rule: Callable[[str], FaceVerdict],
    sets: Sequence[str] | None = None,
) -> list[tuple[str, str, FaceVerdict]]:
    wanted = data.sets if sets is None else sets
    return [
        (claim, printed.TITLES[name], rule(name))
        for name in data.sets
        if name in wanted
    ]


def _with_psnr(data: FaceMeasurements) -> list[str]:
    return [name for name in data.sets if K in data.ks(name)]


def _automatic_verdicts(data: FaceMeasurements) -> str:
    verdicts = _each(
        data,
        "lowest error of all robust methods at every k",
        lambda name: lowest(data, name, AUTOMATIC, RIVALS),
    )
    verdicts += _each(
        data,
        "within 2 % of the oracle at every k",
        lambda name: near_oracle(data, name, AUTOMATIC),
    )
    verdicts += _each(
        data,
        "PSNR above PCA's by the printed gain",
        lambda name: gain_reached(data, name, AUTOMATIC, K, printed.gain(name)),
        _with_psnr(data),
    )
    return _verdict_table(verdicts)


def _paper_verdicts(data: FaceMeasurements, results: Results) -> str:
    verdicts = _each(data, "errors fall with k", lambda name: falling(data, name))
    verdicts += _each(
        data,
        "published DSWL has the smallest error at every k",
        lambda name: lowest(data, name, PUBLISHED, OTHERS),
    )
    verdicts += _each(
        data,
        "RPCA-DI is the best after DSWL",
        lambda name: _second(data, name),
        [name for name in data.sets if name != "yaleb"],
    )
    verdicts += _each(
        data,
        "RPCA-DI is not the best after DSWL",
        lambda name: refuted(_second(data, name)),
        ["yaleb"],
    )
    verdicts += _each(
        data,
        f"published DSWL has the highest PSNR (k = {K})",
        lambda name: highest_psnr(data, name, PUBLISHED, OTHERS, K),
        _with_psnr(data),
    )
    verdicts += _each(
        data,
        "published DSWL gains the printed dB over PCA",
        lambda name: gain_reached(data, name, PUBLISHED, K, printed.gain(name)),
        _with_psnr(data),
    )
    return _verdict_table(verdicts + _on_weights(results))


def _second(data: FaceMeasurements, name: str) -> FaceVerdict:
    return lowest(data, name, "rpca-di", [m for m in OTHERS if m != "rpca-di"])


def _on_weights(results: Results) -> list[tuple[str, str, FaceVerdict]]:
    weights = weights_at(results, WEIGHTS_OF)
    if "occluded" not in weights:
        return []
    bad = weights["occluded"]
    place = f"{printed.TITLES[WEIGHTS_OF]}, first fold, k = {K}"
    verdicts = []
    for method in ("rpca-di", PUBLISHED, AUTOMATIC):
        claim = f"weights of {TITLES[method]} are smaller for occluded images"
        verdicts.append((claim, place, discriminates(weights[method], bad)))
    for method in ("l2p-pca", "rpca-om"):
        claim = f"weights of {TITLES[method]} are larger for occluded images"
        verdicts.append((claim, place, prefers_occluded(weights[method], bad)))
    for method in (PUBLISHED, AUTOMATIC):
        claim = f"weights of {TITLES[method]} have a wider gap than those of RPCA-DI"
        verdict = wider_gap(weights[method], weights["rpca-di"], bad)
        verdicts.append((claim, place, verdict))
    return verdicts


def _psnr_table(data: FaceMeasurements) -> str:
    sets = _with_psnr(data)
    rows = []
    for method in TITLES:
        line = [TITLES[method]]
        for name in sets:
            key = "dswl" if method == PUBLISHED else method
            theirs = None if method == AUTOMATIC else printed.PSNR[name].get(key)
            ours = data.of(name, method, K, "psnr")
            line.append("-" if theirs is None else f"{theirs:.2f}")
            line.append(shown(ours))
        rows.append(line)
    head = ["dB"]
    for name in sets:
        head += [f"{printed.TITLES[name]}, paper (one image)", "ours"]
    return table(head, rows)


def _gain_table(data: FaceMeasurements) -> str:
    methods = (PUBLISHED, AUTOMATIC, "kept", "oracle", "intact")
    rows = []
    for name in _with_psnr(data):
        line = [printed.TITLES[name], f"{printed.gain(name):.2f}"]
        for method in methods:
            line.append(shown(data.gain(name, method, K)))
        rows.append(line)
    return table(
        ("gain over PCA in dB", "paper", *(TITLES[method] for method in methods)), rows
    )


def _error_table(data: FaceMeasurements, name: str) -> str:
    ks = [k for k in data.ks(name) if k in SHOWN or k == data.ks(name)[-1]]
    rows = []
    for method in (*COMPARED, "kept", "intact"):
        cells = []
        for k in ks:
            ratio = data.of(name, method, k).mean() / data.of(name, "oracle", k).mean()
            cells.append(f"{ratio:.3f}")
        rows.append([TITLES[method], *cells])
    oracle = [f"{data.of(name, 'oracle', k).mean():.0f}" for k in ks]
    rows.append(["error of the oracle, gray levels", *oracle])
    return table([printed.TITLES[name], *(f"k = {k}" for k in ks)], rows)


def _support_table(data: FaceMeasurements) -> str:
    rows = []
    for name in data.sets:
        for k in (k for k in data.ks(name) if k in SHOWN or k == data.ks(name)[-1]):
            kept = data.of(name, AUTOMATIC, k, "occluded_kept")
            lost = data.of(name, AUTOMATIC, k, "clean_dropped")
            ratio = data.ratio(name, AUTOMATIC, k)
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
    return table((*head, "error relative to the oracle (folds)"), rows)


def _explain_losses(data: FaceMeasurements) -> str:
    """Say whether losses against the oracle are due to recognition at large k."""
    pairs = [(name, k) for name in data.sets for k in data.ks(name)]
    lost = [
        pair for pair in pairs if data.ratio(pair[0], AUTOMATIC, pair[1]).mean() > LIMIT
    ]
    if not lost:
        return f"Automatic DSWL is within 2 % of the oracle in all {len(pairs)} cases."
    saved = [
        (name, k) for name, k in lost if data.ratio(name, "kept", k).mean() <= LIMIT
    ]
    return (
        f"Automatic DSWL is more than 2 % above the oracle in {len(lost)} of "
        f"{len(pairs)} pairs of set and k. In {len(saved)} of these, plain PCA on the "
        "images that it keeps with its own number of components is within 2 %: there, "
        "the loss is due to occluded images not being recognized at such a large k. In "
        f"the other {len(lost) - len(saved)}, this does not help."
    )


def _convergence(results: Results) -> str:
    counts = []
    for method in COMPARED:
        converged = np.array(
            [r["converged"] for r in results.rows if r["method"] == method]
        )
        if not converged.all():
            counts.append(f"{TITLES[method]} {(~converged).sum()} of {len(converged)}")
    if not counts:
        return "All fits converged."
    return f"Fits that did not converge: {', '.join(counts)}."
