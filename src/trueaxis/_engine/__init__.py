"""Fitting: kernels over rows, weight rules, steps, starts, and the iteration."""
