"""Verdicts on each claim about faces, by rules that were fixed in advance.

Folds are compared in pairs, as both methods saw the same images. A difference is beyond
chance if it exceeds its standard error times the 97.5 % quantile of Student's t, with
one degree of freedom less than folds. With a single fold, no difference is.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student

from studies.faces.methods import COMPARED, TITLES
from studies.study import Results, Row

HOLDS, FAILS, OPEN = "holds", "does not hold", "undecided"
NEAR = 0.02  # margin, relative to the error of the oracle
APART = 0.95  # share of pairs that weights must order correctly


class FaceVerdict(NamedTuple):
    """A verdict and the numbers behind it."""

    verdict: str
    why: str


class FaceMeasurements:
    """Measurements by set, method and k, with folds in order."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self._rows: dict[tuple[str, str], dict[int, list[Row]]] = {}
        for row in sorted(rows, key=lambda row: (row["k"], row["fold"])):
            key = row["set"], row["method"]
            self._rows.setdefault(key, defaultdict(list))[row["k"]].append(row)

    @property
    def sets(self) -> list[str]:
        """Names of the measured sets, in the order of the rows."""
        return list(dict.fromkeys(name for name, _ in self._rows))

    def ks(self, name: str) -> list[int]:
        """Return the numbers of components measured on a set."""
        return list(self._rows[name, "pca"])

    def of(self, name: str, method: str, k: int, field: str = "error") -> NDArray[Any]:
        """Return one measure for every fold."""
        return np.array([row[field] for row in self._rows[name, method][k]])

    def ratio(self, name: str, method: str, k: int) -> NDArray[np.float64]:
        """Return the error relative to the oracle for every fold."""
        oracle = self.of(name, "oracle", k)
        ratio: NDArray[np.float64] = self.of(name, method, k) / oracle
        return ratio

    def gain(self, name: str, method: str, k: int) -> NDArray[np.float64]:
        """Return the gain in PSNR over plain PCA for every fold."""
        plain = self.of(name, "pca", k, "psnr")
        gain: NDArray[np.float64] = self.of(name, method, k, "psnr") - plain
        return gain


def standard_error(values: NDArray[Any]) -> float:
    """Return the standard error of the mean; infinite for a single value."""
    if len(values) < 2:
        return float("inf")
    return float(values.std(ddof=1) / np.sqrt(len(values)))


def half_width(values: NDArray[Any]) -> float:
    """Return half the width of the 95 % confidence interval of the mean."""
    if len(values) < 2:
        return float("inf")
    return float(student.ppf(0.975, len(values) - 1)) * standard_error(values)


def shown(values: NDArray[Any]) -> str:
    """Format mean and standard error."""
    if len(values) < 2:
        return f"{values.mean():.2f} (one fold)"
    return f"{values.mean():.2f} ± {standard_error(values):.2f}"


def _chance(values: NDArray[Any]) -> str:
    beyond = abs(values.mean()) > half_width(values)
    return f"{'beyond' if beyond else 'within'} chance"


class BetterRival(NamedTuple):
    """A rival that was better: at which k, by how much, and whether beyond chance."""

    rival: str
    k: int
    by: float
    beyond_chance: bool


def _describe(
    losses: list[BetterRival], ks: list[int], unit: Callable[[float], str]
) -> str:
    """Describe where each rival was better, and by how much at most."""
    words = []
    for rival in dict.fromkeys(loss.rival for loss in losses):
        own = [loss for loss in losses if loss.rival == rival]
        top = max(own, key=lambda loss: loss.by)
        beyond = [loss.k for loss in own if loss.beyond_chance]
        chance = "beyond chance" if beyond else "within chance"
        if len(own) == 1:
            words.append(f"{TITLES[rival]} by {unit(top.by)} at k = {top.k}, {chance}")
            continue
        where = spans([loss.k for loss in own], ks)
        if 0 < len(beyond) < len(own):
            chance += f" at {spans(beyond, ks)}"
        words.append(
            f"{TITLES[rival]} at k = {where}, by at most {unit(top.by)} (k = {top.k}), "
            f"{chance}"
        )
    return "; ".join(words)


def spans(some: list[int], ks: list[int]) -> str:
    """Format some of the ks, with neighbors joined into ranges: 10 to 50, 80."""
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


def _judge(
    losses: list[BetterRival], ks: list[int], none: str, unit: Callable[[float], str]
) -> FaceVerdict:
    if not losses:
        return FaceVerdict(HOLDS, none)
    beyond = any(loss.beyond_chance for loss in losses)
    why = f"better: {_describe(losses, ks, unit)}"
    return FaceVerdict(FAILS if beyond else OPEN, why)


def lowest(
    data: FaceMeasurements, name: str, method: str, rivals: Iterable[str]
) -> FaceVerdict:
    """Judge whether a method has a lower mean error than all rivals at every k."""
    losses, margins = [], []
    for rival in rivals:
        for k in data.ks(name):
            ours, theirs = data.of(name, method, k), data.of(name, rival, k)
            by = (ours - theirs) / theirs.mean()
            margins.append((-by.mean(), rival, k, _chance(by)))
            if by.mean() > 0:
                beyond = bool(by.mean() > half_width(by))
                losses.append(BetterRival(rival, k, float(by.mean()), beyond))
    margin, rival, k, chance = min(margins)
    none = f"nearest: {TITLES[rival]}, {_percent(margin)} above at k = {k}, {chance}"
    return _judge(losses, data.ks(name), none, _percent)


