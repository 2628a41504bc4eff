"""Files that the tests of the command line share."""

import csv

import pytest
from command_line import NASTY, run

from trueaxis.datasets import sensors


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("cli")


@pytest.fixture(scope="session")
def pump(folder):
    """Readings with a column of names and one of remarks."""
    path, table = folder / "pump.csv", sensors()
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["pump", *table.columns, "remark"])
        for i, (row, fault) in enumerate(zip(table.X, table.fault, strict=True)):
            writer.writerow([f"p-{i}", *map(repr, row.tolist()), fault or NASTY])
    return str(path)


@pytest.fixture(scope="session")
def model(folder, pump):
    path = str(folder / "model.npz")
    run("fit", pump, "-k", 2, "--id", "pump", "-o", path)
    return path
