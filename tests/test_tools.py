"""Scripts in tools/, and whether the project keeps what they rely on."""

import re
import tomllib
from pathlib import Path

import matrix
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


def test_tools_of_developers_have_the_versions_of_the_constraints():
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    pinned = {normal(name): pin for name, pin in (line.split("==") for line in lines)}
    for extra in PINNED_EXTRAS:
        for name, floor in floors(project()["optional-dependencies"][extra]).items():
            assert f"{pinned[normal(name)]}.".startswith(f"{floor}."), name


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


def test_the_tests_that_the_matrix_leaves_out_exist():
    for name in (*matrix.ABOUT_THE_CHECKOUT, matrix.REPETITION):
        path, _, function = name.partition("::")
        assert f"def {function}" in (ROOT / path).read_text(), name
