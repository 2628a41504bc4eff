"""Which rows to trim, and which to call outliers."""
