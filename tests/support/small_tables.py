"""Small tables that tests of diagnostics and plots share."""

import numpy as np
import pandas as pd

from trueaxis.datasets import planted, sensors


def cloud(n=90, **options):
    """A cloud in six columns around a plane, with outliers in random directions."""
    return planted("scatter", n=n, n_features=6, n_components=2, **options)


def small():
    """Sixty rows, six of them outliers."""
    return cloud(60, share=0.1).X


def frame():
    """The sensors as a data frame with labels."""
    table = sensors()
    index = [f"day {i}" for i in range(200)]
    return pd.DataFrame(table.X, columns=table.columns, index=index)


def many_columns():
    """Sixty columns with long names that differ in the middle."""
    X = planted("amp", n=80, n_features=60, share=0.1).X
    names = [f"temperature of the bearing number {i} in hall B" for i in range(60)]
    return pd.DataFrame(X, columns=names)


def far_row():
    """A table with one row a million times farther away than the others."""
    X = small()
    X[3] *= 1e6
    return X


def exact_plane():
    """Rows in a plane, except for one."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 2)) @ rng.standard_normal((2, 5))
    X[0, 0] += 3
    return X


def with_sides(model, X, share=0.2):
    """Let a fitted model take the rows at one end of a diagonal for a cluster."""
    direction = np.sqrt(np.arange(1.0, X.shape[1] + 1))  # no row on the edge
    center, edge = np.quantile(X @ direction, [0.5, 1 - share])
    model._sides = np.array([[*direction, center, edge]])
    model.support_ = model.predict(X) == 1
    return model


def holed():
    """Pumps with holes, outliers, and good rows with up to three wrong cells."""
    X = planted("scatter", n=150, n_features=12, n_components=2, share=0.06).X
    rng = np.random.default_rng(0)
    X[17, [3, 4, 1]] += [9.0, -9.0, 9.0]
    X[30, [0, 8]] += 9.0
    X[rng.choice(130, 12, replace=False), rng.integers(0, 12, 12)] -= 9.0
    X[rng.random(X.shape) < 0.01] = np.nan
    names = ["inlet", "outlet", "pressure", "flow", "power", "vibration"]
    columns = [*names, *(f"{name} 2" for name in names)]
    index = [f"pump {i}" for i in range(len(X))]
    return pd.DataFrame(X, columns=columns, index=index)
