"""The data behind one interface: sources of rows, read block by block."""
