"""Cases that call the package from Python: methods, pipelines, diagnostics, reports."""

from __future__ import annotations

import copy
import pickle
from contextlib import suppress
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

import trueaxis
from fuzz.parameters import draw_parameters, draw_weights
from fuzz.properties import (
    Broken,
    Refused,
    Watch,
    attempt,
    check_answers,
    check_model,
    check_rows_alone,
    expect,
    same_bits,
)
from fuzz.tables import Rng, Table, draw_numbers, draw_shape, draw_table, often, pick
from trueaxis import diagnostics, plots

MAIN = 0.3  # share of the cases that DSWL gets


def draw_method(rng: Rng, n: int, D: int) -> Any:
    """Return a method with some parameters, not fitted."""
    name = "dswl" if often(rng, MAIN) else pick(rng, trueaxis.methods.METHODS)
    method = trueaxis.methods.METHODS[name]
    return method(**draw_parameters(rng, method, n, D))


def fit(rng: Rng, watch: Watch) -> str:
    """Fit a method to a table, check the model and its answers; sometimes more."""
    n, D = draw_shape(rng)
    table = draw_table(rng, (n, D), watch.given)
    model = draw_method(rng, n, D)
    weights = draw_weights(rng, n)
    story = f"{model!r} on {table.story}, weights {weights!r:.60}"
    watch.story = story
    again = clone(model) if _can_copy(model) else None
    before = _bytes(table.X)
    _fit(model, table.X, weights)
    expect(_bytes(table.X) == before, "fit changed its input", story)
    check_model(model, n, D)
    check_answers(model, table.X, n, rng)
    expect(_bytes(table.X) == before, "answers changed their input", story)
    labels = model.predict(table.X)
    expect((labels == 1).tolist() == model.support_.tolist(), "support_ is not predict")
    if isinstance(table.X, np.ndarray) and often(rng, 0.5):
        check_rows_alone(model, table.X, rng)
    if again is not None and often(rng, 0.3):
        _fit(again, table.X, weights)
        same_bits(vars(model), vars(again))
    extra = rng.random()
    if extra < 0.15:
        _save_and_load(model, watch, table, rng)
    elif extra < 0.3:
        _new_rows(model, D, rng)
    elif extra < 0.4:
        _failing_refit(model, rng)
    elif extra < 0.5:
        _describe(model, table, rng)
    return story


def _can_copy(model: Any) -> bool:
    """Return whether scikit-learn can clone a model: some hostile values it cannot."""
    with suppress(Exception):
        clone(model)
        return True
    return False


def _fit(model: Any, X: Any, weights: Any) -> None:
    options = {} if weights is None else {"sample_weight": weights}
    attempt(lambda: model.fit(X, **options))


def _bytes(X: Any) -> Any:
    """Return what shows whether a table was changed."""
    if isinstance(X, np.ndarray):
        return X.tobytes() if X.dtype.kind != "O" else repr(X)
    if isinstance(X, (list, tuple)):
        return repr(X)
    return str(X) if hasattr(X, "columns") else None


def _save_and_load(model: Any, watch: Watch, table: Table, rng: Rng) -> None:
    """Check that a saved or pickled model answers with the same bits."""
    if often(rng, 0.3):
        loaded = pickle.loads(pickle.dumps(model))
        same_bits(vars(model), vars(loaded))
    else:
        path = watch.out / "model.npz"
        training = often(rng, 0.7)
        attempt(lambda: trueaxis.save(model, path, training=training))
        watch.wrote.add(path)
        loaded = attempt(lambda: trueaxis.load(path))
    same_bits(model.predict(table.X), loaded.predict(table.X))
    same_bits(model.score_samples(table.X), loaded.score_samples(table.X))


def _new_rows(model: Any, D: int, rng: Rng) -> None:
    """Judge rows of another table, which may be refused."""
    columns = D if often(rng, 0.9) else D + 1
    table = draw_table(rng, (int(rng.integers(1, 20)), columns))
    if np.ndim(table.numbers) == 2:
        check_answers(model, table.X, len(table.numbers), rng)


