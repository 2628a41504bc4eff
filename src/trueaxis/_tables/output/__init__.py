"""Where tables are written to, and rows of files as they stand there."""
