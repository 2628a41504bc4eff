"""What `import trueaxis` offers, and what it costs."""

import importlib
import subprocess
import sys

import pytest

import trueaxis


def run(code):
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout.strip()


def test_dir_lists_what_is_public_and_nothing_else():
    assert trueaxis.__all__ == sorted(trueaxis.__all__)
    assert dir(trueaxis) == sorted(trueaxis.__all__)
    assert all(getattr(trueaxis, name) is not None for name in dir(trueaxis))
    assert run("import trueaxis; print(dir(trueaxis))") == str(dir(trueaxis))
    private = [name for name in dir(trueaxis) if name.startswith("_")]
    assert private == ["__version__"]


def test_importing_the_package_imports_nothing_heavy():
    code = (
        "import sys; before = set(sys.modules); import trueaxis; "
        "print(sorted({m.split('.')[0] for m in set(sys.modules) - before}))"
    )
    loaded = run(code)
    for heavy in ("numpy", "scipy", "sklearn", "click", "matplotlib"):
        assert f"'{heavy}'" not in loaded


def test_unknown_names_are_attribute_errors():
    with pytest.raises(AttributeError, match="no attribute 'PCB'"):
        _ = trueaxis.PCB
    with pytest.raises(ImportError):
        importlib.import_module("trueaxis.nothing")


def test_python_m_trueaxis_runs():
    done = subprocess.run(
        [sys.executable, "-m", "trueaxis", "--version"], capture_output=True, text=True
    )
    assert done.stdout.endswith(f"trueaxis, version {trueaxis.__version__}\n")
