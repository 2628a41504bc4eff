"""CONNECT the command line to Dask: a cluster that runs, or processes of its own."""

from __future__ import annotations

import logging
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import resource_tracker
from typing import Any

from trueaxis._rows.watched_file import SourceError

CONNECT_SECONDS = 10


@contextmanager
def cluster(address: str, workers: int) -> Iterator[Any]:
    """A client of the scheduler at an address or, without one, of new processes.

    Parameters
    ----------
    address : str
        Such as tcp://host:8786; "" for processes on this machine.
    workers : int
        How many of them.
    """
    try:
        from distributed import Client
    except ImportError:
        raise ImportError(
            "Dask is not installed, without which there are no other workers: pip "
            "install 'trueaxis[dask]', or leave out --client and --workers."
        ) from None
    if not address:
        with _processes(workers) as local, Client(local) as client:
            yield client
        return
    try:
        client = Client(address, timeout=CONNECT_SECONDS)
    except (OSError, ValueError) as error:
        raise SourceError(
            f"There is no Dask scheduler at {address} ({error}): check the address, "
            "such as tcp://host:8786, and that it runs."
        ) from error
    with client:
        yield client


@contextmanager
def _processes(workers: int) -> Iterator[Any]:
    from distributed import LocalCluster

    with _deaf():
        local = LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            dashboard_address=":0",
            silence_logs=logging.CRITICAL,  # what matters comes as an exception
        )
    with local:
        yield local


@contextmanager
def _deaf() -> Iterator[None]:
    """Start processes that do not hear Ctrl-C: who started them ends them."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    # Otherwise started with the first process, when it unblocks what is blocked here.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
