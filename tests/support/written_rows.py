"""Rows of a file, written again."""

import io

import numpy as np

from trueaxis.io.original import open_original, write_rows


def written(path, target="out.csv", rows=None, changes=None, choice=None):
    """Bytes that are written for rows of a file."""
    out = io.BytesIO()
    rows = None if rows is None else np.array(rows, dtype=int)
    write_rows(open_original(str(path), choice), out, target, rows, changes)
    return out.getvalue()
