"""How the command line gets along with its process: streams, signals, exit codes."""
