"""The gallery: every example runs, draws, and says what it measured."""

import ast
import re
import runpy
from pathlib import Path

import matplotlib
import pytest

pytestmark = pytest.mark.soak

EXAMPLES = Path(__file__).parent.parent / "examples"
GALLERY = sorted(EXAMPLES.glob("*/plot_*.py"))
NUMBER = re.compile(r"(?<![\w.])-?\d[\d,]*(?:\.\d+)?(?:e-?\d+)?")
MOST_LINES = 60


def numbers(text):
    """Return the numbers in a text, without signs of thousands."""
    found = (number.replace(",", "") for number in NUMBER.findall(text))
    return {number.lstrip("-") for number in found}


def answer(source):
    """Return the last cell of an example, which has text only."""
    cell = source.split("\n# %%\n")[-1]
    assert all(line.startswith("#") for line in cell.splitlines()), cell
    return re.sub(r"^# ?", "", cell, flags=re.M)


@pytest.fixture
def figures():
    """Draw into memory; return what counts the figures, all closed at the end."""
    import matplotlib.pyplot as plt

    matplotlib.use("Agg")
    plt.close("all")
    yield plt.get_fignums
    plt.close("all")


def test_the_gallery_is_large_and_in_topics():
    assert len(GALLERY) >= 22
    for folder in {EXAMPLES, *(path.parent for path in GALLERY)}:
        assert (folder / "GALLERY_HEADER.rst").read_text().strip()


@pytest.mark.parametrize("path", GALLERY, ids=lambda path: path.stem)
def test_examples_are_short_and_ask_a_question(path):
    source = path.read_text()
    assert len(source.splitlines()) <= MOST_LINES
    title, line, blank, *_ = ast.get_docstring(ast.parse(source)).splitlines()
    assert title.endswith("?") and not blank
    assert set(line) == {"="} and len(line) >= len(title)
    assert len(answer(source)) > 100


@pytest.mark.slow
@pytest.mark.parametrize("path", GALLERY, ids=lambda path: path.stem)
def test_examples_run_and_print_the_numbers_of_their_answer(path, figures, capsys):
    runpy.run_path(str(path), run_name="__main__")
    assert figures()
    printed = capsys.readouterr().out
    assert numbers(answer(path.read_text())) <= numbers(printed), printed
