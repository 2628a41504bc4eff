"""The command line: commands read a table, fit or load a model, and print findings.

`main` declares the commands and their options, `commands` runs them, `source` is the
only module that knows how tables are read, `console` prints.
"""
