"""Numbers printed in the paper."""

from studies.data import FACES
from studies.faces.printed import gain


def test_printed_gains():
    assert [gain(name) for name in FACES] == [0.67, 5.96, 1.25, 3.04]
