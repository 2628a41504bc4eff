"""The command line: commands read a table, fit or load a model, and print findings.

`start` is what runs first, `main` declares the commands, `source` is the only module
that knows how tables are read and written.
"""
