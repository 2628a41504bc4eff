"""Commands with Dask workers."""

import numpy as np
import pytest
from click.testing import CliRunner
from dask_helpers import X, local_cluster

import trueaxis
from trueaxis import DSWL
from trueaxis._cli.main import main

pytestmark = [pytest.mark.dask, pytest.mark.slow, pytest.mark.soak]


@pytest.fixture(scope="module")
def two_workers():
    with local_cluster(2) as client:
        yield client


def test_command_line_with_workers_of_its_own(tmp_path):
    np.save(tmp_path / "all.npy", X)
    arguments = ["fit", str(tmp_path / "all.npy"), "-k", "3", "--workers", "2"]
    arguments += ["-o", str(tmp_path / "model.npz")]
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 0, result.output
    model = trueaxis.load(tmp_path / "model.npz")
    assert np.array_equal(np.asarray(model.support_), DSWL(3).fit(X).support_)
    assert f"{int((~model.support_).sum()):,} of 9,000 rows are bad" in result.output


def test_command_line_with_a_running_cluster(two_workers, tmp_path):
    np.save(tmp_path / "all.npy", X)
    address = two_workers.scheduler.address
    arguments = ["fit", str(tmp_path / "all.npy"), "-k", "3", "--client", address]
    result = CliRunner().invoke(main, [*arguments, "-o", str(tmp_path / "model.npz")])
    assert result.exit_code == 0, result.output
    assert trueaxis.load(tmp_path / "model.npz").n_components_ == 3


def test_command_line_without_the_cluster(tmp_path, monkeypatch):
    monkeypatch.setattr("trueaxis._cli.cluster.CONNECT_SECONDS", 1)
    np.save(tmp_path / "all.npy", X)
    file = str(tmp_path / "all.npy")
    arguments = ["fit", file, "--client", "tcp://127.0.0.1:1"]
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 1
    assert "no Dask scheduler at tcp://127.0.0.1:1" in result.stderr
    both = ["fit", file, "--client", "tcp://127.0.0.1:1", "--workers", "2"]
    result = CliRunner().invoke(main, both)
    assert result.exit_code == 2
    assert "--workers" in result.stderr
    (tmp_path / "table.csv").write_text("a,b\n1,2\n3,4\n5,7\n")
    result = CliRunner().invoke(
        main, ["fit", str(tmp_path / "table.csv"), "--workers", "2"]
    )
    assert result.exit_code == 1
    assert "workers read only such files" in result.stderr
