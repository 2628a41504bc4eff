"""Indicators of levels, compared with MCA and FAMD by the textbook and by prince."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.pipeline import make_pipeline

from trueaxis import TableEncoder
from trueaxis._columns import Column
from trueaxis.methods import PlainPCA
from trueaxis.preprocessing.encoder import cells_as_text, indicators


def text(*cells):
    values = np.empty(len(cells), dtype=object)
    values[:] = cells
    return Column("site", "text", values)


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(1)
    n = 300
    table = pd.DataFrame(
        {
            "a": rng.normal(size=n),
            "b": rng.gamma(2, size=n) * 100,
            "c": rng.normal(size=n),
            "s": rng.choice(list("xyz"), n, p=[0.6, 0.3, 0.1]),
            "t": rng.choice(list("uvwq"), n),
        }
    )
    table["c"] += table["a"] + (table["s"] == "x")
    return table


def scores_and_variances(Z):
    U, s, _ = np.linalg.svd(Z, full_matrices=False)
    return U * s, s**2 / len(Z)


def assert_same_up_to_sign(a, b):
    signs = np.sign((a * b).sum(axis=0))
    np.testing.assert_allclose(a, b * signs, atol=1e-10)


def test_mca_by_the_textbook(table):
    """Correspondence analysis of the indicator matrix, by its residuals."""
    cells = table[["s", "t"]]
    G = pd.get_dummies(cells).to_numpy(float)
    P = G / G.sum()
    r, c = P.sum(axis=1), P.sum(axis=0)
    residuals = (P - np.outer(r, c)) / np.sqrt(np.outer(r, c))
    U, s, _ = np.linalg.svd(residuals, full_matrices=False)
    rank, Q = 5, 2  # 3 + 4 levels of 2 columns
    expected = (U * s)[:, :rank] / np.sqrt(r)[:, None]

    Z = TableEncoder(categories=True).fit_transform(cells)
    scores, variances = scores_and_variances(Z)
    np.testing.assert_allclose(variances[:rank] / Q, s[:rank] ** 2, rtol=1e-12)
    np.testing.assert_allclose(variances[rank:], 0, atol=1e-12)
    assert_same_up_to_sign(scores[:, :rank] / np.sqrt(Q), expected)


def test_famd_of_prince(table):
    prince = pytest.importorskip("prince")
    rank = 8
    reference = prince.FAMD(n_components=rank, engine="scipy").fit(table)
    given, numbers = table, table[["a", "b", "c"]]
    scaled = (numbers - numbers.mean()) / numbers.std(ddof=0)
    table = table.assign(**scaled)
    encoder = TableEncoder(categories=True, scale="none")
    scores, variances = scores_and_variances(encoder.fit_transform(table))
    np.testing.assert_allclose(variances[:rank], reference.eigenvalues_, rtol=1e-10)
    expected = reference.row_coordinates(given).to_numpy()
    assert_same_up_to_sign(scores[:, :rank], expected)
    # The method comes to the same, up to its unbiased variance.
    model = make_pipeline(encoder, PlainPCA(3)).fit(table)
    assert_same_up_to_sign(model.transform(table), expected[:, :3])


def test_levels_of_numbers_are_written_without_a_point():
    number = Column("x", "number", np.array([10.0, 2.0, np.nan, 2.5]))
    assert cells_as_text(number) == ["10", "2", None, "2.5"]
    encoder = TableEncoder(categories=["x"]).fit([number])
    assert encoder.categories_ == {"x": ["2", "2.5", "10"]}
    coded = text(10, 2, None, 2.5, np.int8(2), 2.0)
    assert cells_as_text(coded) == ["10", "2", None, "2.5", "2", "2"]
    assert cells_as_text(text(True, b"\xff", "")) == [
        "True",
        "\N{REPLACEMENT CHARACTER}",
        "",
    ]


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        ("abcdef", True),
        ("aabbcc", False),
        ("aabcde", True),  # 4 of 6 rows are alone
        ("aaabcd", False),  # 3 of 6
    ],
)
def test_names_of_rows(cells, expected):
    other = Column("x", "number", np.arange(len(cells)) ** 2.0)
    encoder = TableEncoder(categories=True).fit([text(*cells), other])
    assert (encoder.left_out_ == {"site": "names"}) is expected


@given(
    st.lists(st.one_of(st.none(), st.sampled_from(["a", "b", "", "a=b"])), min_size=1)
)
def test_indicators_say_which_level_a_row_has(cells):
    column, levels = text(*cells), ["", "a", "a=b", "b"]
    table = indicators(column, levels)
    assert table.shape == (len(cells), len(levels))
    for cell, row in zip(cells, table, strict=True):
        if cell is None:
            assert np.isnan(row).all()
        else:
            assert row.sum() == 1 and levels[int(row.argmax())] == cell
