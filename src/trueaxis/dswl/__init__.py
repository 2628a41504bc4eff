"""DSWL, the method of the paper: the stages of its fit, and the estimator."""
