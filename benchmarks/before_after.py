"""Fit DSWL to some 1000 tables with two versions, and compare the answers.

    PYTHONPATH=/tmp/base/src python benchmarks/before_after.py save before.npz
    python benchmarks/before_after.py compare before.npz

`save` runs with the version to compare against; `compare` with the present one (or,
with a second file, compares what was saved). For changes that may move answers by
rounding, or by a step of an iteration that was converged. `same_answers.py` is for
those that may not.

A subspace is the same if the largest sine of an angle to that before is at most 1e-6,
and a verdict if it is equal or the row is on the line: before and after, its p-value is
within 10 % of the level. All other cases are listed, beside what changing random_state
does in the version before, and what leaving out 1 % of the rows does. A change is noise
if both its angle and the number of its verdicts off the line are at most twice what one
of these changes. (An angle that fits without 1 % of the rows have is about a tenth of
the sampling error.) Exits with 1 if anywhere the number of components differs, or the
verdict on a row off the line; --accept-noise allows that where it is noise.

CPU times are those of the fits alone. They vary with what else the machine does: --base
DIR fits once more with the version whose `src` this is, at the same time in a second
process, and compares with the times of that.

--fast fits every fourth of the cases that are quick, --jobs 2 uses two processes, and
--only TEXT those whose name has this text. Real tables are read from --data-home, by
default TRUEAXIS_DATA.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

# Sums must come out in the same order in both runs.
os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np

import trueaxis
from before_after_cases import cases
from before_after_changes import SAME, Change, compare
from before_after_fits import load, run, save
from sheet import Sheet


def degrees(value: float) -> str:
    """Write an angle given by its sine, in degrees; in powers of ten if small."""
    if np.isnan(value):
        return ""
    angle = np.degrees(np.arcsin(min(value, 1.0)))
    return f"{angle:.3f}" if angle >= 0.01 else f"{angle:.0e}"


def listing(changes: list[Change], most: int) -> None:
    """Print the cases that differ, those with other verdicts first."""
    differ = [c for c in changes if not (c.same_subspace and c.same_verdicts)]
    differ.sort(key=lambda c: (c.as_noise, c.same_verdicts, -c.off_line, -c.angle))
    table = Sheet(
        "Cases that differ (angles in degrees)",
        "case",
        "k",
        "angle",
        "seeds",
        "1 % fewer",
        "to the truth",
        "verdicts",
        "off the line",
        "seeds",
        "1 % fewer",
        "noise",
    )
    for c in differ[:most]:
        k = f"{c.k[0]}" if c.k[0] == c.k[1] else f"{c.k[0]} -> {c.k[1]} {c.noise_k}"
        truth = "" if np.isnan(c.truth[0]) else " -> ".join(map(degrees, c.truth))
        table.add(
            f"{c.before.case}" + (f" ({c.failed})" if c.failed else ""),
            k,
            degrees(c.angle),
            degrees(c.seeds_angle),
            degrees(c.fewer_angle),
            truth,
            c.flips,
            c.off_line,
            c.seeds_flips,
            c.fewer_flips,
            "yes" if c.as_noise else "NO",
        )
    if differ:
        table.show()
    if len(differ) > most:
        print(f"... and {len(differ) - most} more: raise --list.")


def times(changes: list[Change]) -> None:
    """Print the CPU time of every group of cases."""
    table = Sheet(
        "CPU time of the fits",
        "group",
        "fits",
        "before, s",
        "after, s",
        "before / after",
        "median ratio",
    )
    groups = list(dict.fromkeys(c.before.group for c in changes))
    for group in [*groups, "all"]:
        some = [c for c in changes if group in ("all", c.before.group)]
        old = np.array([c.before.answer.seconds for c in some])
        new = np.array([c.after.answer.seconds for c in some])
        took = (old > 0) & (new > 0)
        middle = np.median(old[took] / new[took]) if took.any() else np.nan
        table.add(
            group,
            len(some),
            f"{old.sum():.2f}",
            f"{new.sum():.2f}",
            f"{old.sum() / max(new.sum(), 1e-9):.2f}",
            f"{middle:.2f}",
        )
    table.show()


def quality(changes: list[Change]) -> None:
    """Print whether answers came closer to the truth, over all cases that know it."""
    pairs = np.array([c.truth for c in changes if not np.isnan(c.truth[0])])
    if len(pairs):
        moved = np.abs(pairs[:, 1] - pairs[:, 0]) > SAME
        better = (pairs[:, 1] < pairs[:, 0])[moved].sum()
        old, new = np.degrees(np.arcsin(np.minimum(pairs, 1))).mean(axis=0)
        print(
            f"Angle to the truth, {len(pairs)} cases: mean {old:.4f} -> {new:.4f} "
            f"degrees; nearer in {better}, farther in {moved.sum() - better}."
        )
    scores = np.array([
        [f1(found.answer.flagged, c.before.bad) for found in (c.before, c.after)]
        for c in changes
        if c.before.bad is not None and c.before.bad.any() and not c.before.answer.error
        and not c.failed
    ])  # fmt: skip
    if len(scores):
        old, new = scores.mean(axis=0)
        print(
            f"F1 of verdicts, {len(scores)} cases: mean {old:.4f} -> {new:.4f}; "
            f"better in {(scores[:, 1] > scores[:, 0]).sum()}, "
            f"worse in {(scores[:, 1] < scores[:, 0]).sum()}."
        )


def f1(flagged: np.ndarray, bad: np.ndarray) -> float:
    """Return the F1 score of verdicts."""
    both = (flagged & bad).sum()
    return float(2 * both / max(flagged.sum() + bad.sum(), 1))


def report(changes: list[Change], most: int, accept_noise: bool) -> int:
    """Print everything; return the exit code."""
    listing(changes, most)
    times(changes)
    far = [c for c in changes if not c.same_subspace]
    random = [c for c in far if c.seeds_angle > SAME]
    flipped = [c for c in changes if not c.same_verdicts]
    rows = sum(len(c.before.answer.flagged) for c in changes)
    seeds = max(len(c.before.others) for c in changes)
    print(f"\n{len(changes)} fits, {rows:,} rows.")
    print(
        f"Subspace within 1e-6 in {len(changes) - len(far)}; of the other {len(far)}, "
        f"{sum(c.as_noise for c in far)} differ by noise. Of the {len(random)} whose "
        f"seeds differ before, {sum(c.alone for c in random)} are farther from all "
        "seeds than these are from each other "
        f"(by chance {len(random) / (2 + seeds):.0f} would be)."
    )
    print(
        f"Verdicts: {sum(c.flips for c in changes)} differ in "
        f"{sum(c.flips > 0 for c in changes)} fits, "
        f"{sum(c.off_line for c in changes)} of them off the line, in "
        f"{sum(c.off_line > 0 for c in changes)} fits; "
        f"of the {len(flipped)} fits with another k or other verdicts off the line, "
        f"{sum(c.as_noise for c in flipped)} differ by noise."
    )
    print(
        f"Number of components differs in {sum(c.k[0] != c.k[1] for c in changes)}; "
        f"{sum(bool(c.failed) for c in changes)} failed in one version only."
    )
    others([c for c in changes if c.same_subspace and c.before.answer.k])
    quality(changes)
    wrong = [c for c in flipped if not (accept_noise and c.as_noise)]
    print("FAILED" if wrong else "OK")
    return int(bool(wrong))


def others(same: list[Change]) -> None:
    """Print what else differs where the subspace is the same."""
    found = np.array([relative(c) for c in same])
    for name, column in zip(("center", "variances", "p-values"), found.T, strict=False):
        worst = int(column.argmax())
        print(
            f"Same subspace, {name}: beyond 1e-6 in {(column > SAME).sum()}, at most "
            f"{column[worst]:.0e} ({same[worst].before.case})."
        )


def relative(c: Change) -> tuple[float, float, float]:
    """Return differences of centers (in sd), variances and logarithms of p-values."""
    old, new = c.before.answer, c.after.answer
    m = min(old.solid(), new.solid())
    unit = np.sqrt(max(float(old.variance[0]), 1e-300))
    mean = float(np.abs(old.mean - new.mean).max()) / unit
    variance = float(np.abs(new.variance[:m] / old.variance[:m] - 1).max(initial=0))
    finite = np.isfinite(old.score) & np.isfinite(new.score)
    p = np.abs(old.score - new.score) / np.maximum(1, np.abs(old.score))
    return mean, variance, float(p[finite].max(initial=0))


@contextmanager
def running(args: argparse.Namespace) -> Iterator[dict[str, float]]:
    """Fit with another version meanwhile; at the end, fill in its times by case."""
    base, timed = args.base, {}
    if args.action != "compare" or base is None:
        yield timed
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "base.npz"
        options = [
            "--seeds=0",
            "--fewer=0",
            f"--jobs={args.jobs}",
            f"--only={args.only}",
        ]
        options += ["--fast"] if args.fast else []
        options += [f"--data-home={args.data_home}"] if args.data_home else []
        command = [sys.executable, __file__, "save", path, *options]
        environment = os.environ | {"PYTHONPATH": str(base)}
        with subprocess.Popen(command, env=environment) as process:
            yield timed
        if process.returncode:
            raise SystemExit(f"The fits with {base} failed.")
        found, version = load(path)
        if not version.startswith(str(base)):
            raise SystemExit(f"{base} was not used, but {version}.")
        timed |= {one.case: one.answer.seconds for one in found}


def main() -> int:
    """Save the answers, or compare with those that were saved."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("action", choices=["save", "compare"])
    parser.add_argument("file", type=Path)
    parser.add_argument("other", type=Path, nargs="?")
    parser.add_argument("--fast", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--seeds", type=int, default=3, help="other seeds, saved")
    parser.add_argument("--fewer", type=int, default=2, help="fits with fewer rows")
    parser.add_argument("--list", type=int, default=60, help="cases listed at most")
    parser.add_argument("--base", type=Path, help="src of the version before")
    parser.add_argument("--accept-noise", action="store_true")
    parser.add_argument("--data-home", default=os.environ.get("TRUEAXIS_DATA"))
    args = parser.parse_args()
    home = Path(args.data_home) if args.data_home else None
    if home is None:
        print("There is no --data-home: real tables are left out.")
    version = str(trueaxis.__file__)
    chosen = [case for case in cases(home, args.fast) if args.only in case.name]
    timed: dict[str, float] = {}
    if args.action == "compare" and args.other is not None:
        after, version = load(args.other, {case.name for case in chosen})
    else:
        print(f"Fitting {len(chosen)} cases with {version}")
        seeds, fewer = (args.seeds, args.fewer) if args.action == "save" else (0, 0)
        with running(args) as timed:
            after = list(run(chosen, seeds, fewer, args.jobs))
    if args.action == "save":
        save(args.file, after, version)
        took = sum(found.answer.seconds for found in after)
        failed = sum(bool(found.answer.error) for found in after)
        print(f"{len(after)} fits saved: {took:.1f} s of CPU, {failed} failed.")
        return 0
    before, saved = load(args.file, {case.name for case in chosen})
    for found in before:
        found.answer.seconds = timed.get(found.case, found.answer.seconds)
    print(f"Before: {saved}\nAfter: {version}")
    changes = compare(before, after)
    if not changes:
        raise SystemExit(f"{args.file} has none of the {len(chosen)} cases.")
    return report(changes, args.list, args.accept_noise)


if __name__ == "__main__":
    sys.exit(main())
