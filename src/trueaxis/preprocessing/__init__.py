"""From tables to comparable numbers: the scaler and the encoder of columns."""
