"""The paper's data sets, read from a data home; `studies.data` checks the files.

Benchmarks also run with older versions of the package, and from any folder, so they
import nothing but this.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

UCI = ("seeds", "ecoli", "leaf", "happiness", "zoo", "column", "breast_cancer", "glass",
       "wine", "bupa")  # fmt: skip


def uci_table(home: Path, name: str) -> np.ndarray:
    """Return the features of a table; the last column of the file is the class."""
    cells = np.loadtxt(home / "uci" / f"{name}.csv", str, delimiter=",", skiprows=1)
    return cells[:, :-1].astype(float)


def face_images(home: Path, name: str) -> np.ndarray:
    """Return images of shape (n, 32, 32), with gray levels from 0 to 255."""
    with np.load(home / "faces" / f"{name}.npz") as arrays:
        return arrays["images"].astype(float)
