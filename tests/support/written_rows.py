"""Rows of a file, written again."""

import io

import numpy as np

from trueaxis.io.write import Original


def written(path, target="out.csv", rows=None, changes=None, choice=None):
    """Bytes that are written for rows of a file."""
    out = io.BytesIO()
    rows = None if rows is None else np.array(rows, dtype=int)
    Original(str(path), choice).write(out, target, rows, changes)
    return out.getvalue()
