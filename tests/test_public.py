"""What `import trueaxis` offers, and what it costs."""

import importlib
import subprocess
import sys
import warnings

import pytest

import trueaxis
from trueaxis._moved import MOVED


def run(code):
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout.strip()


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["datasets", "diagnostics", "estimators", "plots", "report", "reproduction"]
)
def test_public_folders_are_attributes(name):
    printed = run(f"import trueaxis; print(trueaxis.{name}.__name__)")
    assert printed == f"trueaxis.{name}"


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


@pytest.mark.parametrize(("old", "homes"), list(MOVED.items()))
def test_old_import_paths_work_and_name_the_new_one(old, homes):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        module = importlib.import_module(old)  # importing alone says nothing
        there = [importlib.import_module(home) for home in homes]
    names = dir(module)
    assert set(names) <= {name for home in there for name in dir(home)}
    # Two packages only hold modules.
    assert names or old in ("trueaxis.engine", "trueaxis.experiments")
    for name in names:
        with pytest.warns(DeprecationWarning, match=f"{old} has moved: import {name} "):
            found = getattr(module, name)
        assert any(getattr(home, name, None) is found for home in there)
    with pytest.raises(AttributeError, match=f"It has moved to {homes[0]}"):
        _ = module.nothing_of_the_kind


def test_stars_import_from_old_paths():
    code = "from trueaxis.rows import *; print(ArrayRows.__module__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.strip() == "trueaxis._rows.base"


# Every import from a path of old that README, docs or a docstring ever showed.
SHOWN = [
    ("trueaxis.analysis", "analyse"),
    ("trueaxis.cells", "printable"),
    ("trueaxis.comparison", "compare"),
    ("trueaxis.demo", "run"),
    ("trueaxis.engine.quantiles", "counted_median"),
    ("trueaxis.engine.quantiles", "quantile"),
    ("trueaxis.engine.selection", "smallest"),
    ("trueaxis.experiments.contenders", "temperatures"),
    ("trueaxis.headings", "first_line_is_header"),
    ("trueaxis.memory", "shown_size"),
    ("trueaxis.progress", "heard_by"),
    ("trueaxis.progress", "passing"),
    ("trueaxis.rows", "ArrayRows"),
    ("trueaxis.tables", "read_table"),
    ("trueaxis.text_tables", "find_delimiter"),
    ("trueaxis.trust", "trust_path"),
    ("trueaxis.values", "decode"),
]


@pytest.mark.parametrize(("module", "name"), SHOWN)
def test_what_the_docs_showed_can_still_be_imported(module, name):
    with pytest.warns(DeprecationWarning, match=f"import {name} from"):
        assert callable(getattr(importlib.import_module(module), name))


def test_the_warning_points_at_the_users_line(tmp_path):
    script = tmp_path / "mine.py"
    script.write_text("from trueaxis.rows import ArrayRows\n")
    done = subprocess.run(
        [sys.executable, "-W", "always", script], capture_output=True, text=True
    )
    assert done.returncode == 0 and "mine.py:1" in done.stderr


@pytest.mark.parametrize("name", ["trueaxis", "trueaxis.cli"])
def test_python_m_trueaxis_runs(name):
    done = subprocess.run(
        [sys.executable, "-m", name, "--version"], capture_output=True, text=True
    )
    assert done.stdout.endswith(f"trueaxis, version {trueaxis.__version__}\n")
