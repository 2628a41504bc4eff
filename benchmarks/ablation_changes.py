"""The changes that `ablation.py` makes: stage, title, and what replaces what.

A function in place of another one gets that one as its first argument.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from trueaxis.core import law
from trueaxis.core.iteration import iterate
from trueaxis.core.reweighting import ReweightedStep
from trueaxis.core.starts import equal_weights
from trueaxis.core.verdicts import CoreRule, HalfRule
from trueaxis.data.rows import ArrayRows
from trueaxis.dswl import full_fit
from trueaxis.dswl.plan import calibrate, min_rows

STARTS = SAMPLE = DIRECTIONS = "core.starts"
PLAN, COMPRESSED = "dswl.plan", "dswl.sample_fit"
FIT, GROUPS, FULL = "dswl.sample_fit", "dswl.groups", "dswl.full_fit"
CORE, DISCRETE = "core.verdicts", "core.moments"
LAW = TAIL = "core.law"
NEVER = 10**9


def median_and_mad(ours, Z, h):
    center = np.median(Z, axis=1)
    return center, 1.4826 * np.median(np.abs(Z - center[:, None]), axis=1)


def start_of_all_rows(ours, X, half, k):
    return equal_weights(ArrayRows(X), k)


def to_the_end(ours, rows, start, trust, tol):
    return ours(rows, start, trust, -np.inf)


def all_rows(ours, shape):
    return 1


def never(ours, *args):
    return False


def unsettled(ours, rows, start, trust, tol):
    trust = min(1.0, max(trust, 2.0 * (len(start.basis) + 1) / rows.shape[0]))
    distances = ReweightedStep(rows, HalfRule(rows.shape[0]))(start).distances
    return start, calibrate(distances.v, distances.e, trust)


def one_round(ours, rows, start, temperatures, max_iter, tol, counts=None, **options):
    return ours(rows, start, temperatures, 1, tol, counts, **options)


def exact_rounds(
    ours, rows, start, temperatures, max_iter, tol, counts=None, **options
):
    return ours(rows, start, temperatures, max_iter, tol, counts)


def core_without_half(ours, rows, state):
    need = min_rows(rows.shape[0], len(state.basis))
    return ReweightedStep(rows, CoreRule(need))(state)


def half_only(ours, rows, state):
    need = min_rows(rows.shape[0], len(state.basis))
    return ReweightedStep(rows, HalfRule(need))(state)


def core_five_times(ours, rows, state):
    need = min_rows(rows.shape[0], len(state.basis))
    last = None
    for rule in (HalfRule(need), CoreRule(need)):
        step = ReweightedStep(rows, rule)
        last = iterate(step, state, max_iter=5, tol=1e-9, previous=last).last
        state = last.next
    return last


def without_refit(ours, self, state, rule):
    weights, subspaces = ours(self, state, rule)
    core = self.sample_fit.core
    fit_weight = None
    if not self.plan.large:
        fit_weight = np.zeros(self.judge.rows.shape[0])
        fit_weight[self.judge.index] = core.single_weights()
    kept = full_fit.FinalSubspaces(core.next, core.next, fit_weight, subspaces.n)
    return weights, kept


def refit_by_the_law(ours, self, sampled, subspace):
    return law.learn_law(self._cloud(sampled, subspace))


def as_measured(ours, distances):
    return distances


def gaussian_tail(ours, y, share, dof, *, gaussian=False):
    return ours(y, share, dof, gaussian=True)


def no_power_tails(ours, y, share, dof, *, gaussian=False):
    fitted = ours(y, share, dof, gaussian=gaussian)
    if fitted.scale == 0 or fitted.shape >= 0.05:
        return fitted
    m, shape = len(y), 0.05
    low, middle = np.interp(np.array([0.25, 0.5]) * m - 0.5, np.arange(m), y)
    quarter, center = (law._quantile(p * share, shape) for p in (0.25, 0.5))
    scale = (middle - low) / (center - quarter)
    return law.Tail(float(middle - scale * center), float(scale), shape)


def as_narrow_as_the_rows(ours, y, share, dof, *, gaussian=False):
    return ours(y, share, 10**6, gaussian=gaussian)


def ungrown(ours, counts):
    """Learn the law from the rows of the start only."""
    return False


def grown_over_shoulders(ours, counts):
    """Stop at gaps only."""
    return counts[2] > 0


def bent_beyond_the_edge_only(ours, counts):
    return ours(counts[1:])


def bent_within_the_edge_only(ours, counts):
    return ours(counts[:3])


def all_within(ours, self, d2):
    return 1.0


def of_all_rows(ours, views, distinct, leveled):
    """Learn the law from all rows."""
    measures = [law._Measure(view, distinct) for view in views]
    every = np.ones(int(distinct.sum()), dtype=bool)
    return [measure.tail(every) for measure in measures]


def as_if_continuous(ours, views, distinct, leveled):
    return ours(views, distinct, False)


def to_the_last_digit(ours, given, problem, k):
    found = ours(given, problem, k)
    return replace(found, tol=found.tol_on_all_rows)


def all_distinct(ours, distances):
    return np.ones(len(distances.e), dtype=bool)


def no_column(ours, X):
    return np.zeros(X.shape[1], dtype=bool)


def columns_with_a_common_value(ours, X):
    values = np.sort(X, axis=0)
    return 2 * (values == values[len(X) // 2]).sum(axis=0) > len(X)


def columns_with_few_values(ours, X):
    n_values = (np.diff(np.sort(X, axis=0), axis=0) > 0).sum(axis=0) + 1
    return n_values <= np.sqrt(len(X))


def ten_values(ours, X):
    n_values = (np.diff(np.sort(X, axis=0), axis=0) > 0).sum(axis=0) + 1
    return (n_values <= 10) | columns_with_a_common_value(ours, X)


def nothing_found(ours, *args):
    return None


def as_it_is(ours, X, split, axes):
    return split


def no_sides(ours, cloud, sides=None):
    return ours(cloud)


def always(ours, self, rows, n):
    return True


def half_of_one(ours, n, k):
    return min(n, k + 2)


def _constant(stage, module, name, ours, *others):
    for other in others:
        yield stage, f"{name} {ours} to {other}", {f"{module}:{name}": other}


def _changes():
    yield from _constant("reference", DIRECTIONS, "SEED", "of directions", 1, 2)
    yield from _constant("start", DIRECTIONS, "DIRECTIONS", 250, 125)
    yield from _constant("start", DIRECTIONS, "ENOUGH_ROWS", 1000, 300, NEVER)
    yield from _constant("start", DIRECTIONS, "ROWS_PER_COLUMN", 1, 5)
    yield from _constant("start", DIRECTIONS, "PLACES", 128, 16, NEVER)
    yield from _constant("start", FIT, "MANY_COMPONENTS", 20, 0, NEVER)
    yield (
        "start", "tightest half to median and MAD",
        {f"{STARTS}:_tightest": median_and_mad},
    )  # fmt: skip
    yield "start", "deepest half to all rows", {f"{FIT}:deep_start": start_of_all_rows}
    yield from _constant("start", SAMPLE, "SAMPLE_ROWS", 4000, 1500)
    yield "Algorithm 1", "settling off", {f"{FIT}:settle": unsettled}
    yield "Algorithm 1", "all rounds of settling", {f"{FIT}:settle": to_the_end}
    yield "Algorithm 1", "settling on all rows", {f"{FIT}:enough_rows!": all_rows}
    yield "Algorithm 1", "always exact axes", {f"{FIT}:learn": exact_rounds}
    yield from _constant("Algorithm 1", FIT, "SETTLE_ROUNDS", 8, 2)
    yield "Algorithm 1", "one round instead of all", {f"{FIT}:learn": one_round}
    yield (
        "Algorithm 1", "settling off, one round",
        {f"{FIT}:settle": unsettled, f"{FIT}:learn": one_round},
    )  # fmt: skip
    yield "Algorithm 1", "SQUAREM off", {f"{FIT}:Squarem": lambda ours: None}
    yield (
        "Algorithm 1",
        "tol, not its cube root",
        {f"{PLAN}:make_plan": to_the_last_digit},
    )
    yield from _constant("Algorithm 1", "core.reweighting", "POWER_STEPS", 2, 1)
    yield "Algorithm 1", "trust 0.5 to 0.35", {}, {"trust": 0.35}
    yield "Algorithm 1", "trust 0.5 to 0.65", {}, {"trust": 0.65}
    yield "columns", "never in few coordinates", {f"{FIT}:worthwhile": never}
    yield from _constant("columns", FIT, "NEARLY_ALL", 0.005, 0.1, 1e-6)
    yield from _constant("columns", FIT, "MOST_ADDITIONS", 4, 1, 20)
    yield from _constant("columns", COMPRESSED, "SPARE", 20, 5, 60)
    yield from _constant("columns", COMPRESSED, "WORTHWHILE", 4, 2)
    yield from _constant("columns", COMPRESSED, "POWERS", 2, 1)
    yield (
        "plan", "judged with all components",
        {f"{PLAN}:max_components_with_outliers": lambda ours, n, trust: NEVER},
    )  # fmt: skip
    yield "core", "HalfRule off", {f"{FIT}:find_core": core_without_half}
    yield "core", "CoreRule off", {f"{FIT}:find_core": half_only}
    yield from _constant("core", CORE, "CORE", 1.5, 1.0, 2.5)
    yield "core", "each rule five times", {f"{FIT}:find_core": core_five_times}
    yield "core", "leverage left in", {f"{CORE}:without_leverage": as_measured}
    yield "core", "copies count", {f"{CORE}:distinct_rows!": all_distinct}
    yield (
        "refit",
        "off: axes of the core",
        {f"{FULL}:FullDataFit.reweight": without_refit},
    )
    yield (
        "refit", "rows of the learned law",
        {f"{CORE}:Judge.law_of_fit": refit_by_the_law},
    )  # fmt: skip
    yield "refit", "at least half off", {f"{FULL}:min_rows!": half_of_one}
    yield from _constant("law", LAW, "REGULAR", 0.025, 0.01, 0.05)
    yield from _constant("law", LAW, "BAND", 0.02, 0.2, 0.002)
    yield from _constant("law", TAIL, "UNSURE", 10, 0.0, 30.0)
    yield from _constant("law", LAW, "FEW", 8, 0, 30)
    yield "law", "Gaussian tails only", {f"{LAW}:fit_tail!": gaussian_tail}
    yield "law", "no tails heavier than lognormal", {f"{LAW}:fit_tail!": no_power_tails}
    yield "law", "as narrow as the rows", {f"{LAW}:fit_tail!": as_narrow_as_the_rows}
    yield "law", "upper quantile to 0.75", {f"{TAIL}:_upper": lambda ours, m: 0.75}
    yield "law", "all rows within reach", {f"{TAIL}:Tail.share_within": all_within}
    yield "law", "growth off", {f"{LAW}:_log_concave": ungrown}
    yield "law", "only gaps stop", {f"{LAW}:_log_concave": grown_over_shoulders}
    yield (
        "law", "bends beyond the edge only",
        {f"{LAW}:_log_concave": bent_beyond_the_edge_only},
    )  # fmt: skip
    yield (
        "law", "bends up to the edge only",
        {f"{LAW}:_log_concave": bent_within_the_edge_only},
    )  # fmt: skip
    yield "law", "levels do not matter", {f"{LAW}:_grow": as_if_continuous}
    yield "law", "learned from all rows", {f"{LAW}:_grow": of_all_rows}
    yield "law", "copies count", {f"{LAW}:distinct_rows!": all_distinct}
    yield (
        "discrete",
        "discrete columns off",
        {f"{DISCRETE}:discrete_columns": no_column},
    )
    yield from _constant("discrete", DISCRETE, "TIE", 1e-5, 0.0, 1e-2)
    yield from _constant("discrete", DISCRETE, "MOSTLY", "1/3", 0.0, 1.0)
    yield (
        "discrete", "few values only",
        {f"{DISCRETE}:discrete_columns": columns_with_few_values},
    )  # fmt: skip
    yield (
        "discrete", "common value only",
        {f"{DISCRETE}:discrete_columns": columns_with_a_common_value},
    )  # fmt: skip
    yield (
        "discrete", "few is 10, not sqrt(n)",
        {f"{DISCRETE}:discrete_columns": ten_values},
    )  # fmt: skip
    yield "groups", "sharpening off", {f"{GROUPS}:sharpen": as_it_is}
    yield "groups", "groups off", {f"{FIT}:split_in_two": nothing_found}
    yield "groups", "bending off", {f"{FIT}:bending_group": nothing_found}
    yield (
        "groups", "groups and bending off",
        {f"{FIT}:split_in_two": nothing_found, f"{FIT}:bending_group": nothing_found},
    )  # fmt: skip
    yield "groups", "sides off in verdicts", {f"{CORE}:learn_law!": no_sides}
    for name, ours, others in (
        ("CLIP", 3.0, (1.0, 1e9)),
        ("LEAST_SHARE", 0.08, (0.02, 0.15)),
        ("LEAST_DEVIATION", 0.05, (1e-6, 0.2)),
        ("LONGEST", 3, (1, 6)),
        ("FAR_STEPS", 4, (2, 8)),
        ("NEAR_STEPS", 2, (4,)),
        ("FINALISTS", 8, (2, 250)),
        ("CLEAR", -0.5, (0.0, -1.0)),
        ("APART", 2.5, (0.0, 4.0)),
        ("LEAST_ROWS", 25, (4, 100)),
    ):
        yield from _constant("groups", GROUPS, name, ours, *others)
    for name, ours, others in (
        ("PENALTY", 10.0, (0.0, 30.0)),
        ("CHANCE", 1.25, (0.0, 2.5)),
        ("GAUSSIAN", 2.24, (3.0,)),
        ("MAJORITY", 0.6, (0.5, 0.75)),
    ):
        yield from _constant("groups", FIT, name, ours, *others)
    yield (
        "groups", "bending although unexplained",
        {f"{FIT}:SampleFit.explains": always},
    )  # fmt: skip


CHANGES = list(_changes())
