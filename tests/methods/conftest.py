import pytest

from trueaxis.datasets import planted


@pytest.fixture(scope="module")
def cloud():
    return planted("ocs", n=200, n_features=8, share=0.2)
