"""The fuzzer finds planted faults; `make soak` checks that it finds no others."""

import itertools
import warnings
from pathlib import Path

import numpy as np
import pytest

from fuzz.cases import preload, run_case
from trueaxis import diagnostics
from trueaxis.base import Method

pytestmark = pytest.mark.soak

ROOT = Path(__file__).parent.parent


def kinds_found(folder, kind, cases=60):
    """Yield what cases of a kind find."""
    for seed in range(cases):
        for finding in run_case(seed, folder, [kind]).findings:
            yield finding.kind


def after_fit(change):
    """Return a fit that changes the model, or the world, at its end."""
    store = Method._store

    def changed(self, problem, fit):
        store(self, problem, fit)
        change(self)

    return changed


def nan_component(model):
    model.components_[0, 0] = np.nan


COUNTER = itertools.count()


def other_bits(model):
    model.mean_ = model.mean_ + np.spacing(model.mean_) * next(COUNTER)


def foreign_warning(model):
    warnings.warn("invalid value encountered in divide", RuntimeWarning, stacklevel=1)


def bare_error(model):
    np.zeros(3) + np.zeros(4)


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        (nan_component, "components_ is not finite"),
        (other_bits, "different bits twice"),
        (foreign_warning, "leaked warning"),
        (bare_error, "bare ValueError"),
    ],
)
def test_planted_faults_of_fits_are_found(fault, kind, monkeypatch, tmp_path):
    monkeypatch.setattr(Method, "_store", after_fit(fault))
    assert kind in kinds_found(tmp_path, "fit")


def test_faults_of_diagnostics_and_commands_are_found(monkeypatch, tmp_path):
    def failing(*_, **__):
        raise KeyError("kind")

    monkeypatch.setattr(diagnostics, "diagnose", failing)
    monkeypatch.setattr("trueaxis.cli.commands.fit", failing)
    assert "undocumented KeyError" in kinds_found(tmp_path, "diagnose")
    assert "undocumented KeyError" in kinds_found(tmp_path, "command")


def test_a_case_is_a_function_of_its_seed(tmp_path):
    preload()
    for seed in range(30):
        one, two = (run_case(seed, tmp_path)._replace(seconds=0) for _ in range(2))
        assert one[:5] == two[:5]
