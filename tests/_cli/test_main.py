"""Starting the command line: version, help, imports."""

import importlib
import json
import subprocess
import sys
from types import ModuleType

import pytest
from command_line import run

import trueaxis
from trueaxis._cli import UNUSED, PostponedModule, postponed
from trueaxis._cli.main import main

# Stops where the table would be read, with the reader imported.
BEFORE_READING = """
import json, sys
import trueaxis.io.formats
def stop(*_, **__):
    import pyarrow.csv
    print(json.dumps(sorted(sys.modules)))
    sys.stdout.flush()
    os._exit(0)
import os
trueaxis.io.formats.open_text = stop
from trueaxis._cli.main import main
main({!r})
"""
AT_THE_END = """
import json, sys
from trueaxis._cli.main import main
main({!r}, standalone_mode=False)
print()
print(json.dumps(sorted(sys.modules)))
"""


def modules_after(code, *arguments):
    """Modules that a command has imported."""
    command = [sys.executable, "-c", code.format([str(each) for each in arguments])]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout.splitlines()[-1]))


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


@pytest.mark.slow
@pytest.mark.parametrize("command", ["fit", "report", "compare"])
def test_a_table_is_read_before_anything_heavy_is_imported(command, pump):
    modules = modules_after(BEFORE_READING, command, pump)
    found = {name.split(".")[0] for name in modules}
    assert {"numpy", "pyarrow"} <= found
    heavy = {"scipy", "sklearn", "pandas", "matplotlib", "jinja2", "rich", "asyncio"}
    assert not heavy & found


@pytest.mark.slow
def test_a_fit_imports_only_what_it_needs(pump, tmp_path):
    found = modules_after(AT_THE_END, "fit", pump, "-k", 2, "-o", tmp_path / "m.npz")
    assert {"sklearn.base", "scipy.linalg", "rich"} <= found
    assert not {*UNUSED, "sklearn.pipeline"} & found
    assert not {"matplotlib", "jinja2", "trueaxis.plots"} & found


@pytest.fixture
def module(tmp_path, monkeypatch):
    """A module that can be imported, and was not yet."""
    (tmp_path / "rarely_used.py").write_text("value = 3\n")
    monkeypatch.syspath_prepend(tmp_path)
    yield "rarely_used"
    sys.modules.pop("rarely_used", None)


def test_a_postponed_module_is_imported_when_it_is_used(module):
    with postponed(module):
        standing_in = importlib.import_module(module)
        assert type(standing_in) is PostponedModule
    assert module not in sys.modules
    assert standing_in.value == 3
    assert type(sys.modules[module]) is ModuleType


def test_a_module_used_while_it_is_postponed_stays(module):
    with postponed(module):
        assert importlib.import_module(module).value == 3
    assert type(sys.modules[module]) is ModuleType


def test_what_is_imported_or_not_installed_is_not_postponed(module):
    with postponed("json", "not_installed"):
        assert sys.modules["json"] is json
        with pytest.raises(ImportError):
            importlib.import_module("not_installed")
    assert sys.modules["json"] is json
