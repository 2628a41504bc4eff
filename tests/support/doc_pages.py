"""The pages of the repository that are written by hand."""

import shutil
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
GENERATED = {"gallery", "project"}  # by `make docs`
PAGES = [
    ROOT / "README.md",
    *sorted(DOCS.glob("*.md")),
    *(
        page
        for page in sorted(DOCS.glob("*/*.md"))
        if page.parent.name not in GENERATED
    ),
]


def name_of(page):
    return page.relative_to(ROOT).as_posix()


def copy_tables(folder):
    """Copy the tables that the pages read."""
    for path in (ROOT / "examples").glob("*.csv"):
        shutil.copy(path, folder)
