"""Numbers and names in words, as summaries, plots and the report write them."""

from __future__ import annotations


def counted(n: float, what: str) -> str:
    """Return a number and what it counts, in the plural unless it is 1."""
    number = f"{n:,.0f}" if float(n).is_integer() else f"{n:,.4g}"
    return f"{number} {what}{'' if n == 1 else 's'}"


def share_of(n: int, total: int) -> str:
    """Return how many of all rows, with their share."""
    share = f" ({percent(n / total)})" if n else ""
    return f"{n:,} of {counted(total, 'row')}{share}"


def percent(share: float) -> str:
    """Format a share in percent, with one more digit where it is small."""
    value = 100 * float(share)
    if 0 < value < 0.05:
        return "less than 0.1 %"
    return f"{value:.0f} %" if value >= 9.95 or value == 0 else f"{value:.1f} %"


def shorten(text: str, most: int = 26) -> str:
    """Shorten long names in the middle, since their ends tell them apart."""
    if len(text) <= most:
        return text
    head = (most - 1) // 2
    return f"{text[:head]}…{text[-(most - 1 - head) :]}"
