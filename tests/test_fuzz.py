"""The fuzzer: a short run finds nothing, and planted faults are all found."""

import itertools
import os
import sys
import tempfile
import textwrap
import warnings
from pathlib import Path

import numpy as np
import pytest

from fuzz import properties, runner
from fuzz.cases import preload, run_case
from fuzz.properties import PACKAGE, Broken, Refused, attempt, same_bits
from fuzz.runner import Campaign, WorkerEnded
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
KEPT = []


def other_bits(model):
    model.mean_ = model.mean_ + np.spacing(model.mean_) * next(COUNTER)


def foreign_warning(model):
    warnings.warn("invalid value encountered in divide", RuntimeWarning, stacklevel=1)


def leftover(model):
    (Path(tempfile.gettempdir()) / "leftover").touch()


def open_file(model):
    KEPT.append(open(os.devnull))


def global_seed(model):
    np.random.seed(next(COUNTER))  # noqa: NPY002


def bare_error(model):
    np.zeros(3) + np.zeros(4)


def much_memory(model):
    np.ones(30_000_000)


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        (nan_component, "components_ is not finite"),
        (other_bits, "different bits twice"),
        (foreign_warning, "leaked warning"),
        (leftover, "file left on disk"),
        (open_file, "file left open"),
        (global_seed, "numpy.random changed"),
        (bare_error, "bare ValueError"),
        (much_memory, "too much memory"),
    ],
)
def test_planted_faults_of_fits_are_found(fault, kind, monkeypatch, tmp_path):
    monkeypatch.setattr(Method, "_store", after_fit(fault))
    assert kind in kinds_found(tmp_path, "fit")
    while KEPT:
        KEPT.pop().close()


def test_faults_of_diagnostics_and_commands_are_found(monkeypatch, tmp_path):
    def failing(*_, **__):
        raise KeyError("kind")

    monkeypatch.setattr(diagnostics, "diagnose", failing)
    monkeypatch.setattr("trueaxis.cli.commands.fit", failing)
    assert "undocumented KeyError" in kinds_found(tmp_path, "diagnose")
    assert "undocumented KeyError" in kinds_found(tmp_path, "command")


def test_time_is_bounded(monkeypatch, tmp_path):
    bounds = properties.Limits(0.0, 1e12)
    monkeypatch.setattr(properties, "limits", lambda *_: bounds)
    assert "too slow" in kinds_found(tmp_path, "fit", 1)


def raised(code):
    """Return what `attempt` says about an exception of the package's own code."""
    source = compile(textwrap.dedent(code), f"{PACKAGE}/planted.py", "exec")
    with pytest.raises((Broken, Refused)) as caught:
        attempt(lambda: exec(source, {"np": np}))
    return caught.value


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("raise ValueError('bad')", "message is no sentence"),
        ("raise ValueError('there is something odd about it')", "without a remedy"),
        ("raise ValueError('x' * 9000)", "message too long"),
        ("raise RuntimeError('X is odd: pass an even one, please.')", "undocumented"),
        ("float('word')", "bare ValueError"),
        ("open(5000)", "OSError without a path"),
    ],
)
def test_exceptions_that_are_no_help_are_found(code, kind):
    assert kind in str(raised(code))


def test_documented_exceptions_are_refusals():
    words = "X has 3 columns, but 4 are needed: pass all of them."
    assert isinstance(raised(f"raise ValueError({words!r})"), Refused)


def test_bits_are_compared_all_the_way_down():
    names = np.array(["a", "b"], dtype=object)
    a = {"x": [np.array([0.0]), (1, "b"), names]}
    same_bits(a, {"x": [np.array([0.0]), (1, "b"), names.copy()]})
    for other in (
        [np.array([-0.0]), (1, "b"), names],
        [np.array([0.0]), (1, "c"), names],
        [np.array([0.0]), (1, "b"), names[::-1]],
    ):
        with pytest.raises(Broken):
            same_bits(a, {"x": other})


def test_a_case_is_a_function_of_its_seed(tmp_path):
    preload()
    for seed in range(30):
        one, two = (run_case(seed, tmp_path)._replace(seconds=0) for _ in range(2))
        assert one[:5] == two[:5]


@pytest.mark.slow
def test_a_short_run_finds_nothing():
    campaign = Campaign(0, 300)
    campaign.run()
    assert not campaign.findings, campaign.summary()
    assert sum(campaign.results.values()) == 300


@pytest.mark.slow
def test_crashes_and_hangs_of_workers_are_found(monkeypatch, tmp_path):
    script = tmp_path / "planted.py"
    script.write_text(
        textwrap.dedent(
            """
            import os, sys, time
            sys.path.insert(0, os.getcwd())
            import fuzz.cases, fuzz.worker
            fuzz.cases.preload = lambda: None

            def run_case(seed, folder, kinds):
                if seed == 1:
                    os.abort()
                if seed == 2:
                    time.sleep(600)
                return fuzz.cases.Outcome(seed, "fit", "passed", 0.0, "", [])

            fuzz.cases.run_case = run_case
            fuzz.worker.main()
            """
        )
    )
    monkeypatch.setattr(runner, "HANG", 1.0)
    campaign = Campaign(0, 4, command=(sys.executable, str(script)))
    campaign.run()
    assert campaign.results == {("fit", "passed"): 2, ("?", "found"): 2}
    text = campaign.summary()
    assert "crashed with -6" in text and "hung for 1 s" in text
    assert "python -m fuzz --seed 1 --cases 1" in text
    assert "in run_case" in text  # where it hung


def test_workers_that_never_start_fail_the_campaign():
    campaign = Campaign(0, 3, 1, command=(sys.executable, "-c", "raise SystemExit(3)"))
    with pytest.raises(WorkerEnded):
        campaign.run()
