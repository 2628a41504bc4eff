"""Shared numerics: sums of rows, subspaces, weights, iterations and verdicts."""
