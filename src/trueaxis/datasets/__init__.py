"""Data sets for examples, tests, benchmarks and the paper's experiments.

`planted` and `toy` generate data with known outliers, `spectra` spectra with correlated
noise, and `sensors` a table with known faults. `contaminate` and `occlude` damage data
of your own. `load` returns one of the paper's real data sets, whose names are in `UCI`
and `FACES`. All random numbers are seeded.
"""

from trueaxis.datasets.clouds import KINDS, Planted, Sensors, planted, sensors
from trueaxis.datasets.damage import contaminate, occlude
from trueaxis.datasets.loading import load
from trueaxis.datasets.mixtures import Spectra, spectra
from trueaxis.datasets.record import Dataset
from trueaxis.datasets.registry import FACES, UCI
from trueaxis.datasets.toys import toy

__all__ = [
    "FACES",
    "KINDS",
    "UCI",
    "Dataset",
    "Planted",
    "Sensors",
    "Spectra",
    "contaminate",
    "load",
    "occlude",
    "planted",
    "sensors",
    "spectra",
    "toy",
]
