"""Requests that do not fit into memory."""

import pytest

from trueaxis import DSWL
from trueaxis.data import memory
from trueaxis.diagnostics import contributions
from trueaxis.methods import METHODS, PCP


def test_methods_that_need_all_rows_check_the_memory(folder, monkeypatch):
    monkeypatch.setattr(memory, "available_memory", lambda: 3_000_000)
    words = "Reading all 9,000 rows x 20 columns takes 1.4 MB, but only 3.0 MB .*DSWL"
    for ask in (
        PCP(3),
        METHODS["l1-pca"](3),
    ):
        with pytest.raises(MemoryError, match=words):
            ask.fit(folder / "all.npy")
    model = DSWL(3).fit(folder / "all.npy")  # reads block by block
    with pytest.raises(MemoryError, match="Reading all"):
        contributions(model, folder / "all.npy")
    monkeypatch.setattr(memory, "available_memory", lambda: 100_000)
    with pytest.raises(MemoryError, match="The result of 9,000 rows x 3 numbers"):
        model.transform(folder / "all.npy")


def test_memory_of_containers_and_other_systems(tmp_path, monkeypatch):
    monkeypatch.setattr(memory, "MEMINFO", tmp_path / "meminfo")
    monkeypatch.setattr(memory, "GROUP", tmp_path)
    assert memory.available_memory() is None
    memory.refuse_large(10**18, "This", "")
    (tmp_path / "meminfo").write_text("MemFree: 1 kB\n")
    assert memory.available_memory() is None
    (tmp_path / "meminfo").write_text("MemFree: 1 kB\nMemAvailable: 2000 kB\n")
    assert memory.available_memory() == 2_048_000
    (tmp_path / "memory.max").write_text("1000000\n")
    (tmp_path / "memory.current").write_text("400000\n")
    assert memory.available_memory() == 600_000
    (tmp_path / "memory.max").write_text("max\n")
    assert memory.available_memory() == 2_048_000
