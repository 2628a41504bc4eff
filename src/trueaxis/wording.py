"""Numbers and names in words, as summaries, plots and the report write them."""

from __future__ import annotations

import re

# Control characters and halves of characters, which fonts and files do not have.
_UNWRITABLE = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")


def counted(n: float, what: str) -> str:
    """Return a number and what it counts, in the plural unless it is 1."""
    number = f"{n:,.0f}" if float(n).is_integer() else f"{n:,.4g}"
    return f"{number} {what}{'' if n == 1 else 's'}"


def percent(share: float) -> str:
    """Format a share in percent, with one more digit where it is small."""
    value = 100 * float(share)
    if 0 < value < 0.05:
        return "less than 0.1 %"
    return f"{value:.0f} %" if value >= 9.95 or value == 0 else f"{value:.1f} %"


def shorten(text: str, most: int = 26) -> str:
    r"""Shorten long names in the middle, since their ends tell them apart.

    Examples
    --------
    >>> from trueaxis.wording import shorten
    >>> shorten("pressure at the inlet", 12), shorten("a\nb\x1b[2J")
    ('press… inlet', 'a b�[2J')
    """
    if len(text) > most:
        head = (most - 1) // 2
        text = f"{text[:head]}…{text[-(most - 1 - head) :]}"
    return _UNWRITABLE.sub(
        lambda sign: " " if sign[0].isspace() else "\N{REPLACEMENT CHARACTER}", text
    )
