"""Scripts in tools/, and whether the project keeps what they rely on."""

import re
import tomllib
from pathlib import Path

import pytest

import release_check
import trueaxis
from environments import (
    PINNED_EXTRAS,
    floors,
    normal,
    project,
    promised_floors,
    python_floor,
)

ROOT = Path(__file__).parent.parent
pytest_plugins = "pytester"


def test_tools_of_developers_have_the_versions_of_the_constraints():
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    pinned = {normal(name): pin for name, pin in (line.split("==") for line in lines)}
    for extra in PINNED_EXTRAS:
        for name, floor in floors(project()["optional-dependencies"][extra]).items():
            assert f"{pinned[normal(name)]}.".startswith(f"{floor}."), name


def test_floors_are_read_from_requirements():
    assert floors(["a>=1", "b-c[d,e]>=2.3.4", "a>=1"]) == {"a": "1", "b-c": "2.3.4"}
    with pytest.raises(SystemExit, match="a from 1 and from 2"):
        floors(["a>=1", "a[b]>=2"])
    with pytest.raises(SystemExit, match="no plain floor"):
        floors(["a"])


def recorded():
    """Rows of the table in docs/versions.md: what was tested, by environment."""
    text = (ROOT / "docs" / "versions.md").read_text()
    rows = [line.strip("| ").split(" | ") for line in re.findall(r"^\|.*", text, re.M)]
    return {name: dict(zip(rows[0], cells, strict=True)) for name, *cells in rows[2:]}


def exactly(version):
    """A version without zeros at its end: 16.0.0 is 16."""
    return re.sub(r"(\.0)+$", "", version)


def test_the_oldest_versions_that_are_promised_were_tested():
    shown = recorded()
    assert shown.pop("Python")["oldest"] == python_floor()
    assert set(shown["failed"].values()) == {"0"}
    for name, floor in promised_floors().items():
        assert exactly(shown[name]["oldest"]) == exactly(floor), name


def test_the_sdist_includes_only_what_there_is():
    config = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]
    for name in config["build"]["targets"]["sdist"]["include"]:
        assert (ROOT / name.removeprefix("/")).exists(), name


def test_the_version_stands_in_one_place():
    assert release_check.package_version(ROOT) == trueaxis.__version__
    assert project()["dynamic"] == ["version"]
    citation = (ROOT / "CITATION.cff").read_text()
    assert release_check.cited(citation)[0] == trueaxis.__version__


def test_the_latest_dated_heading_counts():
    text = "## Unreleased\n\n## 0.2.0 - 2027-01-02\n\n## 0.1.0 - 2026-01-01\n"
    assert release_check.released(text) == ("0.2.0", "2027-01-02")
    with pytest.raises(SystemExit, match="no heading with a date"):
        release_check.released("# Changelog\n\n## Unreleased\n")


LIBRARY = """
def bare(): import no_such_package
def polite(): raise ImportError("Plots need it: pip install 'trueaxis[plot]'")
"""
TESTS = """
import library
def test_that_imports_it(): import no_such_package
def test_of_other_packages(): import not_this_one_either
def test_of_a_bare_error(): library.bare()
def test_of_a_request(): library.polite()
def test_that_fails(): assert 1 == 2
def test_that_passes(): pass
"""


@pytest.mark.slow
def test_only_what_is_lacking_is_skipped(pytester, monkeypatch):
    pytester.mkdir("tests").joinpath("test_some.py").write_text(TESTS)
    pytester.path.joinpath("library.py").write_text(LIBRARY)
    monkeypatch.setenv("PYTHONPATH", f"{ROOT / 'tools'}:{pytester.path}")
    options = ["-p", "lacking", "--may-lack=no_such_package", "tests"]
    found = pytester.runpytest_subprocess(*options).parseoutcomes()
    assert (found["passed"], found["skipped"], found["failed"]) == (1, 1, 4)
