"""Generated data for examples, tests and benchmarks.

`planted` draws data with known outliers, `spectra` spectra with correlated noise, and
`sensors` a table with known faults. All random numbers are seeded.
"""

from trueaxis.datasets.clouds import KINDS, Planted, Sensors, planted, sensors
from trueaxis.datasets.mixtures import Spectra, spectra

__all__ = [
    "KINDS",
    "Planted",
    "Sensors",
    "Spectra",
    "planted",
    "sensors",
    "spectra",
]
