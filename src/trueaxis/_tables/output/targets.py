"""Files to write: which ones are refused, and how they are opened.

`write` and `original` write to them.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any

from trueaxis._files import atomic_write, check_target
from trueaxis._tables.formats import (
    ARROW,
    PARQUET,
    STANDARD,
    compression_of,
    ending_of,
    require,
)
from trueaxis._tables.parsing.cells import TableError, harmless

TEXT = (".csv", ".tsv", ".txt", "")
ENDINGS = (
    ".csv", ".tsv", ".txt", ".jsonl", ".parquet", ".feather", ".arrow", ".xlsx", "",
)  # fmt: skip
_OTHER_NAMES = (".ndjson", ".pq", ".ipc", ".dat", ".data")  # of the same formats
COMPRESSIONS = (".gz", ".bz2", ".xz")  # of text and JSON lines


def refuse_table(path: str, *sources: str) -> None:
    """Raise as `refuse_target` does, or if the suffix is not that of a table."""
    refuse_target(path, *sources)
    refuse_ending(path)


def refuse_ending(path: str, *more: str) -> None:
    """Raise if the ending of a name is not that of a table, nor one of `more`."""
    if path in ("", STANDARD):
        return
    ending, packed = ending_of(path), compression_of(path)
    endings = (*ENDINGS, *more)
    if ending not in (*endings, *_OTHER_NAMES) or (ending == "" and packed):
        raise TableError(
            f"{path} ends in {Path(path).suffix}, but tables are written as "
            f"{', '.join(filter(None, endings))}: choose one of these endings."
        )
    typed = (*PARQUET, *ARROW, ".xlsx", ".npy")
    if packed and (packed not in COMPRESSIONS or ending in typed):
        raise TableError(
            f"{path} ends in {ending}{packed}, but only text and JSON lines are "
            f"compressed, and only as {', '.join(COMPRESSIONS)}: choose another ending."
        )
    if ending in PARQUET + ARROW:
        require_writer("pyarrow", path)
    if ending == ".xlsx":
        require_writer("xlsxwriter", path)


def refuse_target(path: str, *sources: str) -> None:
    """Raise early if a file cannot be written, or is one of the inputs."""
    if path in ("", STANDARD):
        return
    target = Path(os.path.realpath(path))
    for source in sources:
        if source in ("", STANDARD):
            continue
        # Another name of the same file may be a hard link.
        if target == Path(os.path.realpath(source)) or _same_file(target, source):
            raise TableError(
                f"{path} is an input and would be overwritten: choose another name."
            )
    check_target(target, path)


def refuse_same_targets(targets: dict[str, str]) -> None:
    """Raise if two options name the same file.

    Parameters
    ----------
    targets : dict
        File of every option; "" for none.
    """
    seen: dict[str, str] = {}
    for name, path in targets.items():
        if not path:
            continue
        real = path if path == STANDARD else os.path.realpath(path)
        if real in seen:
            where = "standard output" if path == STANDARD else path
            raise TableError(
                f"{seen[real]} and {name} would both write to {where}: choose another "
                "name for one of them."
            )
        seen[real] = name


def _same_file(target: Path, source: str) -> bool:
    try:
        return os.path.samefile(target, source)
    except OSError:  # one of them does not exist
        return False


@contextmanager
def open_target(name: str) -> Iterator[IO[bytes]]:
    """Open a file that appears once it is complete, compressed if its ending says so.

    "-" is standard output.
    """
    if name == STANDARD:
        yield StandardOutput()  # type: ignore[misc]
        return
    with atomic_write(name) as file, _compressed(file, compression_of(name)) as out:
        yield out


@contextmanager
def written_together(
    targets: Mapping[str, Callable[[IO[bytes]], object]],
) -> Iterator[None]:
    """Write files that appear after the `with` statement, if it succeeds.

    Standard output comes last, when they are complete: whoever reads it may close it
    early.

    Parameters
    ----------
    targets : dict
        Name of every file, "-" for standard output, and what writes it.
    """
    with ExitStack() as opened:
        for name, write in targets.items():
            if name != STANDARD:
                file = opened.enter_context(open_target(name))
                write(file)
                file.flush()  # a full disk must show before the first one appears
        yield
    if STANDARD in targets:
        with open_target(STANDARD) as file:
            targets[STANDARD](file)


class StandardOutput:
    """Standard output as a file of bytes."""

    def write(self, data: bytes) -> int:
        """Write all bytes."""
        binary = getattr(sys.stdout, "buffer", None)
        # A terminal must not follow what a cell says, and the stream may have been
        # replaced by a file of text, as in a notebook.
        if binary is None or sys.stdout.isatty():
            sys.stdout.write(harmless(bytes(data).decode("utf-8", errors="replace")))
        else:
            sys.stdout.flush()
            binary.write(data)
        return len(data)


@contextmanager
def _compressed(file: IO[bytes], ending: str) -> Iterator[IO[bytes]]:
    out: Any = None
    if ending == ".gz":
        # Without name and time: the same rows give the same bytes.
        out = gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0)
    elif ending == ".bz2":
        out = bz2.BZ2File(file, "wb")
    elif ending == ".xz":
        out = lzma.LZMAFile(file, "wb")
    if out is None:
        yield file
        return
    with out:
        yield out


def require_writer(module: str, path: str | Path) -> Any:
    package = {"xlsxwriter": "XlsxWriter"}.get(module, module)
    try:
        return require(module, str(path), "", "")
    except TableError:
        raise TableError(
            f"Writing {path} needs {package}: pip install 'trueaxis[io]', or choose "
            "the ending .csv."
        ) from None
