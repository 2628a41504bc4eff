"""REPEAT the paper's studies: run them, draw them, write the page about them."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from trueaxis._files import atomic_write
from trueaxis.reproduction.faces.study import FacesStudy
from trueaxis.reproduction.study import Progress, Study, run
from trueaxis.reproduction.toy.study import ToyStudy
from trueaxis.reproduction.uci.study import UciStudy

NAMES = ("toy", "uci", "faces")
PRIVATE = "private"  # folder of pictures that show faces, whose owners forbid copies
INTRODUCTION = """\
# The paper's experiments, repeated

`trueaxis reproduce all` made this page: every study of *Robust PCA via Discriminant
Sample Weight Learning* (Deng, Hu, Li, Zhang), with the paper's printed numbers, ours,
and a verdict on each of its claims. Verdicts are computed by the rules stated beside
them: other results would give other words. Every fold and seed is in `results/*.csv`.

"DSWL as published" is the paper's Algorithm 1, whose temperatures the paper leaves
open; "DSWL automatic" is `trueaxis.DSWL` with its defaults, untuned.
"""


def prepare(
    name: str, data_home: str | None, quick: bool, download: bool = True
) -> Study:
    """Make a study of the data sets that can be had."""
    if name == "toy":
        return ToyStudy.quick() if quick else ToyStudy()
    kind: Any = {"uci": UciStudy, "faces": FacesStudy}[name]
    return kind.prepare(data_home=data_home, download=download, quick=quick)


def reproduce(
    studies: Sequence[Study],
    folder: Path,
    page: Path,
    *,
    jobs: int = 1,
    begin: Callable[[str], Progress] = lambda name: lambda done, of: None,
) -> None:
    """Run studies, one after the other, and write the page.

    Parameters
    ----------
    studies : sequence of Study
    folder : Path
        For measurements, figures and sections, and for what is needed to resume.
    page : Path
        A Markdown file, made of the sections of all studies that are in the folder;
        its figures go into images/ beside it.
    jobs : int
        Processes.
    begin : callable
        Told the name of a study, gives whom to tell how far it is.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for study in studies:
        if not study.tasks():  # no data at hand
            continue
        results = run(study, folder, jobs=jobs, progress=begin(study.name))
        figures = study.figures(results, folder)
        _write(folder / f"{study.name}.md", study.section(results))
        shown = [path.name for path in figures if path.parent.name != PRIVATE]
        _write(folder / f"{study.name}-figures.txt", "\n".join(shown))
    write_page(folder, page)


def write_page(folder: Path, page: Path) -> None:
    """Put the page together from the sections that are in a folder."""
    images = page.parent / "images"
    parts = [INTRODUCTION]
    for name in NAMES:
        section = folder / f"{name}.md"
        if not section.exists():
            continue
        parts.append(section.read_text(encoding="utf-8").strip() + "\n")
        for figure in (folder / f"{name}-figures.txt").read_text().split():
            images.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(folder / figure, images / figure)
            link = os.path.relpath(images / figure, page.parent)
            parts.append(f"![{_caption(figure)}]({Path(link).as_posix()})\n")
    _write(page, "\n".join(parts))


def _caption(figure: str) -> str:
    return Path(figure).stem.replace("-", ", ")


def _write(path: Path, text: str) -> None:
    with atomic_write(path) as file:
        file.write(text.encode("utf-8"))
