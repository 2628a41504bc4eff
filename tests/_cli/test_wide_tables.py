"""Wide tables: neither commands nor diagnostics form all pairs of columns."""

import subprocess
import sys
import tracemalloc

import numpy as np
import pytest
from command_line import run

from trueaxis import DSWL, diagnostics
from trueaxis.methods import METHODS

pytestmark = pytest.mark.soak

N, D = 30, 4000
PAIRS = 8 * D * D  # bytes of a matrix of all pairs of columns
MOST = PAIRS / 2

CALLS = [
    ("diagnose", lambda model, X: diagnostics.diagnose(model, X)),
    ("outlier_table", lambda model, X: diagnostics.outlier_table(model, X)),
    ("explain", lambda model, X: diagnostics.explain(model, X[:1])),
    ("contributions", lambda model, X: diagnostics.contributions(model, X)),
    ("effect", lambda model, X: diagnostics.effect(model, X)),
    ("cell_map", lambda model, X: diagnostics.cell_map(model, X)),
]


def peak(call, *arguments):
    """Largest memory that a call had at a time, in bytes."""
    tracemalloc.start()
    try:
        call(*arguments)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.fixture(scope="module")
def X():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N, 2)) @ rng.standard_normal((2, D))
    X += 0.3 * rng.standard_normal((N, D))
    X[:2] += 5 * rng.standard_normal(D)
    return X


@pytest.fixture(scope="module")
def folder(tmp_path_factory, X):
    folder = tmp_path_factory.mktemp("wide")
    np.save(folder / "x.npy", X)
    run("fit", folder / "x.npy", "-k", 2, "-o", folder / "m.npz")
    return folder


@pytest.mark.slow
@pytest.mark.parametrize(
    "command",
    [
        "fit x.npy -k 2",
        "score m.npz x.npy -o s.csv",
        "report x.npy -k 2 -o r.html",
        "repair x.npy -k 2 -o r.npy",
        "compare x.npy -k 2 --methods dswl,pca,two-way,spcp",
        "export m.npz m.onnx",
    ],
)
def test_commands_form_no_pairs_of_columns(folder, monkeypatch, command):
    monkeypatch.chdir(folder)
    assert peak(run, *command.split()) < MOST


@pytest.mark.slow
@pytest.mark.parametrize(("name", "call"), CALLS, ids=[name for name, _ in CALLS])
def test_diagnostics_form_no_pairs_of_columns(X, name, call):
    assert peak(call, DSWL(2).fit(X), X) < MOST


@pytest.mark.parametrize("name", ["l1-pca", "two-way", "pcp", "spcp", "rrpcp"])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_methods_that_need_the_columns_form_no_pairs_of_them(X, name):
    assert peak(METHODS[name](2, max_iter=3).fit, X) < MOST


@pytest.mark.slow
def test_holes_in_a_wide_table_form_no_pairs_of_columns(X):
    holes = np.where(np.random.default_rng(1).random(X.shape) < 0.01, np.nan, X)
    assert peak(DSWL(2).fit, holes) < MOST


@pytest.mark.slow
def test_an_endless_device_ends_with_a_sentence(tmp_path):
    code = (
        "import resource, sys; from trueaxis._cli.main import main\n"
        "sys.argv = ['trueaxis', 'fit', '/dev/zero']\n"
        "try:\n    main()\n"
        "finally:\n    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "/dev/zero is not a file, and has not ended after" in done.stderr
    assert int(done.stdout) * 1024 < 1e9
