"""Make the tables of the README: readings of 120 pumps, and of 12 new ones.

`python examples/pumps.py` prints pumps.csv, and with the argument `new` new_pumps.csv.
They have names of rows, a label, a column of text, a missing cell and a wrong one.
"""

import csv
import io
import sys

import numpy as np

COLUMNS = ("inlet", "outlet", "pressure", "flow", "power", "vibration")
LOADINGS = np.array([[3.0, 5.0, 1.5, 6.0, 9.0, 0.5], [1.0, -1.5, 2.0, 0.5, -1.0, 1.0]])
CENTER = np.array([21.0, 45.0, 12.0, 32.0, 55.0, 4.0])


def readings(n: int, seed: int) -> np.ndarray:
    """Return what healthy pumps show: two things vary, load and temperature."""
    rng = np.random.default_rng(seed)
    noise = rng.normal(0, 0.3, (n, len(COLUMNS)))
    return CENTER + rng.normal(0, 1, (n, 2)) @ LOADINGS + noise


def pumps() -> str:
    """Return 120 pumps, of which 9 are not healthy."""
    X = readings(120, seed=1)
    X[[17, 43, 88], 3] *= 0.4  # the flow is blocked
    X[[29, 61, 95], 5] += 9.0  # a bearing is worn
    X[[8, 52, 110]] = CENTER + 5 * LOADINGS[0]  # far beyond the usual load
    table = [[f"{x:.2f}" for x in row] for row in X]
    table[5][2] = ""  # not read
    table[73][4] = f"{10 * X[73, 4]:.2f}"  # a slip of the decimal point
    return as_text(table, first=1)


def new_pumps() -> str:
    """Return 12 pumps, of which the last two are blocked and worn."""
    X = readings(12, seed=2)
    X[10, 3] *= 0.4
    X[11, 5] += 9.0
    return as_text([[f"{x:.2f}" for x in row] for row in X], first=201)


def as_text(table: list[list[str]], first: int) -> str:
    """Return readings as CSV, with a serial number, a site and who read them."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(["serial", "site", "reader", *COLUMNS])
    for i, row in enumerate(table):
        site, reader = ("north", "south")[i % 3 == 0], ("Ada", "Ben", "Cai")[i // 7 % 3]
        writer.writerow([f"P-{first + i:03d}", site, reader, *row])
    return file.getvalue()


if __name__ == "__main__":
    sys.stdout.write(new_pumps() if sys.argv[1:] == ["new"] else pumps())
