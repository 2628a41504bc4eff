"""Low rank plus sparse."""
