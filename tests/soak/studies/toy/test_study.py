"""The toy study as a whole."""

import numpy as np
import pytest

from studies.methods import NAMES
from studies.study import run
from studies.toy.study import KINDS, WEIGHTED, ToyStudy


@pytest.mark.slow
def test_toy_study_from_end_to_end(tmp_path):
    study = ToyStudy.quick()
    results = run(study, tmp_path)
    assert len(results.rows) == len(KINDS) * study.n_seeds * len(NAMES)
    assert np.isfinite(results.column("angle")).all()
    first = results.outcomes["both", "000"].arrays
    assert first["weights"].shape == (len(WEIGHTED), 210)
    np.testing.assert_allclose(first["weights"].sum(axis=1), 1)
    figures = study.figures(results, tmp_path)
    assert [path.stem for path in figures] == [
        "toy-directions",
        "toy-weights",
        "toy-heat",
    ]
    assert all(path.stat().st_size > 10_000 for path in figures)
    text = study.section(results)
    assert all(name in text for name in NAMES)
    assert "nan" not in text
