"""The engine of DSWL."""
