"""LOAD: data for the demo, the tests, the benchmarks and the study of the paper.

Clouds with planted outliers (`planted`, `toy`), a table with faults (`sensors`), damage
to data of your own (`contaminate`, `occlude`), and the paper's real data sets (`load`,
with a name out of `UCI` or `FACES`). All that is random is seeded.
"""

from trueaxis.datasets.clouds import KINDS, Planted, Sensors, planted, sensors
from trueaxis.datasets.damage import contaminate, occlude
from trueaxis.datasets.loading import load
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
    "contaminate",
    "load",
    "occlude",
    "planted",
    "sensors",
    "toy",
]
