"""OPEN what Dask holds: arrays, data frames, and files that workers read themselves.

A collection is never pulled into this process, which scikit-learn would do without a
word.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import CancelledError
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config

from trueaxis._rows.base import Rows
from trueaxis._rows.binary import RawRows, checked_positions, float_type
from trueaxis._rows.dask.blocks import joined
from trueaxis._rows.dask.rows import DaskRows
from trueaxis._rows.dask.scheduler import TaskRunner
from trueaxis._rows.memory import refuse_large
from trueaxis._rows.parquet import ParquetRows
from trueaxis._rows.stacked import RowRange, StackedRows
from trueaxis._rows.watched_file import SourceError

CHUNK_BYTES = 1 << 26  # of a file, that are a block
MOST_CHUNKS = 2048  # into which files are cut


def is_dask(X: Any) -> bool:
    """Whether something is a collection of Dask (which need not be installed)."""
    return type(X).__module__.split(".")[0] in ("dask", "dask_expr")


def dask_rows(
    X: Any, columns: Sequence[Any] | None = None, client: Any = None
) -> DaskRows:
    """Rows of a Dask array or data frame."""
    import dask.array

    if isinstance(X, dask.array.Array):
        return _array_rows(X, columns, TaskRunner(client))
    frame = all(hasattr(type(X), name) for name in ("npartitions", "columns"))
    if frame and X.ndim == 2:
        return _frame_rows(X, columns, TaskRunner(client))
    raise TypeError(
        f"X is a Dask {type(X).__name__}: pass a Dask array or data frame, with a row "
        "for each observation."
    )


def pulled(vector: Any, name: str) -> NDArray[Any]:
    """What a fit left with the workers, in memory, if there is room."""
    refuse_large(
        int(vector.nbytes),
        f"{name}, a number for each of {vector.shape[0]:,} rows,",
        "Save the model with trueaxis.save(..., training=False), which leaves it out.",
    )
    try:
        return vector.compute()
    except (ValueError, CancelledError) as error:  # futures that nobody knows any more
        raise SourceError(
            f"{name} was left with the workers of a Dask cluster, which does not have "
            "it any more. Save the model before the cluster is closed, or with "
            "trueaxis.save(..., training=False), which leaves it out."
        ) from error


def refuse_frames(estimator: Any) -> None:
    """Refuse to wrap a lazy answer in a data frame, which would compute it."""
    wanted = get_config()["transform_output"]
    wanted = getattr(estimator, "_sklearn_output_config", {}).get("transform", wanted)
    if wanted != "default":
        raise TypeError(
            f"X is a Dask collection, but set_output(transform={wanted!r}) would pull "
            "all that is made of it into memory. Use set_output(transform='default') "
            "and get a Dask array."
        )


def _array_rows(X: Any, columns: Sequence[int] | None, crew: TaskRunner) -> DaskRows:
    if X.ndim != 2:
        raise SourceError(
            f"X is a Dask array with {X.ndim} dimension(s): rows and columns are "
            "needed. Reshape it to two dimensions."
        )
    if np.isnan(X.shape[1]):
        raise SourceError(
            "X is a Dask array whose number of columns is unknown: call "
            "X.compute_chunk_sizes() first."
        )
    if np.isnan(X.shape[0]):
        raise SourceError(
            f"X is a Dask array of {X.numblocks[0]} blocks whose lengths are unknown: "
            "call X.compute_chunk_sizes() first."
        )
    if X.numblocks[1] > 1:
        raise SourceError(
            f"X is a Dask array cut into {X.numblocks[1]} blocks of columns, but rows "
            'must be whole: pass X.rechunk({0: "auto", 1: -1}).'
        )
    if not isinstance(X._meta, np.ndarray):
        raise TypeError(
            f"X is a Dask array with blocks of type {type(X._meta).__name__}: only "
            "NumPy arrays can be analysed. Convert them with X.map_blocks(...)."
        )
    wanted = float_type(X.dtype, "The Dask array")
    chosen = checked_positions(columns, X.shape[1], "The Dask array")
    if chosen is not None:
        X = X[:, chosen].rechunk({1: -1})
    return DaskRows(X.astype(wanted), crew=crew)


def _frame_rows(X: Any, columns: Sequence[Any] | None, crew: TaskRunner) -> DaskRows:
    import dask.array
    from dask.delayed import delayed

    if columns is not None:
        missing = [name for name in columns if name not in list(X.columns)]
        if missing:
            raise SourceError(
                f"The Dask data frame has no column {missing[0]!r}; its "
                f"{len(X.columns)} columns are {list(X.columns)[:12]}."
            )
        X = X[list(columns)]
    for name, kind in X.dtypes.items():
        if getattr(kind, "kind", "O") not in "biuf":
            raise SourceError(
                f"Column {name!r} of the Dask data frame has values of type {kind}: "
                "only numbers can be analysed. Drop it, or choose columns."
            )
    single = all(str(kind).lower() == "float32" for kind in X.dtypes)
    dtype = np.dtype(np.float32 if single else np.float64)
    # A data frame does not know how long its parts are: ask the workers.
    parts = X.to_delayed()
    count = delayed(len, pure=True)
    counted = sorted(crew.completed([count(part) for part in parts]))
    lengths = [length for _, length in counted]
    numbers = delayed(_numbers, pure=True)
    width = len(X.columns)
    arrays = [
        dask.array.from_delayed(numbers(part, dtype), (length, width), dtype=dtype)
        for part, length in zip(parts, lengths, strict=True)
    ]
    names = [str(name) for name in X.columns]
    array = dask.array.concatenate(arrays)
    return DaskRows(array, names, what="partition", crew=crew)


def _numbers(part: Any, dtype: np.dtype[Any]) -> NDArray[Any]:
    return part.to_numpy(dtype=dtype, na_value=np.nan)


def read_by_workers(rows: Rows, client: Any, block_rows: int | None) -> DaskRows:
    """Rows of files, cut into blocks that the workers of a client read.

    They must see the files under the same paths.
    """
    import dask.array

    parts = rows.parts if isinstance(rows, StackedRows) else [rows]
    if not all(isinstance(part, (RawRows, ParquetRows)) for part in parts):
        raise TypeError(
            f"A {type(rows).__name__} cannot be handed to Dask workers: pass paths of "
            ".npy or Parquet files, or a Dask array."
        )
    row_bytes = rows.shape[1] * rows.dtype.itemsize
    # Every block is work for the scheduler; and their number must not depend on who
    # happens to be there, or the bits of the answer would.
    size = max(CHUNK_BYTES, rows.shape[0] * row_bytes // MOST_CHUNKS)
    most = block_rows or max(1, size // row_bytes)
    lengths: list[int] = []
    for part in parts:
        lengths += _cut(part, most)
    _refuse_unseen(parts, client)
    array = dask.array.map_blocks(
        _read,
        source=rows,
        chunks=(tuple(lengths), (rows.shape[1],)),
        dtype=rows.dtype,
        meta=np.empty((0, 0), dtype=rows.dtype),
    )
    return DaskRows(array, rows.names, origin=rows, crew=TaskRunner(client))


def _refuse_unseen(parts: Sequence[Any], client: Any) -> None:
    """Refuse a file that some worker cannot see."""
    last = parts[-1]
    watched = last.watched if isinstance(last, ParquetRows) else last.storage
    for worker, seen in client.run(os.path.exists, str(watched.path)).items():
        if not seen:
            raise SourceError(
                f"The Dask worker {worker} cannot see {watched.path}: workers read the "
                "files themselves, under the same path as here. Put them where all can "
                "see them, or start workers here (--workers)."
            )


def _cut(rows: Rows, most: int) -> list[int]:
    """Lengths of the blocks of a file: whole row groups, of which Parquet is made."""
    if not isinstance(rows, ParquetRows):
        n = rows.shape[0]
        return [min(most, n - first) for first in range(0, n, most)]
    return joined(np.diff(rows.starts).tolist(), most)


def _read(source: Rows, block_info: Any) -> NDArray[Any]:
    (first, last), _ = block_info[None]["array-location"]
    return RowRange(source, first, last).read()
