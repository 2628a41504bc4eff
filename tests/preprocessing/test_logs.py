"""Which columns are better analyzed as logarithms."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trueaxis._columns import Column
from trueaxis.preprocessing.decisions import log_helps, log_hint

N = 1000
YES = {
    "lognormal 0.75": lambda rng, n: rng.lognormal(3, 0.75, n),
    "lognormal 1": lambda rng, n: rng.lognormal(0, 1, n),
    "lognormal 2": lambda rng, n: rng.lognormal(-5, 2, n),
    "powers of ten": lambda rng, n: 10 ** rng.uniform(0, 4, n),
    "heavy counts": lambda rng, n: np.ceil(rng.lognormal(3, 1, n)),
}
NO = {
    "normal": lambda rng, n: rng.normal(10, 1, n),
    "wide normal": lambda rng, n: np.abs(rng.normal(10, 3, n)),
    "lognormal 0.1": lambda rng, n: rng.lognormal(0, 0.1, n),
    "uniform": lambda rng, n: rng.uniform(0, 1, n),
    "far uniform": lambda rng, n: rng.uniform(1, 2, n),
    "counts": lambda rng, n: rng.poisson(3, n) + 1.0,
    "large counts": lambda rng, n: rng.poisson(20, n) + 1.0,
    "percent": lambda rng, n: 100 * rng.beta(2, 2, n),
    "high percent": lambda rng, n: 100 * rng.beta(8, 2, n),
    "ratings": lambda rng, n: rng.choice(5, n, p=[0.4, 0.3, 0.15, 0.1, 0.05]) + 1.0,
    "years": lambda rng, n: rng.integers(1950, 2024, n) + 0.0,
    "two groups": lambda rng, n: rng.normal(10 + 10 * (rng.random(n) < 0.3), 1, n),
    "negative lognormal": lambda rng, n: 100 - rng.lognormal(0, 1, n).clip(0, 99),
}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", YES)
def test_where_logarithms_help(name, seed):
    values = YES[name](np.random.default_rng(seed), N)
    assert log_helps(values)
    assert not log_helps(np.log(values) - np.log(values).min() + 10)
    assert not log_helps(np.append(values, 0.0))  # has no logarithm


@pytest.mark.parametrize("n", [30, N])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", NO)
def test_where_they_do_not(name, seed, n):
    assert not log_helps(NO[name](np.random.default_rng(seed), n))


@pytest.mark.parametrize("share", [0.05, 0.1])
@pytest.mark.parametrize("size", [1e-9, 10.0, 1e9])
@pytest.mark.parametrize("name", [*YES, *NO])
def test_outliers_cannot_bend_the_decision(name, size, share):
    values = (YES | NO)[name](np.random.default_rng(0), N)
    bad = int(share * N)
    top = np.abs(values).max()
    values[:bad] = top * size if size > 1 else values.min() * size
    assert log_helps(values) == (name in YES)


@given(st.floats(-200, 200), st.integers(0, 5))
def test_units_and_holes_do_not_matter(exponent, holes):
    values = np.random.default_rng(0).lognormal(0, 1, 300)
    scaled = np.append(values * 10.0**exponent, [np.nan] * holes)
    assert log_helps(scaled)


@pytest.mark.parametrize(
    "values", [[], [np.nan], [1.0], [1.0, 2.0], [3.0] * 50, [5e-324] * 3 + [1e308]]
)
def test_odd_columns(values):
    assert not log_helps(np.array(values))


def test_the_hint_names_columns():
    rng = np.random.default_rng(0)
    price, area = (
        Column(n, "number", rng.lognormal(0, 1, N)) for n in ("price", "area")
    )
    flow = Column("flow", "number", rng.normal(10, 1, N))
    site = Column("site", "text", np.array(["a"] * N, dtype=object))
    (sentence,) = log_hint([price, flow, site])
    assert sentence.startswith("Column 'price' is skewed")
    assert sentence.endswith('try log="auto".')
    (sentence,) = log_hint([price, area], "--log auto")
    assert sentence.startswith("Columns 'price', 'area' are skewed")
    assert sentence.endswith("try --log auto.")
    assert log_hint([flow, site]) == []
