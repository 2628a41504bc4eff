"""RUN: `python -m trueaxis` is the command line, also where no script is installed."""

from trueaxis.cli import main

main(prog_name="trueaxis")
