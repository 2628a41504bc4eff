"""The paper's real data sets: read from a folder, checked, downloaded if missing."""

from studies.data.loading import load
from studies.data.record import Dataset
from studies.data.registry import FACES, UCI

__all__ = ["FACES", "UCI", "Dataset", "load"]
