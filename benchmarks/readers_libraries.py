"""The libraries that `readers.py` compares: how each reads a file."""
# ruff: noqa: D102

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Protocol

import numpy as np

BLOCK = 50_000  # rows that are read at a time


class Candidate(Protocol):
    """A library, as the trial uses it."""

    packages: tuple[str, ...]
    module: str

    def array(self, path: str, comma: bool, threads: bool) -> np.ndarray:
        """Read numbers, with decimal commas after semicolons or not."""

    def blocks(self, path: str) -> Iterator[np.ndarray]:
        """Read numbers, as few rows at a time as it can."""

    def floats(self, path: str) -> None:
        """Read a file whose column `flow` must hold numbers."""

    def columns(self, path: str) -> list[tuple[str, list]]:
        """Read names and cells of a file, with default settings."""


class DuckDB:
    """DuckDB, whose reader guesses the dialect."""

    packages = ("duckdb",)
    module = "duckdb"

    def _relation(self, path: str, threads: bool, **options: Any) -> Any:
        import duckdb

        connection = duckdb.connect(config={} if threads else {"threads": 1})
        return connection.read_csv(path, **options)

    def array(self, path: str, comma: bool, threads: bool) -> np.ndarray:
        options = {"sep": ";", "decimal": ","} if comma else {}
        found = self._relation(path, threads, **options).fetchnumpy()
        return np.column_stack(list(found.values()))

    def blocks(self, path: str) -> Iterator[np.ndarray]:
        import duckdb

        done = duckdb.connect().execute("FROM read_csv(?)", [path])
        while rows := done.fetchmany(BLOCK):  # blocks of NumPy arrays need pyarrow
            yield np.array(rows)

    def floats(self, path: str) -> None:
        self._relation(path, False, dtype={"flow": "DOUBLE"}).fetchnumpy()

    def columns(self, path: str) -> list[tuple[str, list]]:
        import duckdb

        if path.endswith(".feather"):
            raise ValueError("DuckDB alone has no reader of Feather files")
        text = not path.endswith((".xlsx", ".ods", ".jsonl"))
        source = "read_csv(?)" if text else f"'{path}'"
        done = duckdb.connect().execute(f"FROM {source}", [path] if text else None)
        names = [each[0] for each in done.description]
        rows = done.fetchall()
        return [(n, [row[i] for row in rows]) for i, n in enumerate(names)]


class Polars:
    """Polars, with fastexcel for spreadsheets."""

    packages = ("polars", "fastexcel")
    module = "polars"

    def array(self, path: str, comma: bool, threads: bool) -> np.ndarray:
        import polars

        options = {"separator": ";", "decimal_comma": True} if comma else {}
        return polars.read_csv(path, **options).to_numpy()

    def blocks(self, path: str) -> Iterator[np.ndarray]:
        import polars

        for part in polars.scan_csv(path).collect_batches(chunk_size=BLOCK):
            yield part.to_numpy()

    def floats(self, path: str) -> None:
        import polars

        polars.read_csv(path, schema_overrides={"flow": polars.Float64})

    def columns(self, path: str) -> list[tuple[str, list]]:
        import polars

        readers = {
            ".xlsx": polars.read_excel,
            ".ods": polars.read_ods,
            ".jsonl": polars.read_ndjson,
            ".feather": polars.read_ipc,
        }
        frame = readers.get(Path(path).suffix, polars.read_csv)(path)
        return [(each.name, each.to_list()) for each in frame]


class Arrow:
    """pyarrow, with python-calamine for spreadsheets."""

    packages = ("pyarrow", "python-calamine")
    module = "pyarrow.csv"

    def array(self, path: str, comma: bool, threads: bool) -> np.ndarray:
        import pyarrow.csv as csv

        table = csv.read_csv(
            path,
            read_options=csv.ReadOptions(use_threads=threads),
            parse_options=csv.ParseOptions(delimiter=";" if comma else ","),
            convert_options=csv.ConvertOptions(decimal_point="," if comma else "."),
        )
        return np.column_stack([each.to_numpy() for each in table.columns])

    def blocks(self, path: str) -> Iterator[np.ndarray]:
        import pyarrow.csv as csv

        for batch in csv.open_csv(path):
            yield np.column_stack([each.to_numpy() for each in batch.columns])

    def floats(self, path: str) -> None:
        import pyarrow
        import pyarrow.csv as csv

        types = {"flow": pyarrow.float64()}
        # With threads, messages do not name the row.
        read_options = csv.ReadOptions(use_threads=False)
        convert_options = csv.ConvertOptions(column_types=types)
        csv.read_csv(path, read_options, convert_options=convert_options)

    def columns(self, path: str) -> list[tuple[str, list]]:
        import pyarrow.csv
        import pyarrow.feather
        import pyarrow.json
        from python_calamine import CalamineWorkbook

        ending = Path(path).suffix
        if ending in (".xlsx", ".ods"):
            book = CalamineWorkbook.from_path(path)
            names, *rows = book.get_sheet_by_index(0).to_python()
            return [(str(n), [row[i] for row in rows]) for i, n in enumerate(names)]
        readers = {
            ".jsonl": pyarrow.json.read_json,
            ".feather": pyarrow.feather.read_table,
        }
        table = readers.get(ending, pyarrow.csv.read_csv)(path)
        columns = [each.to_pylist() for each in table.columns]
        return list(zip(table.column_names, columns, strict=True))


class Pandas:
    """pandas, with python-calamine for spreadsheets."""

    packages = ("pandas", "python-calamine")
    module = "pandas"

    def array(self, path: str, comma: bool, threads: bool) -> np.ndarray:
        import pandas

        options = {"sep": ";", "decimal": ","} if comma else {}
        return pandas.read_csv(path, **options).to_numpy()

    def blocks(self, path: str) -> Iterator[np.ndarray]:
        import pandas

        with pandas.read_csv(path, chunksize=BLOCK) as parts:
            for part in parts:
                yield part.to_numpy()

    def floats(self, path: str) -> None:
        import pandas

        pandas.read_csv(path, dtype={"flow": float})

    def columns(self, path: str) -> list[tuple[str, list]]:
        import pandas

        readers: dict[str, Callable] = {
            ".xlsx": lambda path: pandas.read_excel(path, engine="calamine"),
            ".ods": lambda path: pandas.read_excel(path, engine="calamine"),
            ".jsonl": lambda path: pandas.read_json(path, lines=True),
            ".feather": pandas.read_feather,
        }
        frame = readers.get(Path(path).suffix, pandas.read_csv)(path)
        if not (frame.index == range(len(frame))).all():  # cells that it took for names
            frame = frame.reset_index()
        return [(str(name), frame[name].tolist()) for name in frame.columns]


class TrueAxis:
    """What this package does with a file."""

    packages = ()
    module = "trueaxis.io"

    def array(self, path: str, comma: bool, threads: bool) -> np.ndarray:
        from trueaxis.io import read_table

        return read_table(path).X

    def blocks(self, path: str) -> Iterator[np.ndarray]:
        yield self.array(path, False, False)

    def floats(self, path: str) -> None:
        self.array(path, False, False)

    def columns(self, path: str) -> list[tuple[str, list]]:
        from trueaxis.io import read_table

        table = read_table(path)
        found = zip(table.columns, table.X.T.tolist(), strict=True)
        return [*found, *(each for each in table.others.items())]


CANDIDATES: dict[str, Candidate] = {
    "DuckDB": DuckDB(),
    "polars + fastexcel": Polars(),
    "pyarrow + python-calamine": Arrow(),
    "pandas + python-calamine": Pandas(),
    "trueaxis": TrueAxis(),
}
