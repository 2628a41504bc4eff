import importlib.abc
import sys

import pytest


class NoPandas(importlib.abc.MetaPathFinder):
    """Finder for whom pandas is not installed."""

    def find_spec(self, name, path=None, target=None):
        if name == "pandas":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


@pytest.fixture
def forget_pandas(monkeypatch):
    """A function after which pandas cannot be imported.

    None in its place would be found by scikit-learn before 1.7.
    """

    def forget():
        monkeypatch.delitem(sys.modules, "pandas")
        monkeypatch.setattr(sys, "meta_path", [NoPandas(), *sys.meta_path])

    return forget
