"""Starts of a fit: the sample of rows, random directions, first subspaces."""
