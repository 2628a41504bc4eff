"""Run the command line in tests, and read what it writes."""

import csv
import html
import io
import re

from click.testing import CliRunner

from trueaxis.cli.main import main

NASTY = '<b>"x"</b>, [red]\x1b[31m'  # a cell that must stay plain text


def invoke(*arguments, code=0, stdin=None):
    """Run a command that ends with an exit code, None for any; its result."""
    result = CliRunner().invoke(main, [str(a) for a in arguments], input=stdin)
    if isinstance(result.exception, Exception):
        raise result.exception
    assert code in (None, result.exit_code), result.output
    assert "Traceback" not in result.output
    return result


def run(*arguments, code=0, stdin=None):
    """Run a command; its standard output, or its errors if it fails."""
    result = invoke(*arguments, code=code, stdin=stdin)
    return result.stdout if code == 0 else result.stderr


def columns_of(text):
    """Columns of a CSV table by name."""
    rows = list(csv.reader(io.StringIO(text)))
    return {name: [row[i] for row in rows[1:]] for i, name in enumerate(rows[0])}


def code_blocks(page):
    """Command and Python code that a report shows under "How to reproduce this"."""
    text = page.read_text(encoding="utf-8").split('id="repeat-heading"')[1]
    return list(map(html.unescape, re.findall(r"<pre><code>(.*?)</code>", text, re.S)))
