"""Count the code: modules, lines and statements, by folder.

    python tools/size.py

A statement is a node `ast.stmt` that is no docstring.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "trueaxis"
OTHERS = ("tests", "studies", "benchmarks", "tools")


class Size(NamedTuple):
    """How much code there is."""

    modules: int = 0
    lines: int = 0
    statements: int = 0


def size_of_text(text: str) -> Size:
    """Return the size of one module."""
    nodes = list(ast.walk(ast.parse(text)))
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    docstrings = sum(
        isinstance(node, documented) and ast.get_docstring(node) is not None
        for node in nodes
    )
    statements = sum(isinstance(node, ast.stmt) for node in nodes) - docstrings
    return Size(1, len(text.splitlines()), statements)


def sizes_by_folder(root: Path) -> dict[str, Size]:
    """Return the size of each folder right below, and of the files in `root` itself."""
    found: dict[str, list[Size]] = defaultdict(list)
    for path in sorted(root.rglob("*.py")):
        folder, *inside = path.relative_to(root).parts
        found[folder if inside else "."].append(size_of_text(path.read_text()))
    return {folder: total(sizes) for folder, sizes in sorted(found.items())}


def total(sizes: list[Size]) -> Size:
    """Return the sum of sizes."""
    return Size(*map(sum, zip(*sizes, strict=True))) if sizes else Size()


def main() -> None:
    """Print the table."""
    package = sizes_by_folder(PACKAGE)
    rows = {f"  {folder}": size for folder, size in package.items()}
    rows["src/trueaxis"] = total([*package.values()])
    for name in OTHERS:
        rows[name] = total([*sizes_by_folder(ROOT / name).values()])
    print(f"{'':16}" + "".join(f"{field:>12}" for field in Size._fields))
    for label, size in rows.items():
        print(f"{label:16}" + "".join(f"{number:12,}" for number in size))


if __name__ == "__main__":
    main()
