"""Reading and writing tables: CSV, TSV, Parquet, .npy and .npz files."""
