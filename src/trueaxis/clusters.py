"""CONNECT the command line to Dask: a cluster that runs, or processes of its own."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from trueaxis.watch import SourceError

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
        from distributed import Client, LocalCluster
    except ImportError:
        raise ImportError(
            "Dask is not installed, without which there are no other workers: pip "
            "install 'trueaxis[dask]', or leave out --client and --workers."
        ) from None
    if not address:
        with (
            LocalCluster(
                n_workers=workers,
                threads_per_worker=1,
                dashboard_address=":0",
                silence_logs=logging.CRITICAL,
            ) as local,
            Client(local) as client,
        ):
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
