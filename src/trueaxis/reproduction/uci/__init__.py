"""The study of the UCI tables."""
