"""What prepares the columns of a table: the scaler and the encoder."""
