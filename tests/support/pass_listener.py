"""A listener that records the passes over the rows."""

from contextlib import contextmanager


class Listener:
    """Records title, number of rows and rows done of each pass."""

    def __init__(self):
        self.passes, self.open = [], 0

    @contextmanager
    def __call__(self, title, total):
        record = [title, total, 0]
        self.passes.append(record)
        self.open += 1

        def advance(rows):
            record[2] += rows

        try:
            yield advance
        finally:
            self.open -= 1

    @property
    def titles(self):
        return [title for title, _, _ in self.passes]

    def complete(self):
        return self.open == 0 and all(done == total for _, total, done in self.passes)