def near_oracle(
    data: FaceMeasurements, name: str, method: str, near: float = NEAR
) -> FaceVerdict:
    """Judge whether a method's mean error is within 2 % of the oracle at every k."""
    exceeded, beyond = [], False
    ratios = {k: data.ratio(name, method, k) for k in data.ks(name)}
    for k, ratio in ratios.items():
        if ratio.mean() > 1 + near:
            beyond |= bool(ratio.mean() - half_width(ratio) > 1 + near)
            exceeded.append(f"{ratio.mean():.3f} at k = {k}")
    if exceeded:
        return FaceVerdict(FAILS if beyond else OPEN, ", ".join(exceeded))
    k = max(ratios, key=lambda k: float(ratios[k].mean()))
    return FaceVerdict(HOLDS, f"at most {ratios[k].mean():.3f} (k = {k})")


def gain_reached(
    data: FaceMeasurements, name: str, method: str, k: int, printed: float
) -> FaceVerdict:
    """Judge whether the gain in PSNR over plain PCA is at least the printed one."""
    gain, ideal = data.gain(name, method, k), data.gain(name, "oracle", k)
    mean, limit = gain.mean(), ideal.mean()
    why = f"{shown(gain)} dB, printed {printed:.2f}; the oracle's is {limit:.2f}"
    if mean >= printed:
        return FaceVerdict(HOLDS, why)
    if limit < printed:
        why += ", and does not reach the printed one either"
    return FaceVerdict(FAILS if mean + half_width(gain) < printed else OPEN, why)


def highest_psnr(
    data: FaceMeasurements, name: str, method: str, rivals: Iterable[str], k: int
) -> FaceVerdict:
    """Judge whether a method has a higher mean PSNR than all rivals."""
    losses, margins = [], []
    for rival in rivals:
        by = data.of(name, rival, k, "psnr") - data.of(name, method, k, "psnr")
        margins.append((-by.mean(), rival, _chance(by)))
        if by.mean() > 0:
            beyond = bool(by.mean() > half_width(by))
            losses.append(BetterRival(rival, k, float(by.mean()), beyond))
    margin, rival, chance = min(margins)
    none = f"next: {TITLES[rival]}, {margin:.2f} dB below, {chance}"
    return _judge(losses, [k], none, lambda x: f"{x:.2f} dB")


def falling(
    data: FaceMeasurements, name: str, methods: Iterable[str] = COMPARED
) -> FaceVerdict:
    """Judge whether the mean error of every method falls from each k to the next."""
    ks = data.ks(name)
    rises, beyond = [], False
    for method in methods:
        steps = []
        for k, more in zip(ks, ks[1:], strict=False):
            before = data.of(name, method, k)
            rise = (data.of(name, method, more) - before) / before.mean()
            if rise.mean() > 0:
                beyond |= bool(rise.mean() > half_width(rise))
                steps.append((float(rise.mean()), f"from {k} to {more}"))
        if steps:
            most, where = max(steps)
            rises.append(
                f"{TITLES[method]} rises in {len(steps)} of {len(ks) - 1} steps, most "
                f"{where} ({_percent(most)})"
            )
    if not rises:
        return FaceVerdict(HOLDS, f"for all {len(list(methods))} methods")
    return FaceVerdict(FAILS if beyond else OPEN, "; ".join(rises))


def refuted(verdict: FaceVerdict) -> FaceVerdict:
    """Return the verdict on the opposite claim."""
    opposite = {HOLDS: FAILS, FAILS: HOLDS, OPEN: OPEN}
    return FaceVerdict(opposite[verdict.verdict], verdict.why)


# ---------------------------------------------------------------- weights


def weights_at(results: Results, name: str) -> dict[str, NDArray[Any]]:
    """Return the weights of one fold at k = 100, by method.

    The key "occluded" holds a mask of the occluded images.
    """
    weights: dict[str, NDArray[Any]] = {}
    for task, outcome in results.outcomes.items():
        if task[0] == name and "weights" in outcome.arrays:
            weights[task[2]] = outcome.arrays["weights"]
            if task[2] == "pca":  # the ideals were fitted to other images
                weights["occluded"] = outcome.arrays["occluded"].astype(bool)
    return weights


def ordered(weights: NDArray[Any], occluded: NDArray[Any]) -> float:
    """Return the share of (clean, occluded) pairs with more weight on the clean one."""
    clean, bad = weights[~occluded][:, None], weights[occluded]
    return float(np.mean((clean > bad) + 0.5 * (clean == bad)))


def decades(weights: NDArray[Any], occluded: NDArray[Any]) -> float:
    """Return the decades between the median weights of clean and occluded images."""
    log = np.log10(np.maximum(weights, 1e-300))
    return float(np.median(log[~occluded]) - np.median(log[occluded]))


def discriminates(weights: NDArray[Any], occluded: NDArray[Any]) -> FaceVerdict:
    """Judge whether occluded images have smaller weights, in 95 % of all pairs."""
    share = ordered(weights, occluded)
    return FaceVerdict(HOLDS if share >= APART else FAILS, _pairs(share))


def prefers_occluded(weights: NDArray[Any], occluded: NDArray[Any]) -> FaceVerdict:
    """Judge whether occluded images have larger weights, in most pairs."""
    share = ordered(weights, occluded)
    return FaceVerdict(HOLDS if share < 0.5 else FAILS, _pairs(share))


def _pairs(share: float) -> str:
    return f"the clean image has the larger weight in {100 * share:.1f} % of all pairs"


def wider_gap(ours: Any, theirs: Any, occluded: NDArray[Any]) -> FaceVerdict:
    """Judge whether our weights separate clean and occluded images by more decades."""
    a, b = decades(ours, occluded), decades(theirs, occluded)
    return FaceVerdict(
        HOLDS if a > b else FAILS, f"medians {a:.2f} against {b:.2f} decades"
    )
