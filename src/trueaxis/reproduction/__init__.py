"""The paper's studies, repeated: toy data, UCI tables, face images."""
