"""The cases of `before_after.py`: some 1000 tables and settings, in groups."""

from __future__ import annotations

from pathlib import Path

import before_after_clouds as clouds
import before_after_tables as tables
from before_after_clouds import Case, size

FAST_EVERY = 4  # of the cases that are not slow


def cases(home: Path | None, fast: bool = False) -> list[Case]:
    """List all cases; those with real tables only if there is a folder of them."""
    some = ("both", "scatter")
    shapes = (size(400, 15, 3), size(60, 90, 2), size(2500, 25, 4))
    found = [
        *clouds.all_kinds(),
        *clouds.numbers(),
        *clouds.parameters(),
        *clouds.wide(),
        *clouds.crowded(),
        *tables.shifted_groups(),
        *clouds.heavy_clouds(),
        *tables.drawn("heavy tails", tables.HEAVY, (2, "auto"), 2),
        *tables.awkward(),
        *tables.nasty(),
        *clouds.inputs("inputs", some, *shapes),
        *clouds.large(),
        *clouds.inputs("large inputs", ("both",), size(12_000, 20, 3)),
        *tables.drawn("large", tables.LARGE, (2, "auto"), 1),
        *tables.holes(),
        *tables.generated(),
    ]
    if home is not None:
        found += [*tables.labelled(home), *tables.uci(home), *tables.faces(home)]
    names = {case.name for case in found}
    assert len(names) == len(found), "two cases have the same name"
    return [case for case in found if not case.slow][::FAST_EVERY] if fast else found
