"""Turn the text of a table into cells and numbers."""
