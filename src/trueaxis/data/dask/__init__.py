"""Rows of Dask collections, processed by Dask workers."""
