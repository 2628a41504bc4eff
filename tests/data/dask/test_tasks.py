"""Tasks that workers run on blocks."""

import dask.array as da
import numpy as np
import pytest
from dask_helpers import X

from trueaxis import DSWL
from trueaxis.data.watched_file import SourceError


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (
            lambda b: b[:, :7],
            r"row 6,000 is of type ndarray.* shape \(3000, 7\)",
        ),
        (lambda b: b[:70], r"shape \(70, 20\), but was declared .*\(3000, 20\)"),
        (lambda b: b.astype(object), r"is of type ndarray \(object\)"),
        (lambda b: np.ma.masked_greater(b, 3), "is of type MaskedArray"),
    ],
)
def test_blocks_that_contradict_their_metadata_are_refused(client, made, words):
    def last(block, block_id=None):
        return made(block) if block_id[0] == 2 else block

    lazy = da.from_array(X, chunks=(3_000, -1)).map_blocks(
        last, dtype=float, meta=np.empty((0, 0))
    )
    with pytest.raises(SourceError, match=words):
        DSWL(3).fit(lazy)


def test_errors_of_blocks_are_raised_unchanged(client):
    def broken(block):
        raise PermissionError("no key to the vault")

    lazy = da.from_array(X, chunks=(3_000, -1)).map_blocks(
        broken, dtype=float, meta=np.empty((0, 0))
    )
    with pytest.raises(PermissionError, match="no key to the vault"):
        DSWL(3).fit(lazy)
