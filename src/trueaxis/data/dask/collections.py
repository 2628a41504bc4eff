"""Open Dask arrays and data frames, and files that Dask workers read.

Unlike scikit-learn, this never silently computes a whole collection in this process.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import CancelledError
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueaxis.data.binary import BinaryRows, check_column_indices, float_type
from trueaxis.data.dask.blocks import join_lengths
from trueaxis.data.dask.rows import DaskRows
from trueaxis.data.dask.scheduler import TaskRunner
from trueaxis.data.memory import refuse_large
from trueaxis.data.parquet import ParquetRows
from trueaxis.data.rows import Rows
from trueaxis.data.stacked import RowRange, StackedRows
from trueaxis.data.watched_file import SourceError

CHUNK_BYTES = 1 << 26  # size of a block read from a file; larger for very large files
MOST_CHUNKS = 2048  # approximate maximum number of such blocks


def is_dask(X: Any) -> bool:
    """Return whether X is a Dask collection (Dask need not be installed)."""
    return type(X).__module__.split(".")[0] in ("dask", "dask_expr")


def dask_rows(
    X: Any, columns: Sequence[Any] | None = None, client: Any = None
) -> DaskRows:
    """Open the rows of a Dask array or data frame."""
    import dask.array

    if isinstance(X, dask.array.Array):
        return _array_rows(X, columns, TaskRunner(client))
    is_frame = all(hasattr(type(X), name) for name in ("npartitions", "columns"))
    if is_frame and X.ndim == 2:
        return _frame_rows(X, columns, TaskRunner(client))
    raise TypeError(
        f"X is a Dask {type(X).__name__}: pass a Dask array or data frame with one row "
        "per sample."
    )


def compute_vector(vector: Any, name: str) -> NDArray[Any]:
    """Fetch a per-row vector that a fit left with the workers, if memory allows."""
    refuse_large(
        int(vector.nbytes),
        f"{name}, a vector of {vector.shape[0]:,} rows,",
        "Save the model with trueaxis.save(..., training=False), which omits it.",
    )
    try:
        values: NDArray[Any] = vector.compute()
    except (ValueError, CancelledError) as error:  # futures of a closed cluster
        raise SourceError(
            f"{name} was left with the workers of a Dask cluster, which no longer has "
            "it. Save the model before the cluster is closed, or with "
            "trueaxis.save(..., training=False), which omits it."
        ) from error
    return values


def refuse_frames(estimator: Any) -> None:
    """Raise if a lazy result would be wrapped in a data frame, which computes it."""
    from sklearn import get_config  # takes long, and files are read without it

    output = get_config()["transform_output"]
    output = getattr(estimator, "_sklearn_output_config", {}).get("transform", output)
    if output != "default":
        raise TypeError(
            f"X is a Dask collection, but set_output(transform={output!r}) would load "
            "the whole result into memory. Use set_output(transform='default') to get "
            "a Dask array."
        )


def _array_rows(X: Any, columns: Sequence[int] | None, runner: TaskRunner) -> DaskRows:
    if X.ndim != 2:
        raise SourceError(
            f"X is a Dask array with {X.ndim} dimension(s), but a 2D array is needed: "
            "reshape it to rows and columns."
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
            f"X is a Dask array with {X.numblocks[1]} blocks of columns, but blocks "
            'need whole rows: pass X.rechunk({0: "auto", 1: -1}).'
        )
    if not isinstance(X._meta, np.ndarray):
        raise TypeError(
            f"X is a Dask array with blocks of type {type(X._meta).__name__}, but only "
            "NumPy arrays can be analyzed. Convert them with X.map_blocks(...)."
        )
    dtype = float_type(X.dtype, "The Dask array")
    selected = check_column_indices(columns, X.shape[1], "The Dask array")
    if selected is not None:
        X = X[:, selected].rechunk({1: -1})
    return DaskRows(X.astype(dtype), runner=runner)


def _frame_rows(X: Any, columns: Sequence[Any] | None, runner: TaskRunner) -> DaskRows:
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
                f"Column {name!r} of the Dask data frame has values of type {kind}, "
                "but only numbers can be analyzed. Drop it, or choose columns."
            )
    single = all(str(kind).lower() == "float32" for kind in X.dtypes)
    dtype = np.dtype(np.float32 if single else np.float64)
    # A data frame does not know the lengths of its partitions: the workers count
    # the rows.
    parts = X.to_delayed()
    count = delayed(len, pure=True)
    counts = sorted(runner.run([count(part) for part in parts]))
    lengths = [length for _, length in counts]
    to_array = delayed(_to_array, pure=True)
    width = len(X.columns)
    arrays = [
        dask.array.from_delayed(to_array(part, dtype), (length, width), dtype=dtype)
        for part, length in zip(parts, lengths, strict=True)
    ]
    names = [str(name) for name in X.columns]
    array = dask.array.concatenate(arrays)
    return DaskRows(array, names, block_name="partition", runner=runner)


def _to_array(part: Any, dtype: np.dtype[Any]) -> NDArray[Any]:
    array: NDArray[Any] = part.to_numpy(dtype=dtype, na_value=np.nan)
    return array


def read_by_workers(rows: Rows, client: Any, block_rows: int | None) -> DaskRows:
    """Split the rows of files into blocks that the workers of a client read.

    The workers must see the files under the same paths.
    """
    import dask.array

    parts = rows.parts if isinstance(rows, StackedRows) else [rows]
    if not all(isinstance(part, (BinaryRows, ParquetRows)) for part in parts):
        raise TypeError(
            f"A source of type {type(rows).__name__} cannot be sent to Dask workers: "
            "pass paths of .npy or Parquet files, or a Dask array."
        )
    row_bytes = rows.shape[1] * rows.dtype.itemsize
    # Every block is work for the scheduler. The number of blocks must not depend on the
    # number of workers, or the result would not be bitwise reproducible.
    size = max(CHUNK_BYTES, rows.shape[0] * row_bytes // MOST_CHUNKS)
    max_rows = block_rows or max(1, size // row_bytes)
    lengths: list[int] = []
    for part in parts:
        lengths += _split(part, max_rows)
    _check_visible(parts, client)
    array = dask.array.map_blocks(
        _read_range,
        source=rows,
        chunks=(tuple(lengths), (rows.shape[1],)),
        dtype=rows.dtype,
        meta=np.empty((0, 0), dtype=rows.dtype),
    )
    return DaskRows(array, rows.names, origin=rows, runner=TaskRunner(client))


def _check_visible(parts: Sequence[Any], client: Any) -> None:
    """Raise if a worker cannot see the last file."""
    last = parts[-1]
    watched = last.watched if isinstance(last, ParquetRows) else last.storage
    for worker, exists in client.run(os.path.exists, str(watched.path)).items():
        if not exists:
            raise SourceError(
                f"The Dask worker {worker} cannot see {watched.path}: workers read the "
                "files themselves, under the same paths as this process. Put them "
                "where all workers can see them, or start workers on this machine "
                "(--workers)."
            )


def _split(rows: Rows, max_rows: int) -> list[int]:
    """Return the lengths of the blocks of a file; in Parquet, of whole row groups."""
    if not isinstance(rows, ParquetRows):
        n = rows.shape[0]
        return [min(max_rows, n - first) for first in range(0, n, max_rows)]
    return join_lengths(np.diff(rows.starts).tolist(), max_rows)


def _read_range(source: Rows, block_info: Any) -> NDArray[Any]:
    (first, last), _ = block_info[None]["array-location"]
    return RowRange(source, first, last).read()
