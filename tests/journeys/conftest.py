"""What the journeys share: a table of pumps of which the truth is known."""

import copy
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest

COLUMNS = ("inlet", "outlet", "pressure", "flow", "power", "vibration")
CENTER = np.array([21.0, 45.0, 12.0, 32.0, 55.0, 4.0])
LOADINGS = np.array([[3.0, 5.0, 1.5, 6.0, 9.0, 0.5], [1.0, -1.5, 2.0, 0.5, -1.0, 1.0]])


def readings(n, seed):
    """What healthy pumps show: two things vary, load and temperature."""
    rng = np.random.default_rng(seed)
    noise = rng.normal(0, 0.3, (n, len(COLUMNS)))
    return CENTER + rng.normal(size=(n, 2)) @ LOADINGS + noise


@dataclass
class Pumps:
    """Readings of pumps, what they should have been, and which are bad."""

    table: pd.DataFrame  # six columns of numbers, named by serial number
    healthy: pd.DataFrame  # the same before anything went wrong
    bad: dict[str, str]  # serial number -> the column to blame
    axes: np.ndarray = None  # the two directions in which healthy pumps vary

    @property
    def frame(self):
        """The table with a column of text before the numbers."""
        site = ["south" if i % 3 == 0 else "north" for i in range(len(self.table))]
        return self.table.assign(site=site)[["site", *COLUMNS]].reset_index()

    @property
    def text(self):
        """The table as CSV, with two decimals."""
        return self.frame.to_csv(index=False, float_format="%.2f", lineterminator="\n")

    def save(self, folder, name="pumps.csv"):
        path = folder / name
        path.write_text(self.text)
        return path


def make_pumps(n, seed, first, faults):
    serials = pd.Index([f"P-{first + i:03d}" for i in range(n)], name="serial")
    X = readings(n, seed).round(2)
    healthy = pd.DataFrame(X, serials, COLUMNS)
    table = healthy.copy()
    for serial, (column, change) in faults.items():
        table.loc[serial, column] = round(change(table.loc[serial, column]), 2)
    bad = {serial: column for serial, (column, _) in faults.items()}
    return Pumps(table, healthy, bad, np.linalg.qr(LOADINGS.T)[0])


def blocked(flow):
    return 0.4 * flow


def worn(vibration):
    return vibration + 9.0


def slipped(power):
    return 10 * power


@pytest.fixture(scope="session")
def plant():
    """150 pumps: seven are bad, and one cell was not read. Tests must not change them.

    They are `pumps` for tests that do, or that need no other scope.
    """
    faults = {
        "P-018": ("flow", blocked),
        "P-044": ("flow", blocked),
        "P-089": ("flow", blocked),
        "P-030": ("vibration", worn),
        "P-062": ("vibration", worn),
        "P-096": ("vibration", worn),
        "P-074": ("power", slipped),
    }
    plant = make_pumps(150, 1, 1, faults)
    plant.table.loc["P-006", "pressure"] = np.nan
    return plant


@pytest.fixture(scope="session")
def new_plant():
    """12 pumps of tomorrow: one is blocked, and one is worn."""
    return make_pumps(
        12, 2, 201, {"P-211": ("flow", blocked), "P-212": ("vibration", worn)}
    )


@pytest.fixture
def pumps(plant):
    return copy.deepcopy(plant)


@pytest.fixture
def new_pumps(new_plant):
    return copy.deepcopy(new_plant)
