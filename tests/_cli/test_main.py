"""Starting the command line: version, help, imports."""

import subprocess
import sys

import pytest
from command_line import run

import trueaxis
from trueaxis._cli.main import main


@pytest.mark.slow
def test_version_and_help_need_no_heavy_imports():
    code = (
        "import sys; from trueaxis._cli.main import main\n"
        "try: main(['--help'])\n"
        "except SystemExit: pass\n"
        "assert not {'sklearn', 'numpy', 'rich'} & sys.modules.keys()"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
    assert trueaxis.__version__ in run("--version")


def test_help_has_a_line_for_every_command():
    printed = run("--help")
    for name in main.commands:
        assert f"\n  {name} " in printed
        assert "Usage:" in run(name, "-h")


@pytest.mark.slow
def test_python_m_trueaxis_is_the_command_line():
    command = [sys.executable, "-m", "trueaxis", "--version"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == f"trueaxis, version {trueaxis.__version__}\n"
