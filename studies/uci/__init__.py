"""Study of the UCI data sets."""
