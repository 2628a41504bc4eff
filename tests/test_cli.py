"""The command line, run as a user runs it."""

import subprocess
import sys

import pytest
from click.testing import CliRunner

import trueaxis
from trueaxis.cli import main


def test_the_demo_tells_who_was_flagged_and_draws(tmp_path):
    picture = tmp_path / "demo.png"
    result = CliRunner().invoke(main, ["demo", "--output", str(picture)])
    assert result.exit_code == 0, result.output
    assert "33 of 200 rows are flagged" in result.output
    for kind in ("in the subspace", "off the subspace", "both"):
        assert kind in result.output
    assert "Plain PCA: 51" in result.output
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_a_picture_that_cannot_be_saved_is_an_error(tmp_path):
    target = tmp_path / "no" / "such" / "folder" / "demo.png"
    result = CliRunner().invoke(main, ["demo", "--output", str(target)])
    assert result.exit_code == 1
    assert "No such file" in result.output and "Traceback" not in result.output


def test_without_matplotlib_it_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    result = CliRunner().invoke(main, ["demo", "--output", str(tmp_path / "x.png")])
    assert result.exit_code == 1
    assert "pip install 'trueaxis[plot]'" in result.output


def test_version_and_help_need_no_heavy_imports():
    code = (
        "import sys; from trueaxis.cli import main\n"
        "try: main(['--help'])\n"
        "except SystemExit: pass\n"
        "assert 'sklearn' not in sys.modules and 'numpy' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
    result = CliRunner().invoke(main, ["--version"])
    assert trueaxis.__version__ in result.output


def test_public_names():
    assert trueaxis.__all__ == sorted(trueaxis.__all__)
    assert "DSWL" in dir(trueaxis)
    with pytest.raises(AttributeError, match="no attribute 'PCB'"):
        _ = trueaxis.PCB
