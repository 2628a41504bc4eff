"""Facts about the paper's data sets: sizes, sums, checksums, identifiers.

The numbers are in facts.json. They were taken from copies that agreed with a second
source. The data sets themselves are not part of this package.
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
    """Facts that a copy of a data set must match, and where to get one.

    Attributes
    ----------
    name, title : str
    file : str
        Path in a data home: uci/<name>.csv or faces/<name>.npz.
    n, d, paper_n : int
        Number of rows and of features, and number of rows that the paper reports.
    class_counts : dict
        Name and number of rows of every class.
    sha256 : str
        Checksum of the file.
    values_sha256 : str
        Checksum of features and classes, row by row; see `checks.digest`.
    uci : int or None
        Identifier in the UCI repository.
    openml : dict or None
        Id, name and version at OpenML.
    licence, notes : str
    features : tuple of str
        Column names; generated for images.
    column_sums : tuple of float
        Sums of the features, for tables.
    mat : tuple of str
        Other names of a local MATLAB file, for images.
    openml_shape : tuple of int or None
        Height and width of the images at OpenML.
    row_means, column_means : tuple of int
        Row and column means of the mean image, to check whether images are upright.
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
        """Registries of the data set with its identifiers, as text."""
        identifiers = []
        if self.openml is not None:
            entry = self.openml
            identifiers.append(
                f"OpenML {entry['id']} ({entry['name']}, version {entry['version']})"
            )
        if self.uci is not None:
            identifiers.append(f"UCI {self.uci}")
        return ", ".join(identifiers) or "no registry"


@cache
def all_facts() -> dict[str, Facts]:
    """Return the facts about all data sets, by name."""
    text = files("studies.data").joinpath("facts.json").read_text("utf-8")
    pixels = [f"pixel_{r}_{c}" for r in range(SHAPE[0]) for c in range(SHAPE[1])]
    facts = {}
    for name, entry in json.loads(text).items():
        entry.setdefault("features", pixels)
        for key, value in entry.items():
            entry[key] = tuple(value) if isinstance(value, list) else value
        facts[name] = Facts(name=name, **entry)
    return facts


def facts_of(name: str) -> Facts:
    """Return the facts about one data set."""
    if name not in all_facts():
        raise ValueError(
            f"name={name!r} is not a data set of the paper: choose one of "
            f"{', '.join(UCI + FACES)}."
        )
    return all_facts()[name]
