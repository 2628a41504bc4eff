"""Shared parts of the displays."""

from trueaxis.plots.canvas import percent, shorten


def test_long_names_keep_both_ends():
    assert shorten("flow") == "flow"
    assert shorten("temperature of bearing 17", 11) == "tempe…ng 17"


def test_small_shares_keep_a_digit():
    shares = (0.0, 1e-5, 0.0123, 0.0996, 0.5)
    expected = ["0 %", "less than 0.1 %", "1.2 %", "10 %", "50 %"]
    assert [percent(share) for share in shares] == expected
