"""What differs between two answers to a case of `before_after.py`."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

from before_after_fits import Answer, Outcome

SAME = 1e-6  # largest sine between subspaces that count as the same
LINE = np.log10(1.1)  # of a p-value over the level
SLACK = 2.0  # times what noise changes


def sine(P: np.ndarray, Q: np.ndarray) -> float:
    """Return the sine of the largest angle of the smaller subspace to the larger."""
    small, large = sorted((P.astype(float), Q.astype(float)), key=len)
    if not len(small):
        return 0.0
    return float(np.linalg.norm(small - (small @ large.T) @ large, 2))


def between(one: Answer, other: Answer) -> float:
    """Return the sine between two answers, without axes that are rounding."""
    m = min(one.solid(), other.solid())
    return sine(one.components[:m], other.components[:m])


def flips(one: Answer, other: Answer) -> tuple[int, int]:
    """Count the verdicts that differ, and those of them that are off the line."""
    differ = one.flagged != other.flagged
    on_line = np.ones(len(differ), dtype=bool)
    for answer in (one, other):
        on_line &= np.abs(answer.score - answer.offset) <= LINE
    return int(differ.sum()), int((differ & ~on_line).sum())


@dataclass
class Change:
    """How a case differs, and how answers before do that differ by noise only.

    Attributes
    ----------
    angle, seeds_angle : float
        Sine to the subspace before; the largest one between two seeds before.
    flips, off_line, seeds_flips : int
        Verdicts that differ, those of them off the line; the most between two seeds.
    fewer_angle, fewer_flips : float, int
        The most that leaving out 1 % of the rows changes before.
    noise_k : set of ints
        Numbers of components with other seeds and with fewer rows before.
    k : tuple of two ints
        Numbers of components, before and after.
    truth : tuple of two floats
        Sines to the true subspace, before and after; nan if unknown.
    alone : bool
        Whether the subspace is farther from those of all seeds before than any of these
        is from the others (by the median sine).
    failed : str
        The errors, if they differ.
    """

    before: Outcome
    after: Outcome
    angle: float
    seeds_angle: float
    flips: int
    off_line: int
    seeds_flips: int
    fewer_angle: float
    fewer_flips: int
    noise_k: set[int]
    k: tuple[int, int]
    truth: tuple[float, float]
    alone: bool = False
    failed: str = ""

    @property
    def same_subspace(self) -> bool:
        """Whether the number of components and the subspace are the same."""
        return not self.failed and self.k[0] == self.k[1] and self.angle <= SAME

    @property
    def same_verdicts(self) -> bool:
        """Whether the number of components and all verdicts off the line are."""
        return not self.failed and self.k[0] == self.k[1] and self.off_line == 0

    @property
    def as_noise(self) -> bool:
        """Whether the change is no more than noise makes as well."""
        angle = SLACK * max(self.seeds_angle, self.fewer_angle)
        return (
            not self.failed
            and self.k[1] in {self.k[0], *self.noise_k}
            and self.angle <= max(angle, SAME)
            and self.off_line <= SLACK * max(self.seeds_flips, self.fewer_flips)
        )


def change(before: Outcome, after: Outcome) -> Change:
    """Compare the answers to one case."""
    old, new = before.answer, after.answer
    seeds = [other for other in before.others if not other.error]
    fewer = [other for other in before.fewer if not other.error]
    pairs = list(itertools.combinations([old, *seeds], 2))
    failed = ""
    if old.error != new.error:
        failed = f"{old.error or 'fitted'} -> {new.error or 'fitted'}"
    if before.digest != after.digest:
        failed = "the rows differ: the generator changed"
    if failed or old.error:
        return Change(before, after, 0, 0, 0, 0, 0, 0, 0, set(), (0, 0), (np.nan,) * 2,
                      False, failed)  # fmt: skip
    truth = (np.nan, np.nan)
    if before.truth is not None:
        truth = (sine(old.components, before.truth), sine(new.components, before.truth))
    return Change(
        before,
        after,
        between(old, new),
        max((between(*pair) for pair in pairs), default=0.0),
        *flips(old, new),
        max((flips(*pair)[0] for pair in pairs), default=0),
        max((between(old, other) for other in fewer), default=0.0),
        max((flips(old, other)[0] for other in fewer), default=0),
        {other.k for other in seeds + fewer},
        (old.k, new.k),
        truth,
        farthest([new, old, *seeds]),
    )


def farthest(answers: list[Answer]) -> bool:
    """Return whether the first of these answers is the farthest from all others."""
    n = len(answers)
    sines = np.array([[between(a, b) for b in answers] for a in answers])
    alone = np.median(sines[~np.eye(n, dtype=bool)].reshape(n, n - 1), axis=1)
    return bool(alone[0] > alone[1:].max())


def compare(before: list[Outcome], after: list[Outcome]) -> list[Change]:
    """Compare the cases that both have."""
    saved = {found.case: found for found in before}
    return [change(saved[found.case], found) for found in after if found.case in saved]
