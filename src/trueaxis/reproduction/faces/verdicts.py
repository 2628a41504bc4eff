"""What the measurements say about each claim on faces, by rules fixed beforehand.

Folds are compared in pairs: both methods saw the same images. A difference is told
apart from chance if it exceeds its standard error by the 97.5 % quantile of Student's t
with one degree of freedom per fold but one. With a single fold nothing is told apart.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student

from trueaxis.reproduction.faces.methods import COMPARED, TITLES
from trueaxis.reproduction.study import Results, Row

HOLDS, FAILS, OPEN = "holds", "does not hold", "cannot be told"
NEAR = 0.02  # of the oracle's error
APART = 0.95  # share of pairs that weights must order rightly


class FaceVerdict(NamedTuple):
    """A verdict and the numbers behind it."""

    verdict: str
    why: str


class FaceMeasurements:
    """Measurements by set, method and k, folds in order."""

    def __init__(self, rows: Iterable[Row]) -> None:
        found: dict[tuple[str, str], dict[int, list[Row]]] = {}
        for row in sorted(rows, key=lambda row: (row["k"], row["fold"])):
            place = found.setdefault((row["set"], row["method"]), defaultdict(list))
            place[row["k"]].append(row)
        self._found = found

    @property
    def sets(self) -> list[str]:
        """Sets that were measured, in the order of their rows."""
        return list(dict.fromkeys(name for name, _ in self._found))

    def ks(self, name: str) -> list[int]:
        """Numbers of components on a set."""
        return list(self._found[name, "pca"])

    def of(self, name: str, method: str, k: int, field: str = "error") -> NDArray[Any]:
        """One measure of all folds."""
        return np.array([row[field] for row in self._found[name, method][k]])

    def ratio(self, name: str, method: str, k: int) -> NDArray[np.float64]:
        """Error over the oracle's, of all folds."""
        return self.of(name, method, k) / self.of(name, "oracle", k)

    def gain(self, name: str, method: str, k: int) -> NDArray[np.float64]:
        """PSNR above plain PCA's, of all folds."""
        return self.of(name, method, k, "psnr") - self.of(name, "pca", k, "psnr")


def standard_error(values: NDArray[Any]) -> float:
    """Standard error of the mean; infinite for a single value."""
    if len(values) < 2:
        return float("inf")
    return float(values.std(ddof=1) / np.sqrt(len(values)))


def doubt(values: NDArray[Any]) -> float:
    """How far from the mean the truth may well be."""
    if len(values) < 2:
        return float("inf")
    return float(student.ppf(0.975, len(values) - 1)) * standard_error(values)


def shown(values: NDArray[Any]) -> str:
    """Mean and standard error."""
    if len(values) < 2:
        return f"{values.mean():.2f} (one fold)"
    return f"{values.mean():.2f} ± {standard_error(values):.2f}"


def _told(values: NDArray[Any]) -> str:
    return f"{'beyond' if abs(values.mean()) > doubt(values) else 'within'} chance"


class BetterRival(NamedTuple):
    """A rival that was better: where, by how much, and whether more than by chance."""

    rival: str
    k: int
    by: float
    told: bool


def _worst(
    losses: list[BetterRival], ks: list[int], unit: Callable[[float], str]
) -> str:
    """For each rival: where it was better, and by how much at most."""
    words = []
    for rival in dict.fromkeys(loss.rival for loss in losses):
        own = [loss for loss in losses if loss.rival == rival]
        top = max(own, key=lambda loss: loss.by)
        told = [loss.k for loss in own if loss.told]
        chance = "within chance" if not told else "beyond chance"
        if len(own) == 1:
            words.append(f"{TITLES[rival]} by {unit(top.by)} at k = {top.k}, {chance}")
            continue
        where = spans([loss.k for loss in own], ks)
        if 0 < len(told) < len(own):
            chance += f" at {spans(told, ks)}"
        words.append(
            f"{TITLES[rival]} at k = {where}, by at most {unit(top.by)} (k = {top.k}), "
            f"{chance}"
        )
    return "; ".join(words)


def spans(some: list[int], ks: list[int]) -> str:
    """Numbers out of a list in words, neighbours drawn together: 10 to 50, 80."""
    groups: list[list[int]] = []
    for k in some:
        if groups and ks.index(k) == ks.index(groups[-1][-1]) + 1:
            groups[-1].append(k)
        else:
            groups.append([k])
    return ", ".join(
        str(group[0]) if len(group) == 1 else f"{group[0]} to {group[-1]}"
        for group in groups
    )


def _percent(x: float) -> str:
    return f"{100 * x:.2f} %"


def _of_losses(
    losses: list[BetterRival], ks: list[int], none: str, unit: Callable[[float], str]
) -> FaceVerdict:
    if not losses:
        return FaceVerdict(HOLDS, none)
    told = any(loss.told for loss in losses)
    return FaceVerdict(FAILS if told else OPEN, f"better: {_worst(losses, ks, unit)}")


def lowest(
    tally: FaceMeasurements, name: str, method: str, rivals: Iterable[str]
) -> FaceVerdict:
    """Whether a method's mean error is below those of all rivals at every k."""
    losses, margins = [], []
    for rival in rivals:
        for k in tally.ks(name):
            ours, theirs = tally.of(name, method, k), tally.of(name, rival, k)
            by = (ours - theirs) / theirs.mean()
            margins.append((-by.mean(), rival, k, _told(by)))
            if by.mean() > 0:
                beyond = bool(by.mean() > doubt(by))
                losses.append(BetterRival(rival, k, float(by.mean()), beyond))
    margin, rival, k, told = min(margins)
    none = f"nearest: {TITLES[rival]}, {_percent(margin)} above at k = {k}, {told}"
    return _of_losses(losses, tally.ks(name), none, _percent)


