"""Study of face images."""
