"""The study of the paper's toy data."""
