"""The engine: kernels, rules, solve, starts, and the one loop that drives them."""
