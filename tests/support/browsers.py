"""A real browser for the tests of reports."""

import os
import shutil

import pytest

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
QUIET = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]


def missing(what):
    """Skip the test, but not where everything must be installed."""
    if os.environ.get("CI") == "true":
        pytest.fail(f"{what} is not installed, which CI must have")
    pytest.skip(f"{what} is not installed")


@pytest.fixture(scope="session")
def browser():
    """The Chromium of this machine, without a window."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        missing("playwright")
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    if program is None:
        missing("chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=QUIET)
        yield browser
        browser.close()
