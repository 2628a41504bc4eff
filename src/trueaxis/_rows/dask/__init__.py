"""Rows of Dask collections, read by its workers."""
