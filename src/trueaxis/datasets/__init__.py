"""Generated data for examples, tests and benchmarks.

`planted` and `toy` generate data with known outliers, `spectra` spectra with correlated
noise, and `sensors` a table with known faults. `contaminate` and `occlude` damage data
of your own. All random numbers are seeded.
"""

from trueaxis.datasets.clouds import KINDS, Planted, Sensors, planted, sensors
from trueaxis.datasets.damage import contaminate, occlude
from trueaxis.datasets.mixtures import Spectra, spectra
from trueaxis.datasets.toys import toy

__all__ = [
    "KINDS",
    "Planted",
    "Sensors",
    "Spectra",
    "contaminate",
    "occlude",
    "planted",
    "sensors",
    "spectra",
    "toy",
]
