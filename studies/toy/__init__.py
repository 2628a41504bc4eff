"""Study of the paper's toy data."""
