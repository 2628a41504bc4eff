"""Run the command line with `python -m trueaxis`, also where no script is installed."""

from trueaxis._cli.main import main

main(prog_name="trueaxis")
