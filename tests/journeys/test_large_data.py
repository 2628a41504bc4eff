"""A table that is larger than the memory one wants to give it."""

import json
import os
import subprocess
import sys

import numpy as np
import pyarrow
import pyarrow.parquet as parquet
import pytest
from command_line import run

from trueaxis import DSWL

GROUPS, ROWS, COLUMNS = 43, 25_000, 32  # 275 MB as floats, a quarter as counts
BAD = 500  # rows of every group, the first ones


@pytest.fixture(scope="module")
def counts(tmp_path_factory):
    """A million rows of counts in memory, as .npy and as Parquet in 43 row groups.

    Groups lie at different places along the first axis, so that none can be left out
    or read twice without moving the center.
    """
    rng = np.random.default_rng(9)
    axes = np.linalg.qr(rng.normal(size=(COLUMNS, 3)))[0].T
    base = rng.normal(size=(ROWS, 3)) * [900, 600, 400] @ axes
    base += rng.normal(0, 30, (ROWS, COLUMNS))
    base[:BAD] += 4_000 * np.linalg.qr(rng.normal(size=(COLUMNS, 1)))[0].T
    X = np.empty((GROUPS * ROWS, COLUMNS), np.int16)
    for i in range(GROUPS):
        shift = 30 * (i % 13) * axes[0]
        X[i * ROWS : (i + 1) * ROWS] = np.roll(base + shift, i, axis=0).round()

    folder = tmp_path_factory.mktemp("large")
    np.save(folder / "counts.npy", X)
    names = [f"channel {j}" for j in range(COLUMNS)]
    table = pyarrow.table(dict(zip(names, X.T.copy(), strict=True)))
    parquet.write_table(
        table, folder / "counts.parquet", row_group_size=ROWS, use_dictionary=False
    )
    return folder, X, DSWL(3).fit(X)


CHILD = """
import json, sys
import numpy as np
from trueaxis import DSWL

def peak():  # MB
    with open("/proc/self/status") as file:
        return int(next(line for line in file if "VmHWM" in line).split()[1]) / 1024

def rows(path):
    return np.load(path, mmap_mode="r") if path.endswith(".npy") else path

small, large, result = sys.argv[1:]
DSWL(3).fit(rows(small))  # so that all libraries are there
before = peak()
model = DSWL(3).fit(rows(large))
np.savez(
    result,
    memory=peak() - before,
    components=model.components_,
    mean=model.mean_,
    support=np.asarray(model.support_),
)
"""


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="needs Linux")
@pytest.mark.parametrize("ending", ["parquet", "npy"])
def test_a_file_is_fitted_in_a_fraction_of_its_size(ending, counts, tmp_path):
    """The table takes 275 MB as numbers. The fit takes less than three quarters of it.

    About half is what a million rows take in any case: weights, distances, flags.

    It gives the axes, the center and the flags of the same rows in memory, whether the
    rows come from a Parquet file or from a memory map.
    """
    folder, X, expected = counts
    small = tmp_path / f"small.{ending}"
    if ending == "npy":
        np.save(small, X[:ROWS])
    else:
        names = [f"channel {j}" for j in range(COLUMNS)]
        few = dict(zip(names, X[:ROWS].T.copy(), strict=True))
        parquet.write_table(pyarrow.table(few), small)
    result = tmp_path / "result.npz"
    large = folder / f"counts.{ending}"
    subprocess.run([sys.executable, "-c", CHILD, small, large, result], check=True)
    with np.load(result) as got:
        assert got["memory"] < 0.75 * 275, "MB"
        np.testing.assert_allclose(
            got["components"], expected.components_, rtol=0, atol=1e-6
        )
        np.testing.assert_allclose(got["mean"], expected.mean_, rtol=0, atol=1e-3)
        assert (got["support"] == expected.support_).mean() > 0.99999
    bad = np.concatenate([np.roll(np.arange(ROWS) < BAD, i) for i in range(GROUPS)])
    assert not expected.support_[bad].any() and expected.support_[~bad].mean() > 0.95


def test_the_command_line_reads_it_block_by_block(counts, tmp_path):
    """The same file from the command line: all rows are read, the bad ones found.

    They come back as a file, as they were, and the model judges every row of it.
    """
    folder, X, expected = counts
    large = folder / "counts.parquet"
    model, bad, scored = (
        tmp_path / f"{x}" for x in ("m.npz", "bad.parquet", "s.parquet")
    )
    options = ["-k", "3", "--json", "-o", model, "--flagged", bad]
    found = json.loads(run("fit", large, *options))
    assert found["rows"] == len(X) and len(found["columns"]) == COLUMNS
    assert "worst_first" not in found  # which only tables in memory have
    flagged = (~expected.support_).sum()
    assert found["outliers"]["count"] == pytest.approx(flagged, abs=20)
    rows = parquet.read_table(bad)
    assert len(rows) == found["outliers"]["count"]
    bad_rows = np.column_stack([column.to_numpy() for column in rows.columns])
    assert (expected.predict(bad_rows) == -1).mean() > 0.999

    judged = json.loads(run("score", model, bad, "--json", "-o", scored))
    assert judged["outliers"]["count"] == len(rows)
    assert parquet.read_table(scored)["outlier"].to_numpy().all()
    judged = json.loads(run("score", model, large, "--json"))
    assert judged["rows"] == len(X)
    assert judged["outliers"]["count"] == found["outliers"]["count"]
