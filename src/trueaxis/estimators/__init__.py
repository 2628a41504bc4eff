"""The estimators, one short file per family."""
