"""RUN: `python -m trueaxis` is the command line, where its script is not on the path."""

from trueaxis.cli import main

main(prog_name="trueaxis")
