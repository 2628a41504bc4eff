"""The paper's studies, repeated: toy data, UCI data sets, face images."""
