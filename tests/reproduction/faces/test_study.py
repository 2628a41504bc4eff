"""The study on faces: its parts against brute force, and whole on invented images."""

import os

import numpy as np
import pytest

from trueaxis.datasets import FACES
from trueaxis.estimators import METHODS
from trueaxis.reproduction.faces import measures as measures
from trueaxis.reproduction.faces import methods as faces_methods
from trueaxis.reproduction.faces import study as faces
from trueaxis.reproduction.faces import verdicts as verdicts
from trueaxis.reproduction.faces.printed import gain
from trueaxis.reproduction.faces.study import FacesStudy
from trueaxis.reproduction.study import run


def invented(n=150, side=16, seed=0):
    """Smooth images from 0 to 255: random waves, a little noise."""
    rng = np.random.default_rng(seed)
    x = np.linspace(0, np.pi, side)
    waves = np.cos(np.outer(np.arange(6), x))
    sizes = rng.standard_normal((n, 6, 6)) / (1 + np.add.outer(range(6), range(6)))
    images = np.einsum("nab,ai,bj->nij", sizes, waves, waves)
    images += 0.05 * rng.standard_normal(images.shape)
    low, high = images.min(), images.max()
    return np.round(255 * (images - low) / (high - low))


@pytest.fixture
def made_up(monkeypatch):
    def pictures(name, data_home=None):
        return invented(seed=FACES.index(name))

    monkeypatch.setattr(faces, "pictures", pictures)
    monkeypatch.setattr(faces_methods, "pictures", pictures)
    faces_methods.chosen_heat.cache_clear()
    yield
    faces_methods.chosen_heat.cache_clear()


# ---------------------------------------------------------------- folds


def test_folds_partition_the_images_and_depend_on_the_seed():
    parts = measures.parts(165, 10, 0, "yale")
    assert sorted(np.concatenate(parts)) == list(range(165))
    assert {len(part) for part in parts} == {16, 17}
    assert not np.array_equal(parts[0], measures.parts(165, 10, 1, "yale")[0])
    assert not np.array_equal(parts[0], measures.parts(165, 10, 0, "orl")[0])


def test_only_training_images_are_occluded():
    images = invented(100)
    whole = {image.tobytes() for image in images.reshape(100, -1)}
    for number in (0, 3):
        options = {"folds": 10, "seed": 0, "share": 0.2}
        fold = measures.fold_of(images, "orl", number, **options)
        assert len(fold.test) == 10 and len(fold.train) == 90
        assert fold.occluded.sum() == 18
        assert all(row.tobytes() in whole for row in fold.test)
        changed = (fold.train != fold.intact).any(axis=1)
        np.testing.assert_array_equal(changed, fold.occluded)
        # The same again, whoever asks.
        again = measures.fold_of(images, "orl", number, **options)
        np.testing.assert_array_equal(fold.train, again.train)


def test_the_number_of_components_leaves_the_oracle_enough_images():
    images = invented(165)
    fewest = measures.fewest_clean(165, 10, 0.2)
    for number in range(10):
        fold = measures.fold_of(images, "yale", number, folds=10, seed=0, share=0.2)
        assert (~fold.occluded).sum() >= fewest
    assert fewest == 118


def test_the_study_of_yale_ends_at_110_components(monkeypatch):
    monkeypatch.setattr(faces, "pictures", lambda *_: np.zeros((165, 2, 2)))
    assert FacesStudy().ks_of("yale") == tuple(range(10, 111, 10))


# ---------------------------------------------------------------- measures


