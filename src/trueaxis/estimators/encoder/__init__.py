"""From the columns of a table to numbers that a method can be fitted to."""

from trueaxis.estimators.encoder.table_encoder import TableEncoder

__all__ = ["TableEncoder"]
