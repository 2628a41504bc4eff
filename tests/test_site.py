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


def test_the_commands_are_generated_from_the_command_line():
    text = (REFERENCE / "commands.md").read_text()
    module, name = re.search(r"\.\. click:: ([\w.]+):(\w+)", text).groups()
    assert getattr(importlib.import_module(module), name).commands
    assert ":nested: full" in text and "--" not in text


def write_site(folder, page, other="<h1 id='top'>Other</h1>"):
    (folder / "index.html").write_text(page)
    (folder / "other.html").write_text(other)
    (folder / "style.css").write_text("body { background: url(logo.svg) }")
    return folder


def test_a_good_site_has_no_problems(tmp_path):
    page = (
        "<link rel='stylesheet' href='style.css?v=1'><a href='other.html#top'>a</a>"
        "<a id='here' href='#here'>b</a><a href='https://example.org'>c</a>"
        "<link rel='canonical' href='https://example.org/'><img src='data:,'>"
    )
    assert problems(write_site(tmp_path, page)) == []


@pytest.mark.parametrize(
    ("page", "complaint"),
    [
        ("<a href='lost.html'>x</a>", "links to lost.html, which does not exist"),
        ("<a href='other.html#low'>x</a>", "links to other.html#low: no such anchor"),
        ("<a href='#low'>x</a>", "links to #low: no such anchor"),
        ("<img src='lost.png'>", "links to lost.png, which does not exist"),
        (
            "<script src='https://cdn.org/a.js'></script>",
            "https://cdn.org/a.js from the",
        ),
        ("<script src='//cdn.org/a.js'></script>", "//cdn.org/a.js from the network"),
        ("<link rel='stylesheet' href='https://f.org/a.css'>", "https://f.org/a.css"),
    ],
)
def test_each_problem_of_a_page_is_found(page, complaint, tmp_path):
    (found,) = problems(write_site(tmp_path, page))
    assert found.startswith("index.html ") and complaint in found


def test_fonts_from_the_network_and_empty_folders_are_found(tmp_path):
    assert problems(tmp_path) == [f"{tmp_path} has no pages"]
    site = write_site(tmp_path, "")
    (site / "style.css").write_text("@font-face { src: url('https://f.org/a.woff') }")
    assert problems(site) == ["style.css loads a file from the network"]
