"""Every command that README and docs show is run, and its output compared.

Blocks of a page build on each other, in a folder with the tables of `examples/`.
"""

import os
import re
import shlex
import subprocess
import sys

import pandas as pd
import pytest
from doc_pages import PAGES, ROOT, copy_tables, name_of

pytestmark = pytest.mark.soak

# The language of a block, if any, and what is in it.
BLOCK = re.compile(r"^```(\S*).*?\n(.*?)^```", re.MULTILINE | re.DOTALL)
# Commands that are tested elsewhere, or need what a test has not.
ELSEWHERE = {
    "make": "what this suite is run by, and `make demo` is `trueaxis demo`",
    "pip": "needs a package index",
}


def commands(page):
    """Yield the commands of a page, with the output that the page shows, or None."""
    for language, block in BLOCK.findall(page.read_text()):
        if language not in ("", "console", "text"):
            continue
        lines = block.splitlines()
        if not any(re.match(r"\$ |trueaxis |make |pip ", line) for line in lines):
            continue
        shown = None
        command = None
        for line in lines:
            if line.startswith("$ ") or re.match(r"(trueaxis|make|pip) ", line):
                if command:
                    yield command, shown
                shown = [] if line.startswith("$ ") else None
                command = line.removeprefix("$ ")
            elif shown is not None:
                shown.append(line)
        if command:
            yield command, shown


def is_tested_elsewhere(command):
    return any(command.startswith(start) for start in ELSEWHERE)


WITH_COMMANDS = [
    page
    for page in PAGES
    if any(not is_tested_elsewhere(command) for command, _ in commands(page))
]


@pytest.fixture
def folder(tmp_path):
    """Return a folder with the tables that the pages read."""
    copy_tables(tmp_path)
    table = pd.read_csv(tmp_path / "pumps.csv")
    table.to_csv(tmp_path / "readings.csv", index=False)
    table.to_csv(tmp_path / "readings.csv.gz", index=False)
    table.to_parquet(tmp_path / "readings.parquet")
    faulty = table.astype({"flow": object})
    faulty.loc[[15, 80], "flow"] = ["err", "off"]
    faulty.to_csv(tmp_path / "faulty.csv", index=False)
    german = table.rename(columns={"inlet": "zulauf", "reader": "prüfer"})
    german.to_csv(
        tmp_path / "pumpen.csv", index=False, sep=";", decimal=",", encoding="cp1252"
    )
    with pd.ExcelWriter(tmp_path / "readings.xlsx", engine="xlsxwriter") as book:
        table.head(5).to_excel(book, sheet_name="April", index=False)
        table.to_excel(book, sheet_name="May", index=False)
    return tmp_path


def run(command, folder):
    """Run a command as a shell would; return its exit code and all it prints."""
    words = shlex.split(command, comments=True)
    assert words[0] == "trueaxis", command
    done = subprocess.run(
        [sys.executable, "-m", "trueaxis", *words[1:]],
        cwd=folder,
        env=os.environ | {"PYTHONUNBUFFERED": "1", "COLUMNS": "200"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
    )
    return done.returncode, done.stdout


def as_words(printed):
    """Return printed text without breaks of lines and durations."""
    return " ".join(re.sub(r"took [\d.e-]+ s", "took T s", printed).split())


@pytest.mark.slow
@pytest.mark.parametrize("page", WITH_COMMANDS, ids=name_of)
def test_commands_print_what_the_page_says(page, folder):
    for command, shown in commands(page):
        if is_tested_elsewhere(command):
            continue
        code, printed = run(command, folder)
        expected = 1 if shown and any(s.startswith("Error:") for s in shown) else 0
        assert code == expected, f"{command}\n{printed}"
        if shown is not None:
            pattern = re.escape(as_words(" ".join(shown))).replace(r"\.\.\.", ".*")
            assert re.fullmatch(pattern, as_words(printed)), f"{command}\n{printed}"


def test_the_tables_of_the_examples_are_what_their_script_makes():
    for name, arguments in (("pumps.csv", []), ("new_pumps.csv", ["new"])):
        script = [sys.executable, ROOT / "examples" / "pumps.py", *arguments]
        made = subprocess.run(script, check=True, capture_output=True).stdout
        assert made.decode().splitlines() == (
            (ROOT / "examples" / name).read_text().splitlines()
        )
