"""Whether columns share a unit, and which are better analyzed as logarithms."""

import re

import numpy as np
import pytest

from trueaxis._columns import Column
from trueaxis.preprocessing.decisions import (
    LOG_UNIT,
    decide_scale,
    is_series,
    log_helps,
    log_hint,
    unit_of,
)

N = 1000
YES = {
    "lognormal": lambda rng, n: rng.lognormal(3, 0.75, n),
    "powers of ten": lambda rng, n: 10 ** rng.uniform(0, 4, n),
    "heavy counts": lambda rng, n: np.ceil(rng.lognormal(3, 1, n)),
}
NO = {
    "normal": lambda rng, n: rng.normal(10, 1, n),
    "narrow lognormal": lambda rng, n: rng.lognormal(0, 0.1, n),
    "uniform": lambda rng, n: rng.uniform(0, 1, n),
    "counts": lambda rng, n: rng.poisson(3, n) + 1.0,
    "ratings": lambda rng, n: rng.choice(5, n, p=[0.4, 0.3, 0.15, 0.1, 0.05]) + 1.0,
    "two groups": lambda rng, n: rng.normal(10 + 10 * (rng.random(n) < 0.3), 1, n),
}


def number(name, spread=1.0, unit="", n=50):
    seed = sum(map(ord, name))
    values = spread * np.random.default_rng(seed).standard_normal(n)
    return Column(name, "number", values, unit)


@pytest.mark.parametrize(
    ("name", "unit"),
    [
        ("flow (l/min)", "l/min"),
        ("temp [°C]", "°C"),
        ("speed[m/s]", "m/s"),
        ("width_mm", ""),
        ("score ()", ""),
        ("(mm)", ""),
        ("", ""),
    ],
)
def test_units_are_those_of_the_file_or_in_brackets(name, unit):
    assert unit_of(number(name)) == unit
    assert unit_of(number(name, unit="furlong")) == "furlong"


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["404.0", "402.0", "400.0"], True),
        (["400.3", "402.7", "405.0", "407.4"], True),  # rounded
        (["1", "2", "3"], False),  # just counts
        (["400", "402"], False),  # too few
        (["400", "402", "500"], False),
        (["400", "402", "x"], False),
        (["nan", "inf", "1"], False),
    ],
)
def test_names_that_are_a_series(names, expected):
    assert is_series(names) is expected


@pytest.mark.parametrize(
    ("columns", "how", "words"),
    [
        ([("a (mm)", 1), ("b (mm)", 1000)], "none", "all of them are in 'mm'"),
        ([("a (mm)", 1), ("b (kg)", 1), ("c", 1)], "robust", r"units \('mm', 'kg'\)"),
        ([("a (mm)", 1), ("b", 2)], "none", "less than a factor of 30"),
        ([("a (mm)", 1), ("b", 2000)], "robust", "'b' is .* times that of 'a .mm.'"),
        ([("400", 1), ("402", 1000), ("404", 1)], "none", "'400' to '404', are evenly"),
        ([("a", 1), ("b", 500, LOG_UNIT)], "robust", "share no unit"),
        ([("a", 1, LOG_UNIT), ("b", 500, LOG_UNIT)], "none", "all .* are logarithms"),
    ],
)
def test_decisions(columns, how, words):
    found, sentence = decide_scale([number(*each) for each in columns])
    assert found == how
    assert re.fullmatch(f"Columns were .*{words}.*[.]", sentence)


def test_columns_that_hardly_vary_say_nothing_about_units():
    rare = np.zeros(1000)
    rare[0] = 1
    columns = [number("a", n=1000), number("b", n=1000), Column("r", "number", rare)]
    empty = Column("e", "number", np.full(1000, np.nan))
    for several in (columns, [*columns, empty], [empty, columns[-1]]):
        assert decide_scale(several)[0] == "none"
    assert decide_scale(columns[:1]) == decide_scale([]) == ("none", "")


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", [*YES, *NO])
def test_where_logarithms_help(name, seed):
    values = (YES | NO)[name](np.random.default_rng(seed), N)
    assert log_helps(values) == (name in YES)
    assert log_helps(np.append(values * 1e-200, np.nan)) == (name in YES)
    assert not log_helps(np.append(values, 0.0))  # has no logarithm


@pytest.mark.parametrize("size", [1e-9, 10.0, 1e9])
@pytest.mark.parametrize("name", [*YES, *NO])
def test_outliers_cannot_bend_the_decision(name, size):
    values = (YES | NO)[name](np.random.default_rng(0), N)
    values[: N // 10] = (values.max() if size > 1 else values.min()) * size
    assert log_helps(values) == (name in YES)


@pytest.mark.parametrize(
    "values", [[], [np.nan], [1.0], [3.0] * 50, [5e-324] * 3 + [1e308]]
)
def test_odd_columns_have_no_logarithms(values):
    assert not log_helps(np.array(values))


def test_the_hint_names_columns():
    rng = np.random.default_rng(0)
    price, area = (
        Column(n, "number", rng.lognormal(0, 1, N)) for n in ("price", "area")
    )
    flow = Column("flow", "number", rng.normal(10, 1, N))
    (sentence,) = log_hint([price, area, flow], "--log auto")
    assert sentence.startswith("Columns 'price', 'area' are skewed")
    assert sentence.endswith("try --log auto.")
    assert log_hint([flow]) == []
