"""A pytest plugin for environments that lack packages on purpose.

`--may-lack NAMES` names top-level modules, or is `any`. A test is then skipped instead
of failing if it imports such a module, itself or by the fuzzer, or, with `any`, if
trueaxis asked for an extra. An import that fails inside of trueaxis without saying
which extra helps stays a failure.
"""

from __future__ import annotations

import re
import traceback
from pathlib import Path

import pytest

REQUEST = re.compile(r"pip\s+install\s+'trueaxis\[(\w+)\]'")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option."""
    parser.addoption("--may-lack", default="", help="modules that tests may lack")


def may_lack(name: str, config: pytest.Config) -> bool:
    """Return whether a module may be missing."""
    names = config.getoption("--may-lack").split(",")
    return names == ["any"] or name.partition(".")[0] in names


def is_in_tests(path: str | Path, config: pytest.Config) -> bool:
    """Return whether a file is one of the tests, or of the fuzzer."""
    folders = (config.rootpath / name for name in ("tests", "fuzz"))
    return any((config.rootpath / path).is_relative_to(folder) for folder in folders)


def lacked_by_test(error: BaseException, config: pytest.Config) -> str | None:
    """Return the module that an error is about, if a test imported it."""
    if not isinstance(error, ModuleNotFoundError) or error.name is None:
        return None
    frames = traceback.extract_tb(error.__traceback__)
    files = [f.filename for f in frames if not f.filename.startswith("<frozen")]
    if may_lack(error.name, config) and is_in_tests(files[-1], config):
        return error.name
    return None


def reason(error: BaseException, config: pytest.Config) -> str | None:
    """Return why an error only means that a package is not there, or None."""
    if name := lacked_by_test(error, config):
        return f"the test needs {name}"
    all_may_lack = config.getoption("--may-lack") == "any"
    if all_may_lack and (request := REQUEST.search(str(error))):
        return f"trueaxis asks for the extra {request[1]}"
    return None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo):
    """Skip a test that needs what is not there."""
    report = yield
    if report.failed and item.config.getoption("--may-lack"):
        if why := reason(call.excinfo.value, item.config):
            report.outcome = "skipped"
            report.longrepr = (str(item.path), item.reportinfo()[1] or 0, why)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: pytest.Collector):
    """Skip a file of tests that imports what is not there.

    Pytest passes on the text of such an error only.
    """
    report = yield
    missing = re.search(r"No module named '([\w.]+)'", report.longreprtext)
    if report.failed and missing and may_lack(missing[1], collector.config):
        places = re.findall(r"^(\S+):\d+: in ", report.longreprtext, re.M)
        if places and is_in_tests(places[-1], collector.config):
            report.outcome = "skipped"
            report.longrepr = (str(collector.path), 0, f"the file needs {missing[1]}")
    return report
