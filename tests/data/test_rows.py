"""How often a fit reads its rows."""

import pytest

from trueaxis import DSWL
from trueaxis.data.rows import ArrayRows
from trueaxis.methods import PlainPCA


@pytest.mark.slow
def test_a_fit_reads_the_rows_a_few_times(X):
    class Counted(ArrayRows):
        in_memory = False
        reads = 0

        def blocks(self):
            self.reads += 1
            return super().blocks()

    rows = Counted(X)
    DSWL(3).fit(rows)
    # One pass for the weights and the subspace, one for the verdicts, and perhaps one
    # for a separate group; NaN is checked on the way.
    assert rows.reads <= 3
    rows.reads = 0
    PlainPCA(3).fit(rows)
    assert rows.reads <= 4
