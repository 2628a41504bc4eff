"""The study of face images."""
