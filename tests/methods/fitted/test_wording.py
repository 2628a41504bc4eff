"""Numbers and names in words."""

import pytest

from trueaxis.wording import counted, percent, shorten


@pytest.mark.parametrize(
    ("n", "words"),
    [(1, "1 row"), (0, "0 rows"), (12345.0, "12,345 rows"), (2.5, "2.5 rows")],
)
def test_counts(n, words):
    assert counted(n, "row") == words


@pytest.mark.parametrize(
    ("share", "words"),
    [
        (0, "0 %"),
        (1, "100 %"),
        (0.034, "3.4 %"),
        (0.5, "50 %"),
        (1e-5, "less than 0.1 %"),
    ],
)
def test_percent(share, words):
    assert percent(share) == words


def test_long_names_lose_their_middle():
    name = "temperature of the bearing number 7"
    assert len(shorten(name)) == 26 and shorten(name).endswith("number 7")
    assert shorten("flow") == "flow"