def near_oracle(
    tally: FaceMeasurements, name: str, method: str, near: float = NEAR
) -> FaceVerdict:
    """Whether a method's mean error is within 2 % of the oracle's at every k."""
    beyond, told = [], False
    ratios = {k: tally.ratio(name, method, k) for k in tally.ks(name)}
    for k, ratio in ratios.items():
        if ratio.mean() > 1 + near:
            told |= bool(ratio.mean() - doubt(ratio) > 1 + near)
            beyond.append(f"{ratio.mean():.3f} at k = {k}")
    if beyond:
        return FaceVerdict(FAILS if told else OPEN, ", ".join(beyond))
    k = max(ratios, key=lambda k: float(ratios[k].mean()))
    return FaceVerdict(HOLDS, f"at most {ratios[k].mean():.3f} (k = {k})")


def gain_reached(
    tally: FaceMeasurements, name: str, method: str, k: int, printed: float
) -> FaceVerdict:
    """Whether the PSNR above plain PCA's is at least the printed one."""
    gain, ideal = tally.gain(name, method, k), tally.gain(name, "oracle", k)
    mean, limit = gain.mean(), ideal.mean()
    why = f"{shown(gain)} dB, printed {printed:.2f}; the oracle's is {limit:.2f}"
    if mean >= printed:
        return FaceVerdict(HOLDS, why)
    if limit < printed:
        why += ", and does not reach the printed one either"
    return FaceVerdict(FAILS if mean + doubt(gain) < printed else OPEN, why)


def highest_psnr(
    tally: FaceMeasurements, name: str, method: str, rivals: Iterable[str], k: int
) -> FaceVerdict:
    """Whether a method's mean PSNR is above those of all rivals."""
    losses, margins = [], []
    for rival in rivals:
        by = tally.of(name, rival, k, "psnr") - tally.of(name, method, k, "psnr")
        margins.append((-by.mean(), rival, _told(by)))
        if by.mean() > 0:
            beyond = bool(by.mean() > doubt(by))
            losses.append(BetterRival(rival, k, float(by.mean()), beyond))
    margin, rival, told = min(margins)
    none = f"next: {TITLES[rival]}, {margin:.2f} dB below, {told}"
    return _of_losses(losses, [k], none, lambda x: f"{x:.2f} dB")


def falling(
    tally: FaceMeasurements, name: str, methods: Iterable[str] = COMPARED
) -> FaceVerdict:
    """Whether the mean error of every method falls from each k to the next."""
    ks = tally.ks(name)
    rises, told = [], False
    for method in methods:
        steps = []
        for k, more in zip(ks, ks[1:], strict=False):
            before = tally.of(name, method, k)
            rise = (tally.of(name, method, more) - before) / before.mean()
            if rise.mean() > 0:
                told |= bool(rise.mean() > doubt(rise))
                steps.append((float(rise.mean()), f"from {k} to {more}"))
        if steps:
            most, where = max(steps)
            rises.append(
                f"{TITLES[method]} rises in {len(steps)} of {len(ks) - 1} steps, most "
                f"{where} ({_percent(most)})"
            )
    if not rises:
        return FaceVerdict(HOLDS, f"for all {len(list(methods))} methods")
    return FaceVerdict(FAILS if told else OPEN, "; ".join(rises))


def refuted(found: FaceVerdict) -> FaceVerdict:
    """The verdict on the opposite claim."""
    turned = {HOLDS: FAILS, FAILS: HOLDS, OPEN: OPEN}
    return FaceVerdict(turned[found.verdict], found.why)


# ---------------------------------------------------------------- weights


def weights_at(results: Results, name: str) -> dict[str, NDArray[Any]]:
    """Weights of one fold with k = 100 by method; and "occluded", who was."""
    found: dict[str, NDArray[Any]] = {}
    for task, outcome in results.outcomes.items():
        if task[0] == name and "weights" in outcome.arrays:
            found[task[2]] = outcome.arrays["weights"]
            if task[2] == "pca":  # the ideals saw other images
                found["occluded"] = outcome.arrays["occluded"].astype(bool)
    return found


def ordered(weights: NDArray[Any], occluded: NDArray[Any]) -> float:
    """Share of pairs of a clean and an occluded image with the clean one heavier."""
    clean, bad = weights[~occluded][:, None], weights[occluded]
    return float(np.mean((clean > bad) + 0.5 * (clean == bad)))


def decades(weights: NDArray[Any], occluded: NDArray[Any]) -> float:
    """Powers of ten between the median weights of clean and occluded images."""
    log = np.log10(np.maximum(weights, 1e-300))
    return float(np.median(log[~occluded]) - np.median(log[occluded]))


def discriminates(weights: NDArray[Any], occluded: NDArray[Any]) -> FaceVerdict:
    """Whether occluded images weigh less: in 95 % of all pairs."""
    share = ordered(weights, occluded)
    return FaceVerdict(HOLDS if share >= APART else FAILS, _pairs(share))


def prefers_occluded(weights: NDArray[Any], occluded: NDArray[Any]) -> FaceVerdict:
    """Whether occluded images weigh more: in more than half of all pairs."""
    share = ordered(weights, occluded)
    return FaceVerdict(HOLDS if share < 0.5 else FAILS, _pairs(share))


def _pairs(share: float) -> str:
    return f"the clean image is the heavier in {100 * share:.1f} % of all pairs"


def wider_gap(ours: Any, theirs: Any, occluded: NDArray[Any]) -> FaceVerdict:
    """Whether our weights part clean and occluded images by more powers of ten."""
    a, b = decades(ours, occluded), decades(theirs, occluded)
    return FaceVerdict(
        HOLDS if a > b else FAILS, f"medians {a:.2f} against {b:.2f} decades"
    )
