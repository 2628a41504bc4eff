"""Data and clusters for the tests of Dask rows."""

import os
import time

import numpy as np

from trueaxis.datasets import planted

X = planted("ocs", n=9_000, share=0.2).X
N, D = X.shape


def assert_same(model, expected, *, axes=1e-10, weights=1e-8):
    assert np.abs(model.components_ - expected.components_).max() <= axes
    assert np.abs(model.mean_ - expected.mean_).max() <= axes * np.abs(X).max()
    assert np.abs(np.asarray(model.weights_) - expected.weights_).max() <= weights
    assert np.array_equal(np.asarray(model.support_), expected.support_)


def counting(array, folder, delay=0.0):
    """Return the array; a file per block counts how often the block is computed."""

    def note(block, block_id=None):
        with open(os.path.join(folder, f"{block_id[0]}"), "a") as file:
            file.write("x")
        time.sleep(delay)
        return block

    return array.map_blocks(note, dtype=array.dtype, meta=np.empty((0, 0)))


def reads(folder):
    return {int(file.name): len(file.read_text()) for file in folder.iterdir()}
