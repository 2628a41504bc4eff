"""Reproduction of the paper's studies: toy data, UCI data sets, face images."""
