"""What follows from a fitted subspace: its Gaussian density, and how it is shown."""
