import pytest

from studies.uci import summary as uci_summary


@pytest.fixture
def fewer_draws(monkeypatch):
    monkeypatch.setattr(uci_summary, "DRAWS", 60)
