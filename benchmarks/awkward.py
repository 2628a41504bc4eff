"""Generate realistic tables for tests and benchmarks: skewed, discrete, mixed.

Only the tables of `shifted` have outliers. `TABLES` are the kinds that rules were built
with; those in `FRESH` came later, to check them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

Table = NDArray[np.float64]
Maker = Callable[[np.random.Generator], Table]


def one_hot(
    rng: np.random.Generator, n: int, levels: int, p: Sequence[float] | None = None
) -> Table:
    """Draw categories, one column per level."""
    return np.eye(levels)[rng.choice(levels, size=n, p=p)]


def correlated(rng: np.random.Generator, n: int, D: int) -> Table:
    """Draw normal columns with random correlations."""
    X: Table = rng.standard_normal((n, D)) @ rng.standard_normal((D, D)) / np.sqrt(D)
    return X


def factors(rng: np.random.Generator, n: int, D: int) -> Table:
    """Draw columns that depend on two factors, with a little noise."""
    mixing = rng.standard_normal((2, D))
    return rng.standard_normal((n, 2)) @ mixing + 0.2 * rng.standard_normal((n, D))


def half_zeros(rng: np.random.Generator, n: int, D: int) -> Table:
    """Draw lognormal columns in which half of the cells are 0."""
    return np.where(rng.random((n, D)) < 0.5, 0.0, rng.lognormal(0, 0.7, (n, D)))


def mostly_one_row(rng: np.random.Generator, n: int, D: int) -> Table:
    """Draw normal rows, 60 % of which are copies of the first."""
    X = rng.standard_normal((n, D))
    X[rng.permutation(n)[: int(0.6 * n)]] = X[0]
    return X


def mixed(rng: np.random.Generator, n: int) -> Table:
    """Draw normal, lognormal, count, one-hot and half-zero columns in one table."""
    return np.hstack(
        [
            correlated(rng, n, 4),
            np.exp(correlated(rng, n, 3)),
            rng.poisson(1.5, (n, 2)),
            one_hot(rng, n, 3, [0.6, 0.25, 0.15]),
            half_zeros(rng, n, 2),
        ]
    )


def heavy(rng: np.random.Generator, n: int, D: int, df: float) -> Table:
    """Draw rows from a multivariate t distribution with random correlations."""
    return correlated(rng, n, D) * np.sqrt(df / rng.chisquare(df, (n, 1)))


def answers(rng: np.random.Generator, n: int, D: int) -> Table:
    """Draw answers from 1 to 5 that depend on two factors."""
    noisy = factors(rng, n, D) + 0.5 * rng.standard_normal((n, D))
    X: Table = np.digitize(noisy / noisy.std(axis=0), [-1.5, -0.5, 0.5, 1.5]) + 1.0
    return X


def series(rng: np.random.Generator, n: int, D: int, memory: float = 0.9) -> Table:
    """Draw autoregressive series, one per column, so that neighboring rows agree."""
    X = correlated(rng, n, D)
    for i in range(1, n):
        X[i] = memory * X[i - 1] + np.sqrt(1 - memory**2) * X[i]
    return X


def people(rng: np.random.Generator, n: int) -> Table:
    """Draw sex, age, height, weight, income and number of children."""
    man = rng.integers(0, 2, n)
    age = rng.integers(18, 80, n)
    height = 164 + 13 * man + 6.5 * rng.standard_normal(n)
    weight = (height / 100) ** 2 * rng.lognormal(3.2, 0.16, n)
    income = rng.lognormal(3.4, 0.5, n)
    children = rng.poisson(1.4, n)
    X: Table = np.column_stack([man, age, height, weight, income, children])
    X /= X.std(axis=0)
    return X


def growing_noise(rng: np.random.Generator, n: int, D: int) -> Table:
    """Draw columns proportional to one factor, with noise that grows with it."""
    size = rng.uniform(1, 5, (n, 1))
    return size * (rng.uniform(0.5, 2, D) + 0.1 * rng.standard_normal((n, D)))


def shifted(
    n: int, D: int, factors: int, seed: int, share: float = 0.2, rows_seed: int = 0
) -> tuple[Table, NDArray[np.bool_]]:
    """Draw rows from several factors and noise, and shift a share of them.

    The shift is as long as a typical row. The axes depend only on `seed`. Return the
    rows, and a mask of the shifted ones.
    """
    rng = np.random.default_rng(seed)
    spread = np.linspace(3, 1.5, factors)
    axes = np.linalg.qr(rng.standard_normal((D, factors + 1)))[0].T
    rng = np.random.default_rng([seed, rows_seed])
    X = (rng.standard_normal((n, factors)) * spread) @ axes[:factors]
    X += 0.3 * rng.standard_normal((n, D))
    bad = np.arange(n) < share * n
    X[bad] += np.sqrt((spread**2).sum() + 0.09 * D) * axes[factors]
    return X, bad


# Functions of a random generator, by name.
TABLES: dict[str, Maker] = {
    "lognormal, sigma 0.5": lambda r: np.exp(0.5 * correlated(r, 400, 8)),
    "lognormal, sigma 1": lambda r: r.lognormal(0, 1, (400, 8)),
    "lognormal, two factors": lambda r: np.exp(factors(r, 400, 5)),
    "exponential": lambda r: r.exponential(size=(300, 6)),
    "counts, mean 0.3": lambda r: r.poisson(0.3, (500, 8)).astype(float),
    "counts, mean 3": lambda r: r.poisson(3, (300, 6)).astype(float),
    "one-hot, 3 x 4 equal levels": lambda r: np.hstack(
        [one_hot(r, 400, 4) for _ in range(3)]
    ),
    "one-hot, unequal levels": lambda r: np.hstack(
        [
            one_hot(r, 400, 3, [0.7, 0.2, 0.1]),
            one_hot(r, 400, 4, [0.5, 0.3, 0.15, 0.05]),
        ]
    ),
    "one-hot and Gaussian": lambda r: np.hstack(
        [one_hot(r, 300, 3, [0.6, 0.25, 0.15]), correlated(r, 300, 5)]
    ),
    "half zeros": lambda r: half_zeros(r, 400, 8),
    "60 % of the rows identical": lambda r: mostly_one_row(r, 300, 5),
    "0/1 columns": lambda r: (r.random((300, 8)) < 0.3).astype(float),
    "answers 1 to 5": lambda r: r.integers(1, 6, (200, 6)).astype(float),
    "scales 1e-3 to 1e3": lambda r: correlated(r, 300, 7) * np.logspace(-3, 3, 7),
    "t with 3 df": lambda r: r.standard_t(3, (400, 6)),
    "mixed": lambda r: mixed(r, 500),
    "small, 100 x 2, lognormal": lambda r: r.lognormal(0, 0.8, (100, 2)),
}

# Kinds that no rule was built with: check with them, and do not tune to them.
FRESH: dict[str, Maker] = {
    "binomial, 10 trials": lambda r: r.binomial(10, 0.3, (300, 6)).astype(float),
    "answers 1 to 5, two factors": lambda r: answers(r, 250, 8),
    "rounded to one digit": lambda r: np.round(correlated(r, 300, 5), 1),
    "rounded to integers": lambda r: np.round(2 * factors(r, 200, 6)),
    "rare 0/1 column beside Gaussian": lambda r: np.hstack(
        [correlated(r, 300, 5), r.random((300, 1)) < 0.04]
    ),
    "counts, overdispersed": lambda r: r.negative_binomial(2, 0.3, (300, 6)).astype(
        float
    ),
    "multivariate t with 4 df": lambda r: heavy(r, 400, 8, 4.0),
    "gamma, shape 2": lambda r: r.gamma(2.0, size=(300, 6)),
    "uniform": lambda r: r.random((300, 6)),
    "Laplace": lambda r: r.laplace(size=(300, 6)),
    "Weibull, shape 0.8": lambda r: r.weibull(0.8, (300, 5)),
    "shares of a whole": lambda r: r.dirichlet([8, 5, 3, 2, 1], 300),
    "autoregressive series": lambda r: series(r, 300, 6),
    "people": lambda r: people(r, 300),
    "noise grows with size": lambda r: growing_noise(r, 200, 6),
    "Gaussian, wide, 60 x 150": lambda r: factors(r, 60, 150),
    "Gaussian, small, 30 x 4": lambda r: correlated(r, 30, 4),
    "Gaussian, small, 60 x 8": lambda r: correlated(r, 60, 8),
    "lognormal, small, 40 x 4": lambda r: np.exp(0.5 * correlated(r, 40, 4)),
    "counts, small, 50 x 5": lambda r: r.poisson(2, (50, 5)).astype(float),
}
