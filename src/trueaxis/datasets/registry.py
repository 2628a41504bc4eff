"""What is known about the paper's data sets: sizes, sums, checksums, identifiers.

The numbers are in facts.json. They were taken from copies that agreed with second
sources; the data themselves are not part of this package.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

# In the order of the paper's tables.
UCI = (
    "seeds",
    "ecoli",
    "leaf",
    "happiness",
    "zoo",
    "column",
    "breast_cancer",
    "glass",
    "wine",
    "bupa",
)
FACES = ("yale", "yaleb", "orl", "umist")

SHAPE = (32, 32)


@dataclass(frozen=True)
class Facts:
    """What must be true of a data set, and where it can be had.

    Attributes
    ----------
    name, title : str
    file : str
        Its place below a data home, as uci/<name>.csv or faces/<name>.npz.
    n, d, paper_n : int
        Rows, features, and the number of rows that the paper reports.
    class_counts : dict
        Name and number of rows of every class.
    sha256 : str
        Of the file.
    values_sha256 : str
        Of features and classes, row by row: see `checks.digest`.
    uci : int or None
        Number at the UCI repository.
    openml : dict or None
        Its id, name and version at OpenML.
    licence, notes : str
    features : tuple of str
        Names of the columns; made up for images.
    column_sums : tuple of float
        Of the features, for tables.
    mat : tuple of str
        Other names of a local MATLAB file, for images.
    openml_shape : tuple of int or None
        Height and width of the images at OpenML.
    row_means, column_means : tuple of int
        Of the mean image: they tell an upright image from one on its side.
    """

    name: str
    title: str
    file: str
    n: int
    d: int
    paper_n: int
    class_counts: dict[str, int]
    sha256: str
    values_sha256: str
    uci: int | None
    openml: dict[str, Any] | None
    licence: str
    notes: str
    features: tuple[str, ...]
    column_sums: tuple[float, ...] = ()
    mat: tuple[str, ...] = ()
    openml_shape: tuple[int, ...] | None = None
    row_means: tuple[int, ...] = field(default=(), repr=False)
    column_means: tuple[int, ...] = field(default=(), repr=False)

    @property
    def is_faces(self) -> bool:
        """Whether the rows are images."""
        return self.name in FACES

    @property
    def identifiers(self) -> str:
        """Where the data set is registered, in words."""
        known = []
        if self.openml is not None:
            entry = self.openml
            words = (
                f"OpenML {entry['id']} ({entry['name']}, version {entry['version']})"
            )
            known.append(words)
        if self.uci is not None:
            known.append(f"UCI {self.uci}")
        return ", ".join(known) or "no registry"


@cache
def known() -> dict[str, Facts]:
    """The facts about every data set, by name."""
    text = files("trueaxis.datasets").joinpath("facts.json").read_text("utf-8")
    pixels = [f"pixel_{r}_{c}" for r in range(SHAPE[0]) for c in range(SHAPE[1])]
    found = {}
    for name, entry in json.loads(text).items():
        entry.setdefault("features", pixels)
        for key, value in entry.items():
            entry[key] = tuple(value) if isinstance(value, list) else value
        found[name] = Facts(name=name, **entry)
    return found


def facts_of(name: str) -> Facts:
    """The facts about one data set."""
    if name not in known():
        raise ValueError(
            f"name={name!r} is not a data set of the paper: choose one of "
            f"{', '.join(UCI + FACES)}."
        )
    return known()[name]
