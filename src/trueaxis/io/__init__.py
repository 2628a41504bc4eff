"""Tables in files of all formats: read, analyzed columns chosen, and written."""

from trueaxis.io.choice import Choice
from trueaxis.io.table import Table, TableError, read_table

__all__ = ["Choice", "Table", "TableError", "read_table"]
