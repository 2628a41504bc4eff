"""Data that several test modules use."""

import numpy as np


def nasty():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 5))
    yield "duplicated rows", np.repeat(X[:20], 3, axis=0), 2
    yield "constant columns", X * [1, 0, 1, 0, 0] + 7, 2
    yield "rank below k", X[:, :1] @ np.ones((1, 5)), 3
    yield "all rows equal", np.full((20, 4), 3.7), 2
    yield "all rows zero", np.zeros((20, 4)), 2
    yield "n = k + 1", X[:4], 3
    yield "two rows", X[:2], 1
    yield "n = k", X[:3], 3
    yield "half identical", np.vstack([X[:30], np.repeat(X[:1], 30, axis=0)]), 2
    yield "most identical", np.vstack([X[:6], np.repeat(X[:1], 54, axis=0)]), 2
    yield "one row of 1e300", np.vstack([X, np.full((1, 5), 1e300)]), 2
    yield "one row of 1e100", np.vstack([X, np.full((1, 5), -1e100)]), 2
    yield (
        "one row of 1e300, wide",
        np.vstack([X.reshape(15, 20), np.full((1, 20), 1e300)]),
        2,
    )
    yield "one column", X[:, :1], 1
    yield "one column thrice", X[:, [0, 0, 0]], 3
    yield "a circle", np.c_[np.sin(np.arange(300) / 10), np.cos(np.arange(300) / 10)], 1
    yield "99 % identical", np.vstack([np.ones((99, 5)), X[:1]]), 2
    yield "huge unit", X * 1e120, 2
    yield "tiny unit", X * 1e-120, 2
