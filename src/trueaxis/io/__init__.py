"""Tables in files of all formats: read, analyzed columns chosen, and written."""

from trueaxis._columns import Column, TableError
from trueaxis.io.choice import Choice
from trueaxis.io.table import Table, read_table

__all__ = ["Choice", "Column", "Table", "TableError", "read_table"]
