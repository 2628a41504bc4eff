"""Decompositions into a low-rank and a sparse matrix."""
