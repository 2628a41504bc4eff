"""RUN: `python -m trueaxis` is the command line, also where no script is installed."""

from trueaxis._cli.main import main

main(prog_name="trueaxis")
