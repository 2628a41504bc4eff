"""The data behind one interface: sources of rows, read block by block."""

from trueaxis.data.progress import show_progress

__all__ = ["show_progress"]
