"""What README, docs and examples say is run here."""

import os
import re
import subprocess
import sys
from importlib.util import find_spec

import pytest
from doc_pages import DOCS, PAGES, ROOT, copy_tables, name_of

from trueaxis.methods import METHODS


@pytest.mark.slow
def test_the_ten_lines_of_the_readme_print_what_they_say(capsys):
    (code,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.S)
    exec(compile(code, "README.md", "exec"), {})
    printed = capsys.readouterr().out.splitlines()
    promised = re.findall(r"print\(.*\)  # (.*)", code)
    assert len(printed) == len(promised) == 3
    for line, promise in zip(printed, promised, strict=True):
        assert re.split("[:,] ", promise)[0] == line


def table_rows(text):
    """Return the cells of all lines of Markdown tables by the first cell."""
    lines = re.findall(r"^\| (.*) \|$", text, re.M)
    return {cells[0]: cells[1:] for cells in (line.split(" | ") for line in lines)}


@pytest.mark.soak
def test_the_readme_compares_as_the_benchmark_does():
    printed = subprocess.run(
        [sys.executable, ROOT / "benchmarks" / "peers.py"],
        env=os.environ | {"MARKDOWN": "1", "PATH": ""},  # as if R were not installed
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    measured = table_rows(printed)
    for page in ("README.md", "docs/benchmarks.md"):
        said = table_rows((ROOT / page).read_text())
        common = said.keys() & measured.keys()
        assert len(common) >= 5
        for name in common:
            assert said[name][:3] == measured[name][:3], (page, name)


PAGES_WITH_CODE = [
    page.relative_to(DOCS).as_posix()
    for page in sorted([*DOCS.glob("*.md"), *DOCS.glob("guide/*.md")])
    # The code of that page is tested by tests/test_adding_a_method.py.
    if "```python" in page.read_text() and page.name != "adding-a-method.md"
]


# Blocks of one page build on each other.
@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES_WITH_CODE)
def test_code_in_the_docs_runs_and_prints_what_it_says(
    page, capsys, tmp_path, monkeypatch
):
    monkeypatch.setenv("MPLBACKEND", "Agg")
    monkeypatch.chdir(tmp_path)
    copy_tables(tmp_path)
    text = (DOCS / page).read_text()
    names = {"__name__": page}
    for code in re.findall(r"```python\n(.*?)```", text, re.S):
        if "from pyod" in code and find_spec("pyod") is None:
            continue  # not one of our dependencies, and heavy
        exec(compile(code, page, "exec"), names)
        printed = capsys.readouterr().out.splitlines()
        promised = re.findall(r"print\(.*\)  # (.*)", code)
        assert printed == promised and printed


def test_every_method_is_in_the_table_of_methods():
    text = (ROOT / "docs" / "methods.md").read_text()
    rows = re.findall(r"^\| `([^`]+)` \| `([^`]+)` \|", text, re.M)
    assert rows == [(name, method.__name__) for name, method in METHODS.items()]


@pytest.mark.parametrize("page", [*PAGES, ROOT / "CONTRIBUTING.md"], ids=name_of)
def test_links_have_targets(page):
    text = re.sub(r"```.*?```", "", page.read_text(), flags=re.S)
    for target in re.findall(r"\]\(([^)#]+)\)", text):
        if not target.startswith("http"):
            assert (page.parent / target).exists(), target
