"""Run `fit --client` and `fit --workers`, on a Dask cluster."""

from __future__ import annotations

import logging
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from trueaxis._cli.options import FitOptions
from trueaxis._cli.process.signals import start_tracker
from trueaxis._cli.rows_output import RowFiles
from trueaxis._cli.streaming import open_on_workers
from trueaxis._files import temporary_folder
from trueaxis._rows.watched_file import SourceError
from trueaxis.io import Choice
from trueaxis.io.write import refuse_target

CONNECT_SECONDS = 10


def fit(
    data: str,
    choice: Choice,
    fit_options: FitOptions,
    output: str,
    files: RowFiles,
    as_json: bool,
    address: str,
    workers: int,
) -> None:
    """Fit a file that the workers of a Dask cluster read."""
    refuse_target(output, data)
    files.refuse(data, output=output)
    source = files.open_large(data, choice)
    from trueaxis._cli import large_commands

    with connect(address, workers) as client:
        rows = open_on_workers(data, choice, client)
        large_commands.fit(data, rows, fit_options, output, files, source, as_json)


@contextmanager
def connect(address: str, workers: int) -> Iterator[Any]:
    """Connect a client to a running scheduler or to new processes.

    Parameters
    ----------
    address : str
        Such as tcp://host:8786; "" for new processes on this machine.
    workers : int
        Number of new processes.
    """
    try:
        from distributed import Client
    except ImportError:
        raise ImportError(
            "--client and --workers need Dask, which is not installed: "
            "pip install 'trueaxis[dask]', or leave them out."
        ) from None
    # distributed has no annotations.
    if not address:
        with (
            _local_cluster(workers) as local,
            Client(local) as client,
        ):
            yield client
        return
    try:
        client = Client(address, timeout=CONNECT_SECONDS)
    except (OSError, ValueError) as error:
        raise SourceError(
            f"There is no Dask scheduler at {address} ({error}): check that it is "
            "running, and that the address has the form tcp://host:8786."
        ) from error
    with client:
        yield client


@contextmanager
def _local_cluster(workers: int) -> Iterator[Any]:
    import dask
    from distributed import LocalCluster

    # Dask would otherwise leave a folder with locks where temporary files are.
    with (
        temporary_folder() as folder,
        dask.config.set({"temporary-directory": str(folder)}),
    ):
        with _sigint_blocked():
            local = LocalCluster(
                n_workers=workers,
                threads_per_worker=1,
                dashboard_address=":0",
                silence_logs=logging.CRITICAL,  # failures are raised as exceptions
                local_directory=folder,
            )
        with local:
            yield local


@contextmanager
def _sigint_blocked() -> Iterator[None]:
    """Block SIGINT in processes started here: on Ctrl-C the client shuts them down."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    # Otherwise it would start with the first process, and unblock SIGINT here.
    start_tracker()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
