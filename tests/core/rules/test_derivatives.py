"""Weights are derivatives of the objective, for every rule that has one."""

import numpy as np
import pytest
from engine_data import some_distances

from trueaxis.core.rules import PowerRule
from trueaxis.dswl.plan import EntropyRule
from trueaxis.methods.residual import CauchyRule, HuberRule
from trueaxis.methods.retained import AngleRule, LengthRule, MembershipRule
from trueaxis.methods.selection import NearestRule, NeighborRule, RatioRule
from trueaxis.methods.sparse import AdaptiveRule

RULES = [
    PowerRule(1.0), PowerRule(0.5), HuberRule(0.8), CauchyRule(0.8), AdaptiveRule(0.8),
    NearestRule(20.0, p=1.0), NearestRule(20.0, p=2.0), NeighborRule(20.0, gamma=9.0),
]  # fmt: skip


def slopes(moved, rule, distances):
    out = []
    for row in range(len(distances.e)):
        step = np.zeros(len(distances.e))
        step[row] = 1e-6 * (distances.e[row] + distances.v[row])
        up, down = (rule.objective(moved(s), 0.0) for s in (step, -step))
        out.append((up - down) / (2 * step[row]))
    return np.array(out)


def assert_proportional(w, slope):
    np.testing.assert_allclose(w / w.sum(), slope / slope.sum(), atol=1e-6)


@pytest.mark.parametrize("rule", RULES, ids=str)
def test_weights_are_derivatives_of_the_loss_by_e(rule):
    distances = some_distances()
    rule = rule.freeze(distances)
    w = np.exp(rule.weigh(distances).log_weights)
    slope = slopes(
        lambda step: distances._replace(e=distances.e + step), rule, distances
    )
    assert_proportional(w, slope)


@pytest.mark.parametrize(
    "rule",
    [MembershipRule(0.7), LengthRule(), AngleRule(0.5), AngleRule(0.5, exact=False)],
    ids=str,
)
def test_weights_are_derivatives_by_v_at_fixed_d(rule):
    distances = some_distances()
    rule = rule.freeze(distances)
    w = np.exp(rule.weigh(distances).log_weights)
    slope = slopes(
        lambda step: distances._replace(v=distances.v + step, e=distances.e - step),
        rule,
        distances,
    )
    assert_proportional(w, slope)


@pytest.mark.parametrize("ratio", ["tan", "sin2"])
def test_weights_of_ratios_are_derivatives(ratio):
    distances = some_distances()
    rule = RatioRule(20.0, ratio=ratio).freeze(distances)
    w = np.exp(rule.weigh(distances).log_weights)
    slope = slopes(
        lambda step: distances._replace(v=distances.v + step, e=distances.e - step),
        rule,
        distances,
    )
    assert_proportional(w, -slope)


def test_dswl_weights_are_derivatives_of_their_log_sum():
    distances, rule = some_distances(), EntropyRule(9.0, 7.0, 5.0)

    def log_total(distances):
        return np.log(np.exp(rule.weigh(distances).log_weights).sum())

    w = np.exp(rule.weigh(distances).log_weights)
    h = 1e-6 * np.eye(len(w))
    slope = [
        log_total(distances._replace(e=distances.e + x))
        - log_total(distances._replace(e=distances.e - x))
        for x in h
    ]
    assert_proportional(w, -np.array(slope))
