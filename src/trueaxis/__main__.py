"""Run the command line with `python -m trueaxis`, also where no script is installed."""

from trueaxis._cli.process.start import main

main()
