"""The corpus of messy files: all cases, by name."""

from messy_case import Case
from messy_cells import CELL_CASES
from messy_formats import FORMAT_CASES
from messy_text import TEXT_CASES

CASES: list[Case] = [*TEXT_CASES, *CELL_CASES, *FORMAT_CASES]
