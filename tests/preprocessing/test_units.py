"""Whether columns share a unit."""

import re

import numpy as np
import pytest

from trueaxis._columns import Column
from trueaxis.preprocessing.decisions import LOG_UNIT, decide_scale, is_series, unit_of


def number(name, spread=1.0, unit="", n=50):
    seed = sum(map(ord, name))
    values = spread * np.random.default_rng(seed).standard_normal(n)
    return Column(name, "number", values, unit)


@pytest.mark.parametrize(
    ("name", "unit"),
    [
        ("flow (l/min)", "l/min"),
        ("temp [C]", "C"),
        ("temp (°C)", "°C"),
        ("speed[m/s]", "m/s"),
        ("density (kg/m^3)", "kg/m^3"),
        ("area (m²)", "m²"),
        ("share (%)", "%"),
        ("conductivity (µS/cm)", "µS/cm"),
        ("price ($)", "$"),
        ("irradiance (W m-2)", "W m-2"),
        ("rate (1/s)", "1/s"),
        ("width_mm", "mm"),
        ("width mm", "mm"),
        ("load_kW", "kw"),
        # What looks like a unit, but need not be one.
        ("x_m", ""),
        ("temp_in", ""),
        ("temp_min", ""),
        ("score (mean)", ""),
        ("score (1)", ""),
        ("score ()", ""),
        ("(mm)", ""),
        ("mm", ""),
        ("mm_left", ""),
        ("model (x)", ""),
        ("f(x)", ""),
        ("comm", ""),
        ("", ""),
    ],
)
def test_units_in_names(name, unit):
    assert unit_of(number(name)) == unit
    assert unit_of(number(name, unit="furlong")) == "furlong"


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["400", "402", "404"], True),
        (["404.0", "402.0", "400.0"], True),
        (["1990", "1991", "1992"], True),
        (["400.3", "402.7", "405.0", "407.4"], True),  # rounded
        (["-1", "0", "1"], True),
        (["0", "1", "2"], False),  # just counts
        (["1", "2", "3"], False),
        (["400", "402"], False),  # too few
        (["400", "402", "500"], False),
        (["400", "400", "400"], False),
        (["400", "402", "x"], False),
        (["x0", "x1", "x2"], False),
        (["nan", "inf", "1"], False),
    ],
)
def test_names_that_are_a_series(names, expected):
    assert is_series(names) is expected


@pytest.mark.parametrize(
    ("columns", "how", "words"),
    [
        ([("a (mm)", 1), ("b (mm)", 1000)], "none", "all of them are in 'mm'"),
        ([("a (mm)", 1), ("b (kg)", 1)], "robust", r"different units \('mm', 'kg'\)"),
        ([("a (mm)", 1), ("b (kg)", 1), ("c", 1)], "robust", "different units"),
        ([("a (mm)", 1), ("b", 2)], "none", "less than a factor of 30"),
        ([("a (mm)", 1), ("b", 2000)], "robust", "'b' is .* times that of 'a .mm.'"),
        ([("400", 1), ("402", 1000), ("404", 1)], "none", "'400' to '404', are evenly"),
        ([("1", 1), ("2", 1000), ("3", 1)], "robust", "spread of '2'"),
        ([("a", 1), ("b", 20)], "none", "less than a factor of 30"),
        ([("a", 1), ("b", 100)], "robust", "spread of 'b' is"),
    ],
)
def test_decisions(columns, how, words):
    found, sentence = decide_scale([number(*each) for each in columns])
    assert found == how
    assert sentence.startswith(
        "Columns were scaled" if how == "robust" else "Columns were not"
    )
    assert re.search(words, sentence)
    assert sentence.endswith(".") and sentence.count(". ") == 0


def test_units_of_files():
    a, b, c = (number("a", 1, "mm"), number("b", 9999, "mm"), number("c", 1, "kg"))
    assert decide_scale([a, b])[0] == "none" and decide_scale([a, c])[0] == "robust"


def test_logarithms():
    logs = [number("a", 1, LOG_UNIT), number("b", 500, LOG_UNIT)]
    assert decide_scale(logs) == (
        "none",
        "Columns were not scaled: all of them are logarithms.",
    )
    assert decide_scale([*logs, number("c")])[0] == "robust"
    assert decide_scale([*logs, number("c (mm)")])[0] == "robust"


def test_one_column_needs_no_decision():
    assert decide_scale([number("a")]) == ("none", "")
    assert decide_scale([]) == ("none", "")


def test_columns_that_hardly_vary_say_nothing_about_units():
    rare = np.zeros(1000)
    rare[0] = 1
    columns = [number("a", n=1000), number("b", n=1000), Column("r", "number", rare)]
    assert decide_scale(columns)[0] == "none"
    empty = Column("e", "number", np.full(1000, np.nan))
    assert decide_scale([*columns, empty])[0] == "none"
    assert decide_scale([empty, columns[-1]])[0] == "none"
