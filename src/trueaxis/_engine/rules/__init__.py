"""Weight formulas."""
