"""Weight formulas: from distances of rows to their log-weights."""
