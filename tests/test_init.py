"""The names that `import trueaxis` offers."""

import pytest

import trueaxis


def test_public_names():
    assert trueaxis.__all__ == sorted(trueaxis.__all__)
    assert "DSWL" in dir(trueaxis)
    with pytest.raises(AttributeError, match="no attribute 'PCB'"):
        _ = trueaxis.PCB
