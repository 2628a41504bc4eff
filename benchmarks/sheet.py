"""A table that prints itself to the terminal or, with MARKDOWN=1, as Markdown."""

from __future__ import annotations

import os

from rich.console import Console
from rich.table import Table

CONSOLE = Console(width=150)


class Sheet:
    """A table with a title and headings."""

    def __init__(self, title: str, *headings: str) -> None:
        self.title = title
        self.headings = headings
        self.rows: list[tuple[str, ...]] = []

    def add(self, *cells: object) -> None:
        """Add a row."""
        self.rows.append(tuple(str(cell) for cell in cells))

    def show(self) -> None:
        """Print the table."""
        if os.environ.get("MARKDOWN"):
            lines = [self.headings, ["---"] * len(self.headings), *self.rows]
            body = "\n".join(f"| {' | '.join(line)} |" for line in lines)
            print(f"\n**{self.title}**\n\n{body}")
            return
        table = Table(title=self.title)
        for heading in self.headings:
            table.add_column(heading)
        for row in self.rows:
            table.add_row(*row)
        CONSOLE.print(table)