def test_error_and_psnr_are_those_of_the_paper():
    rng = np.random.default_rng(0)
    rows, mean = rng.uniform(0, 255, (5, 9)), rng.uniform(0, 255, 9)
    P = np.linalg.qr(rng.standard_normal((9, 3)))[0]
    shown = measures.rebuilt(rows, mean, P.T)
    lengths, ratios = [], []
    for x in rows:
        off = (np.eye(9) - P @ P.T) @ (x - mean)
        lengths.append(np.sqrt(sum(off**2)))
        ratios.append(20 * np.log10(255 / np.sqrt(sum(off**2) / 9)))
    assert measures.mean_error(rows, shown) == pytest.approx(np.mean(lengths))
    np.testing.assert_allclose(measures.psnr(rows, shown), ratios)


@pytest.mark.parametrize("method", ["pca", "pca-l1"])
def test_one_fit_serves_every_smaller_number_of_components(method):
    options = {"folds": 10, "seed": 0, "share": 0.2}
    fold = measures.fold_of(invented(), "orl", 0, **options)
    large = faces_methods.build(method, 60).fit(fold.train)
    for k in (1, 7, 30):
        small = faces_methods.build(method, k).fit(fold.train)
        ours = measures.rebuilt(fold.test, large.mean_, large.components_[:k])
        theirs = measures.rebuilt(fold.test, small.mean_, small.components_)
        np.testing.assert_allclose(ours, theirs, atol=1e-6)


def test_temperatures_are_in_units_of_the_data():
    X = invented(60).reshape(60, -1)
    plain, larger = METHODS["pca"](9).fit(X), METHODS["pca"](9).fit(3 * X)
    for shape in faces_methods.SHAPES:
        heat = faces_methods.RelativeTemperatures(shape, 2.0)
        a, b, c = faces_methods.published(X, plain, 5, heat).tau
        assert b <= a
        thrice = faces_methods.published(3 * X, larger, 5, heat).tau
        np.testing.assert_allclose(thrice, np.multiply(9, (a, b, c)))
    e = METHODS["pca"](5).fit(X).distances(X).orthogonal ** 2
    d = ((X - X.mean(axis=0)) ** 2).sum(axis=1)
    np.testing.assert_allclose((b, c), (2 * np.median(e) / 60, 2 * np.median(d) / 60))


# ---------------------------------------------------------------- verdicts


def tally_of(**errors):
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
        tally = tally_of(**errors)
        return verdicts.lowest(tally, "orl", "dswl", faces_methods.RIVALS)

    good = verdict(dswl=1.01)
    assert good.verdict == verdicts.HOLDS and "nearest" in good.why
    bad = verdict(**{"dswl": 1.01, "rpca-di": 0.9})
    assert bad.verdict == verdicts.FAILS
    assert "RPCA-DI by " in bad.why and "at k = 100, beyond chance" in bad.why
    assert verdicts.refuted(bad).verdict == verdicts.HOLDS
    assert verdicts.refuted(good).verdict == verdicts.FAILS
    doubtful = verdict(**{"dswl": 1.01, "rpca-di": (0.8, 1.12, 1.08)})
    assert doubtful.verdict == verdicts.OPEN and "within chance" in doubtful.why


def test_nearness_to_the_oracle_flips_with_the_errors():
    def verdict(level):
        return verdicts.near_oracle(tally_of(dswl=level), "orl", "dswl").verdict

    assert verdict(1.01) == verdicts.HOLDS
    assert verdict(1.04) == verdicts.FAILS
    assert verdict((1.0, 1.0, 1.1)) == verdicts.OPEN


def test_the_gain_flips_with_what_is_printed():
    tally = tally_of(dswl=1.0)
    ours = tally.gain("orl", "dswl", 100)
    assert ours.mean() == pytest.approx(20 * np.log10(1.1), rel=0.02)

    def verdict(printed):
        return verdicts.gain_reached(tally, "orl", "dswl", 100, printed)

    assert verdict(ours.mean() - 0.01).verdict == verdicts.HOLDS
    assert verdict(ours.mean() + 1).verdict == verdicts.FAILS
    assert "does not reach the printed one either" in verdict(ours.mean() + 1).why
    assert verdict(ours.mean() + 1e-6).verdict == verdicts.OPEN
    one = verdicts.highest_psnr(tally, "orl", "dswl", faces_methods.RIVALS, 100)
    assert one.verdict == verdicts.HOLDS
    two = verdicts.highest_psnr(tally, "orl", "rpca-di", ["dswl"], 100)
    assert two.verdict == verdicts.FAILS


