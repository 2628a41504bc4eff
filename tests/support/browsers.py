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


WAIT = 60_000  # ms; a condition, never a pause


@pytest.fixture
def open_page(browser):
    """Open a page; errors of its script, and requests to anywhere, fail the test."""
    contexts, bad = [], []

    def watch(request):
        if not request.url.startswith(("file:", "data:", "blob:")):
            bad.append(request.url)

    def go(path, **options):
        options = {"viewport": {"width": 1280, "height": 900}, **options}
        context = browser.new_context(**options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(WAIT)
        page.on("pageerror", lambda error: bad.append(str(error)))
        page.on("console", lambda m: bad.append(m.text) if m.type == "error" else None)
        page.on("request", watch)
        page.goto(path.as_uri())
        return page

    yield go
    for context in contexts:
        context.close()
    assert bad == []
