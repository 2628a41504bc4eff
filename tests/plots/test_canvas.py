"""Shared parts of the displays."""

from trueaxis.plots.canvas import shorten


def test_long_names_keep_both_ends():
    assert shorten("flow") == "flow"
    assert shorten("temperature of bearing 17", 11) == "tempe…ng 17"