def test_a_rising_error_is_seen():
    rows = [
        {"set": "orl", "method": "pca", "fold": fold, "k": k, "error": error + fold}
        for fold in range(3)
        for k, error in ((10, 9.0), (20, 5.0), (30, 6.0))
    ]
    found = verdicts.falling(verdicts.FaceMeasurements(rows), "orl", ["pca"])
    assert found.verdict == verdicts.FAILS and "from 20 to 30" in found.why
    rows = [row for row in rows if row["k"] < 30]
    found = verdicts.falling(verdicts.FaceMeasurements(rows), "orl", ["pca"])
    assert found.verdict == verdicts.HOLDS


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


def test_neighbouring_numbers_are_drawn_together():
    ks = [10, 20, 30, 40, 60]
    assert verdicts.spans([10, 20, 40, 60], ks) == "10 to 20, 40 to 60"
    assert verdicts.spans([30], ks) == "30"


def test_printed_gains():
    assert [gain(name) for name in FACES] == [0.67, 5.96, 1.25, 3.04]


# ---------------------------------------------------------------- the whole


def test_study_of_invented_images(made_up, tmp_path):
    study = FacesStudy(("orl",), run_folds=1, ks=(20, 100))
    results = run(study, tmp_path)
    n_methods = len(faces_methods.TITLES)
    assert len(results.rows) == 2 * n_methods
    [dswl] = results.where(set="orl", method="dswl", k=20)
    [plain] = results.where(set="orl", method="pca", k=20)
    [oracle] = results.where(set="orl", method="oracle", k=20)
    assert dswl["error"] < 1.02 * oracle["error"] < plain["error"]
    assert dswl["occluded_kept"] == 0

    text = study.section(results)
    for words in ("Verdicts", "PSNR at k = 100", "Folds run: ORL 1 (k = 20 to 100)"):
        assert words in text
    assert "nan" not in text.replace("discriminant", "")

    files = study.figures(results, tmp_path / "figures")
    assert all(file.stat().st_size > 1000 for file in files)
    private = [file.name for file in files if file.parent.name == "private"]
    assert private == ["faces-samples.png", "faces-reconstructed.png"]
    public = [file.name for file in files if file.parent.name != "private"]
    assert public == ["faces-error.png", "faces-weights.png"]

    # Nothing is done twice, and what is done again gives the same numbers.
    again = run(
        study, tmp_path, progress=lambda n, of: None if n == of else pytest.fail()
    )
    assert again.rows == results.rows
    task = ("orl", "fold0", "dswl-published", "block0")
    assert study.run(task).rows == results.outcomes[task].rows


def test_extended_yale_b_runs_fewer_folds(monkeypatch):
    monkeypatch.setattr(faces, "pictures", lambda *_: np.zeros((500, 2, 2)))
    assert FacesStudy().n_run("yaleb") == 2
    assert FacesStudy(yaleb_folds=10).n_run("yaleb") == 10
    names = {task[:2] for task in FacesStudy().tasks() if task[0] == "yaleb"}
    assert names == {("yaleb", "fold0"), ("yaleb", "fold1")}


def test_yale(tmp_path):
    if not os.environ.get("TRUEAXIS_DATA"):
        pytest.skip("the images of Yale are not ours to ship: set TRUEAXIS_DATA")
    study = FacesStudy(("yale",), run_folds=1, ks=(20,))
    results = run(study, tmp_path)
    error = {row["method"]: row["error"] for row in results.rows}
    assert error["dswl"] < 1.02 * error["oracle"] < error["pca"]
    assert "Yale" in study.section(results)
