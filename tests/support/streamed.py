"""A source of rows that counts how often it is read."""

from trueaxis.data.rows import Rows


class Streamed(Rows):
    """A source that hands out chunks of uneven size and counts its reads."""

    def __init__(self, X, sizes=(7, 300, 41)):
        self.X, self.sizes, self.reads = X, sizes, 0
        self.shape, self.dtype = X.shape, X.dtype

    def blocks(self):
        self.reads += 1
        first, turn = 0, 0
        while first < len(self.X):
            size = self.sizes[turn % len(self.sizes)]
            yield first, self.X[first : first + size]
            first, turn = first + size, turn + 1
