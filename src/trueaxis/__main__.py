"""Run the command line with `python -m trueaxis`, also where no script is installed."""

from trueaxis.cli.start import main

main()
