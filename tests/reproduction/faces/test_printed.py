"""Numbers printed in the paper."""

from trueaxis.datasets import FACES
from trueaxis.reproduction.faces.printed import gain


def test_printed_gains():
    assert [gain(name) for name in FACES] == [0.67, 5.96, 1.25, 3.04]
