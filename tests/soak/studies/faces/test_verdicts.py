"""Verdicts on the claims about faces."""

import numpy as np
import pytest

from studies.faces import methods as faces_methods
from studies.faces import verdicts


def measured(**errors):
    """Measurements of three folds at k = 100: error 100 times what is given."""
    base = dict.fromkeys(faces_methods.TITLES, 1.1) | {"oracle": 1.0} | errors
    rows = []
    for method, level in base.items():
        for fold in range(3):
            error = 100 * np.broadcast_to(level, 3)[fold] + fold
            rows.append(
                {
                    "set": "orl",
                    "method": method,
                    "fold": fold,
                    "k": 100,
                    "error": error,
                    "psnr": 60 - 20 * np.log10(error),
                }
            )
    return verdicts.FaceMeasurements(rows)


def test_lowest_error_flips_with_the_errors():
    def verdict(**errors):
        data = measured(**errors)
        return verdicts.lowest(data, "orl", "dswl", faces_methods.RIVALS)

    good = verdict(dswl=1.01)
    assert good.verdict == verdicts.HOLDS and "nearest" in good.why
    bad = verdict(**{"dswl": 1.01, "rpca-di": 0.9})
    assert bad.verdict == verdicts.FAILS
    assert "RPCA-DI by " in bad.why and "at k = 100, beyond chance" in bad.why
    assert verdicts.refuted(bad).verdict == verdicts.HOLDS
    assert verdicts.refuted(good).verdict == verdicts.FAILS
    doubtful = verdict(**{"dswl": 1.01, "rpca-di": (0.8, 1.12, 1.08)})
    assert doubtful.verdict == verdicts.OPEN and "within chance" in doubtful.why


def test_verdicts_on_weights_flip_with_the_weights():
    bad = np.array([False] * 8 + [True] * 2)
    good, wrong = np.where(bad, 1e-3, 1.0), np.where(bad, 2.0, 1.0)
    assert verdicts.discriminates(good, bad).verdict == verdicts.HOLDS
    assert verdicts.discriminates(wrong, bad).verdict == verdicts.FAILS
    assert verdicts.prefers_occluded(good, bad).verdict == verdicts.FAILS
    assert verdicts.prefers_occluded(wrong, bad).verdict == verdicts.HOLDS
    assert verdicts.decades(good, bad) == pytest.approx(3)
    assert verdicts.ordered(np.ones(10), bad) == 0.5
    assert verdicts.wider_gap(good, wrong, bad).verdict == verdicts.HOLDS
    assert verdicts.wider_gap(wrong, good, bad).verdict == verdicts.FAILS
