"""The command that reproduces the paper's studies, and the page in the docs."""

import os
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from studies import reproduce
from studies.__main__ import main
from studies.faces import protocol
from studies.uci import page as uci_page

HOME = os.environ.get("TRUEAXIS_DATA")
PAGE = Path(__file__).parents[3] / "docs" / "reproduction.md"


def run(*arguments, **environment):
    result = CliRunner().invoke(main, arguments, env=environment)
    if isinstance(result.exception, Exception):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result


@pytest.fixture
def nothing(tmp_path):
    """An environment without data sets, cache or network."""
    return {"TRUEAXIS_DATA": None, "XDG_CACHE_HOME": str(tmp_path / "cache")}


def links(page):
    return re.findall(r"!\[.*?\]\((.*?)\)", page.read_text(encoding="utf-8"))


@pytest.mark.slow
def test_everything_quick(tmp_path, nothing):
    out = tmp_path / "results"
    data = {"TRUEAXIS_DATA": HOME} if HOME else nothing
    told = run("all", "--quick", "--offline", "--jobs", "2", "-o", str(out), **data)
    page = out / "reproduction.md"
    assert f"the page to {page}" in told.stdout
    text = page.read_text(encoding="utf-8")
    assert "## Toy data" in text and "## UCI data sets" in text
    assert ("## Faces" in text) == bool(HOME)
    assert ("yale is left out" in told.stderr) == (not HOME)
    for name in ("toy", "uci", *(["faces"] if HOME else [])):
        assert (out / f"{name}.csv").stat().st_size > 1000
    shown = links(page)
    assert len(shown) >= 5 and all((out / link).exists() for link in shown)
    assert not any("private" in link for link in shown)  # faces stay where they are
    # Again, from what was kept: the same page and numbers.
    before = {path: path.read_bytes() for path in out.glob("*.csv")}
    run("all", "--quick", "--offline", "--jobs", "1", "-o", str(out), **data)
    assert page.read_text(encoding="utf-8") == text
    assert before == {path: path.read_bytes() for path in out.glob("*.csv")}


def test_the_page_in_the_docs_has_the_sentences_of_the_code():
    text = PAGE.read_text(encoding="utf-8")
    assert text.startswith(reproduce.INTRODUCTION)
    filled = protocol.INTRODUCTION.replace("{folds}", "10")
    for part in [uci_page.RULES, *re.split(r"\{\w+\}", filled)]:
        assert part in text
