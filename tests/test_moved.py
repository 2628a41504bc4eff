"""Old import paths work, and warn."""

import sys
from importlib import import_module

import pytest

from trueaxis import _moved, open_rows


@pytest.mark.parametrize("old", sorted(_moved.MOVED))
def test_old_paths_can_be_imported(old):
    # By name: coverage may import the package twice, with a class of its own each.
    assert type(import_module(old)).__name__ == "MovedModule"
    import_module(_moved.MOVED[old])


def test_use_of_an_old_path_warns():
    with pytest.warns(
        DeprecationWarning, match=r"import open_rows from trueaxis\._rows"
    ):
        from trueaxis.sources import open_rows as moved
    assert moved is open_rows


def test_unknown_names_are_not_forwarded():
    with pytest.raises(ImportError):
        from trueaxis.sources import nothing  # noqa: F401
    with pytest.raises(ModuleNotFoundError):
        import_module("trueaxis.nowhere")


def test_the_finder_is_installed_once():
    _moved.redirect_moved_modules()
    finders = [isinstance(f, _moved.MovedModuleFinder) for f in sys.meta_path]
    assert sum(finders) == 1
