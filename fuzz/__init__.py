"""Throw generated tables, files and commands at the package, and check what must hold.

A case is a function of one integer, its seed. `cases` draws what it does, `tables`,
`parameters`, `files` and `commands` draw what it does it with, `properties` says what
must hold, and `runner` runs many cases in worker processes that it watches::

    python -m fuzz --seed 0 --cases 5000
    python -m fuzz --seed 1234 --cases 1     # replays one case, with its traceback
"""
