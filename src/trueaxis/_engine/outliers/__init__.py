"""Cut-offs for trimming rows and for flagging outliers."""