def _failing_refit(model: Any, rng: Rng) -> None:
    """Check that a fit that fails leaves the old one as it was."""
    before = copy.deepcopy(vars(model))
    bad, _ = draw_numbers(rng, (7, 3))
    bad[2, 1] = np.inf
    try:
        attempt(lambda: model.fit(bad))
    except Refused:
        same_bits(before, vars(model))
    else:
        raise Broken("infinity was accepted", repr(model))


def _describe(model: Any, table: Table, rng: Rng) -> None:
    """Describe a fitted model in words."""
    expect(isinstance(repr(model), str), "repr is no text")
    expect(attempt(lambda: str(model.summary())), "summary is empty")
    attempt(lambda: model.get_feature_names_out())
    attempt(lambda: model._repr_mimebundle_())
    if table.numbers.shape[1] <= 30:
        covariance = attempt(lambda: model.get_covariance())
        expect(np.isfinite(covariance).all(), "covariance is not finite")


# --------------------------------------------------------------------------- pipelines


def scale(rng: Rng, watch: Watch) -> str:
    """Scale the columns of a table, and fit a method behind it."""
    n, D = draw_shape(rng)
    table = draw_table(rng, (n, D), watch.given)
    scaler = trueaxis.ColumnScaler()
    watch.story = story = f"{scaler!r} on {table.story}"
    before = _bytes(table.X)
    attempt(lambda: scaler.fit(table.X))
    expect(np.isfinite(scaler.center_).all(), "center_ is not finite", scaler.center_)
    expect((scaler.unit_ > 0).all(), "unit_ is not positive", scaler.unit_)
    scaled = attempt(lambda: scaler.transform(table.X))
    if isinstance(scaled, np.ndarray):
        expect(not np.isinf(scaled).any(), "scaled to infinity", scaled)
        back = attempt(lambda: scaler.inverse_transform(scaled))
        expect(back.shape == (n, D), "shape of inverse_transform", back.shape)
    expect(_bytes(table.X) == before, "the scaler changed its input", story)
    if often(rng, 0.6):
        pipeline = make_pipeline(clone(scaler), draw_method(rng, n, D))
        watch.story = story = f"{pipeline!r} on {table.story}"
        attempt(lambda: pipeline.fit(table.X))
        check_model(pipeline[-1], n, D)
        labels = attempt(lambda: pipeline.predict(table.X))
        expect((labels > 0).tolist() == pipeline[-1].support_.tolist(),
               "support_ is not predict")  # fmt: skip
    return story


def encode(rng: Rng, watch: Watch) -> str:
    """Encode a table with columns of several kinds, and fit DSWL behind it."""
    table = draw_mixed(rng) if often(rng, 0.7) else draw_table(rng)
    choices = {
        "columns": [["a*"], ["a:b"], ["b", "a"], [], ["nothing"], 3, "a"],
        "drop": [["b"], ["?"], ["zz"], "b"],
        "categories": [True, True, True, ["c"], ["c"], ["a"], ["zz"], 1],
        "log": [["a"], ["a"], ["c"], ["zz"], "x"],
        "scale": ["none", "robust", "auto", "x", None],
    }
    options = {name: pick(rng, values) for name, values in choices.items()
               if often(rng, 0.25)}  # fmt: skip
    encoder = trueaxis.TableEncoder(**options)
    watch.story = story = f"{encoder!r} on {table.story}"
    encoded = attempt(lambda: encoder.fit(table.X).transform(table.X))
    expect(not np.isinf(encoded).any(), "encoded to infinity", encoded)
    names = attempt(lambda: encoder.get_feature_names_out())
    expect(len(names) == encoded.shape[1], "names of encoded columns", names)
    same_bits(encoded, encoder.transform(table.X))
    if often(rng, 0.4):
        pipeline = make_pipeline(clone(encoder), trueaxis.DSWL(1))
        attempt(lambda: pipeline.fit(table.X))
        attempt(lambda: pipeline.predict(table.X))
        if often(rng, 0.5):
            _save_and_load(pipeline, watch, table, rng)
    return story


