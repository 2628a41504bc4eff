"""Show all figures of quality after the tests, also those that hold."""

import pytest

LINES = pytest.StashKey[list]()


@pytest.fixture
def quality_lines(request):
    """Lines to show at the end; xdist's workers have no terminal and show none."""
    return request.config.stash.setdefault(LINES, [])


def pytest_terminal_summary(terminalreporter, config):
    if config.stash.get(LINES, []):
        terminalreporter.section("quality")
        for line in config.stash[LINES]:
            terminalreporter.write_line(line)
