"""What `make docs` builds the site from is complete; its check of links works."""

import importlib
import re
import runpy
from pathlib import Path

import pytest

import trueaxis

ROOT = Path(__file__).parent.parent
REFERENCE = ROOT / "docs" / "reference"
MODULES = ["trueaxis", *(f"trueaxis.{name}" for name in trueaxis._FOLDERS)]
problems = runpy.run_path(str(ROOT / "docs" / "check_links.py"))["problems"]


def names_with_a_page():
    """Full names that the pages of the reference list or describe."""
    for page in REFERENCE.glob("*.md"):
        module = ""
        for line in page.read_text().splitlines():
            if found := re.match(r"\.\. currentmodule:: (\S+)", line):
                module = found[1]
            elif found := re.match(r"(?:   |\.\. data:: )(\w+)$", line):
                yield f"{module}.{found[1]}"


WITH_A_PAGE = list(names_with_a_page())


def is_the_same(name, others):
    """Whether another name stands for the same object, in another folder."""
    module, _, leaf = name.rpartition(".")
    found = getattr(importlib.import_module(module), leaf)
    return any(
        getattr(importlib.import_module(other.rpartition(".")[0]), leaf, None) is found
        for other in others
        if other.endswith(f".{leaf}")
    )


@pytest.mark.parametrize("module", MODULES)
def test_every_public_name_has_a_page(module):
    names = getattr(importlib.import_module(module), "__all__", [])
    folders = set(trueaxis._FOLDERS) if module == "trueaxis" else set()
    for name in set(names) - folders:
        assert is_the_same(f"{module}.{name}", WITH_A_PAGE), f"{module}.{name}"


def test_the_reference_lists_nothing_else_and_nothing_twice():
    assert len(WITH_A_PAGE) == len(set(WITH_A_PAGE)) > 60
    for name in WITH_A_PAGE:
        module, _, leaf = name.rpartition(".")
        assert leaf in importlib.import_module(module).__all__, name


def test_problems_of_a_site_are_found(tmp_path):
    assert problems(tmp_path) == [f"{tmp_path} has no pages"]
    page = tmp_path / "index.html"
    (tmp_path / "other.html").write_text("<h1 id='top'>Other</h1>")
    page.write_text("<a href='other.html#top'>a</a><a href='https://example.org'>b</a>")
    assert problems(tmp_path) == []
    for tag, complaint in (
        ("<a href='lost.html'>", "links to lost.html, which does not exist"),
        ("<a href='other.html#low'>", "links to other.html#low: no such anchor"),
        ("<script src='https://cdn.org/a.js'>", "https://cdn.org/a.js from the"),
    ):
        page.write_text(tag)
        (found,) = problems(tmp_path)
        assert found.startswith("index.html ") and complaint in found