def draw_mixed(rng: Rng) -> Table:
    """Return a frame with numbers, words, dates, counts and holes."""
    import pandas as pd

    n = int(rng.integers(1, 60))
    numbers, story = draw_numbers(rng, (n, 2))
    frame = pd.DataFrame(numbers, columns=["a", "b"])
    words = ["north", "south", "", "=1", None, "x" * 300]
    frame["c"] = [pick(rng, words) for _ in range(n)]
    frame["d"] = pd.Timestamp("2026-01-01") + pd.to_timedelta(np.arange(n), "D")
    frame["e"] = np.arange(n)
    frame["f"] = pick(rng, [1, 1.5, True, None, "word"])
    frame = frame[list(rng.permutation(list("abcdef")))]
    if often(rng, 0.3):
        frame["c"] = frame["c"].astype("category")
    if often(rng, 0.2):
        import polars

        with suppress(Exception):  # what polars does not take is no case
            return Table(polars.from_pandas(frame), numbers, f"polars, {story}")
    return Table(frame, numbers, f"mixed columns, {story}")


# ------------------------------------------------------------------------- diagnostics


def _small_model(rng: Rng, watch: Watch) -> tuple[Any, Any, str]:
    """Return a fitted method or pipeline and its table."""
    n, D = int(rng.integers(3, 60)), int(rng.integers(1, 8))
    X, story = draw_numbers(rng, (n, D))
    model = draw_method(rng, n, D)
    if often(rng, 0.3):
        model = make_pipeline(trueaxis.ColumnScaler(), model)
    watch.story = f"{model!r} on {story}"
    attempt(lambda: model.fit(X))
    if often(rng, 0.3):
        import pandas as pd

        return model, pd.DataFrame(X, index=[f"r{i}" for i in range(n)]), watch.story
    return model, X, watch.story


def diagnose(rng: Rng, watch: Watch) -> str:
    """Run diagnostics of a fitted model."""
    model, X, story = _small_model(rng, watch)
    n = len(X)
    found = attempt(lambda: diagnostics.diagnose(model, X))
    expect(len(found.flagged) == n, "diagnose has another number of rows")
    p = attempt(lambda: found.p_value)
    expect(((p >= 0) & (p <= 1)).all(), "p-values outside [0, 1]", p)
    calls = [
        lambda: diagnostics.outlier_table(model, X, everything=True),
        lambda: diagnostics.outlier_table(model, X, fdr=pick(rng, [0.1, 0, 2, "x"])),
        lambda: diagnostics.explain(
            model, X, pick(rng, [None, [0], [-1], [n], [], "x"])
        ),
        lambda: diagnostics.effect(model, X),
        lambda: diagnostics.summary(model),
        lambda: diagnostics.cell_map(model, X),
        lambda: diagnostics.cell_table(model, X, missing=True),
    ]
    for call in rng.permutation(len(calls))[:3]:
        with suppress(Refused):  # some are for DSWL alone
            attempt(calls[call])
    if often(rng, 0.03):
        attempt(lambda: diagnostics.compare(np.asarray(X), ["dswl", "pca", "l1-pca"]))
    return story


def draw(rng: Rng, watch: Watch) -> str:
    """Draw a display of a fitted model."""
    from matplotlib import pyplot

    model, X, story = _small_model(rng, watch)
    name = pick(rng, plots.__all__)
    watch.story = story = f"{name} of {story}"
    try:
        attempt(lambda: getattr(plots, name).from_estimator(model, X))
        pyplot.gcf().canvas.draw()
    finally:
        pyplot.close("all")
    return story


def report(rng: Rng, watch: Watch) -> str:
    """Write a report on a fitted model."""
    from trueaxis.report import write_report

    model, X, story = _small_model(rng, watch)
    path = watch.out / "report.html"
    names = [f"<script>{i}" for i in range(len(X))]
    ids = pick(rng, [None, names, list(range(len(X) + 1))])
    attempt(lambda: write_report(model, X, path, ids=ids))
    watch.wrote.add(path)
    page = path.read_text(encoding="utf-8")
    expect("<script>0" not in page, "a name became a script")
    return story
