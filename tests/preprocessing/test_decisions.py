"""Whether columns share a unit."""

import re

import numpy as np
import pytest

from trueaxis._columns import Column
from trueaxis.preprocessing.decisions import (
    LOG_UNIT,
    decide_scale,
    is_series,
    unit_of,
)


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
