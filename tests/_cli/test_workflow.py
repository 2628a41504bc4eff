"""Steps after a table is read: hints, and what is kept if a step fails."""

import numpy as np
import pytest
from command_line import run
from sklearn.pipeline import make_pipeline

from trueaxis import DSWL, TableEncoder, save
from trueaxis._cli import workflow
from trueaxis._columns import Column
from trueaxis.estimators.encoder.logs import columns_to_log
from trueaxis.io import Table


def table(**columns):
    frame = tuple(Column(name, "number", x) for name, x in columns.items())
    X = np.column_stack([*columns.values()])
    return Table(X, tuple(columns), frame=frame)


@pytest.mark.parametrize("seed", range(3))
def test_a_sample_leaves_out_no_column_that_is_skewed(seed, monkeypatch):
    monkeypatch.setattr(workflow, "SAMPLE_ROWS", 1 << 13)
    rng = np.random.default_rng(seed)
    z = rng.standard_normal((1 << 15, 8))
    given = table(
        normal=z[:, 0],
        positive=50 + z[:, 1],
        lognormal=np.exp(z[:, 2]),
        slightly=np.exp(0.36 * z[:, 3]),
        hardly=np.exp(0.3 * z[:, 4]),
        counts=rng.poisson(1.5, len(z)) + 1.0,
        holes=np.where(z[:, 5] > 2, np.nan, np.exp(z[:, 6])),
        mixed=np.where(z[:, 7] > 1, np.exp(z[:, 6]), 3.0 + z[:, 0] / 9),
    )
    kept = [column.name for column in workflow._perhaps_skewed(given)]
    assert "normal" not in kept and "positive" not in kept
    assert {*columns_to_log(given.frame)} <= {*kept}
    few = table(**{column.name: column.values[:100] for column in given.frame})
    assert len(workflow._perhaps_skewed(few)) == 8


def test_a_model_is_saved_before_its_table_is_analyzed(pump, tmp_path, monkeypatch):
    def fail(*arguments, **options):
        raise ValueError("no room for the diagnosis")

    monkeypatch.setattr(workflow, "analyse", fail)
    model, clean = tmp_path / "model.npz", tmp_path / "clean.csv"
    message = run("fit", pump, "-k", 2, "-o", model, code=1)
    assert "no room" in message and model.exists()
    model.unlink()
    # Files that belong together appear together, or not at all.
    run("fit", pump, "-k", 2, "-o", model, "--clean", clean, code=1)
    assert not model.exists() and not clean.exists()


@pytest.mark.filterwarnings("ignore:X has feature names")
def test_models_behind_an_encoder_without_names_judge_by_position(tmp_path):
    X = np.random.default_rng(0).standard_normal((40, 4))
    model, rows = tmp_path / "model.npz", tmp_path / "rows.npy"
    save(make_pipeline(TableEncoder(), DSWL(2)).fit(X), model)
    np.save(rows, X)
    assert len(run("score", model, rows).splitlines()) == 41
    np.save(rows, X[:, :3])
    assert "4 features" in run("score", model, rows, code=1)
