"""Cases with long or wide tables, whose cost must grow as documented."""

from __future__ import annotations

import numpy as np
from click.testing import CliRunner

import trueaxis
from fuzz.commands import check_streams
from fuzz.properties import Watch, attempt, check_model, expect
from fuzz.tables import Rng, often, pick
from trueaxis import diagnostics
from trueaxis.cli.main import main

CELLS = 300_000
QUICK = ["dswl", "dswl", "dswl", "pca", "pca-l1", "r1-pca", "l21-max", "rpca-om"]


def fit(rng: Rng, watch: Watch) -> str:
    """Fit a long or a wide table, from Python or by a command."""
    D = int(10 ** rng.uniform(0.5, 4.3))
    n = max(4, CELLS // D)
    X = rng.standard_normal((n, 3)) @ rng.standard_normal((3, D))
    X += 0.1 * rng.standard_normal((n, D))
    X[0] *= 100
    watch.allow(n, D, 3)
    if often(rng, 0.4):
        return _command(rng, watch, X)
    name = pick(rng, QUICK)
    watch.story = story = f"{name} on {n} x {D}"
    model = trueaxis.methods.METHODS[name](2)
    attempt(lambda: model.fit(X))
    check_model(model, n, D)
    expect(len(attempt(lambda: model.predict(X))) == n, "shape of predict")
    attempt(lambda: diagnostics.diagnose(model, X))
    return story


def _command(rng: Rng, watch: Watch, X: np.ndarray) -> str:
    data, model = watch.given / "rows.npy", watch.out / "model.npz"
    np.save(data, X)
    watch.wrote.update([model, watch.out / "scores.csv"])
    watch.story = story = f"commands on {X.shape}"
    fitted = ["fit", str(data), "-k", "2", "-o", str(model)]
    scored = ["score", str(model), str(data), "-o", str(watch.out / "scores.csv")]
    for arguments in (fitted, scored):
        result = CliRunner().invoke(main, arguments)
        check_streams(result.exit_code, result.stdout, result.stderr, False)
        expect(result.exit_code == 0, "a large table is refused", result.stderr[-300:])
    return story
