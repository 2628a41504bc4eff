"""The runner of studies, the toy study and the UCI study."""

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from scipy import stats
from sklearn.neighbors import KNeighborsClassifier

from trueaxis.datasets import UCI, planted
from trueaxis.reproduction.methods import (
    AUTOMATIC,
    NAMES,
    OTHERS,
    PUBLISHED,
    build,
    grid,
    temperatures,
)
from trueaxis.reproduction.significance import (
    FAILS,
    HOLDS,
    UNCLEAR,
    holm,
    is_best,
    paired,
    ranking,
)
from trueaxis.reproduction.study import Results, TaskOutcome, digest, run
from trueaxis.reproduction.toy import page as toy_page
from trueaxis.reproduction.toy.study import KINDS, WEIGHTED, ToyStudy
from trueaxis.reproduction.uci import page as uci_page
from trueaxis.reproduction.uci import summary as uci_summary
from trueaxis.reproduction.uci.printed import KS, METHODS, TABLE
from trueaxis.reproduction.uci.study import ORACLE, FoldData, UciStudy, folds, z_scores

# ---------------------------------------------------------------- the runner


@dataclass(frozen=True)
class Slow:
    """A study that writes down what it does."""

    log: str
    n: int = 6
    pause: float = 0.0
    name = "slow"

    def tasks(self):
        return [("task", str(i)) for i in range(self.n)]

    def run(self, task):
        with open(self.log, "a") as file:
            file.write(task[1] + "\n")
        time.sleep(self.pause)
        rng = np.random.default_rng(int(task[1]))
        rows = [{"task": int(task[1]), "value": x} for x in rng.random(3).tolist()]
        return TaskOutcome(rows, {"square": rng.random((2, 2))})

    def figures(self, results, folder):
        return []

    def section(self, results):
        return ""


def done(study):
    return Counter(Path(study.log).read_text().split())


def test_finished_tasks_are_not_repeated(tmp_path):
    study = Slow(str(tmp_path / "log"))
    seen = []
    first = run(study, tmp_path, progress=lambda *n: seen.append(n))
    table = (tmp_path / "slow.csv").read_bytes()
    again = run(study, tmp_path)
    assert seen == [(i, 6) for i in range(7)]
    assert set(done(study).values()) == {1}
    assert (tmp_path / "slow.csv").read_bytes() == table
    assert first.rows == again.rows
    for task, outcome in first.outcomes.items():
        square = again.outcomes[task].arrays["square"]
        assert (outcome.arrays["square"] == square).all()


def test_an_error_keeps_what_was_done(tmp_path):
    class Failing(Slow):
        def run(self, task):
            if task[1] == "4":
                raise RuntimeError("no more")
            return super().run(task)

    study = Failing(str(tmp_path / "log"))
    with pytest.raises(RuntimeError):
        run(study, tmp_path)
    assert done(study) == Counter("0123")
    with pytest.raises(RuntimeError):
        run(study, tmp_path)
    assert done(study) == Counter("0123")


def test_other_settings_do_not_reuse_parts(tmp_path):
    study = Slow(str(tmp_path / "log"), n=3)
    other = replace(study, pause=1e-6)
    assert digest(study) == digest(replace(study))
    assert digest(study) != digest(other)
    run(study, tmp_path)
    run(other, tmp_path)
    assert set(done(study).values()) == {2}


@pytest.mark.slow
def test_two_processes_write_the_same_table(tmp_path):
    one, two = (Slow(str(tmp_path / name)) for name in ("log1", "log2"))
    run(one, tmp_path / "one")
    run(two, tmp_path / "two", jobs=2)
    tables = [(tmp_path / x / "slow.csv").read_bytes() for x in ("one", "two")]
    assert tables[0] == tables[1]
    assert done(two) == done(one)


@pytest.mark.slow
@pytest.mark.parametrize("how", ["SIGINT", "SIGKILL"])
def test_a_killed_run_goes_on_where_it_stopped(tmp_path, how):
    study = Slow(str(tmp_path / "log"), n=8, pause=0.3)
    folder = tmp_path / "killed"
    code = (
        "from pathlib import Path; from trueaxis.reproduction.study import run\n"
        "from test_studies import Slow\n"
        f"run(Slow({study.log!r}, n=8, pause=0.3), Path({str(folder)!r}))"
    )
    paths = [str(Path(__file__).parent), *sys.path]
    env = os.environ | {"PYTHONPATH": os.pathsep.join(paths)}
    process = subprocess.Popen(
        [sys.executable, "-c", code], env=env, stderr=subprocess.DEVNULL
    )
    try:
        deadline = time.monotonic() + 60
        while len(list(folder.rglob("*.npz"))) < 3:
            assert process.poll() is None and time.monotonic() < deadline
            time.sleep(0.02)
        process.send_signal(getattr(signal, how))
        assert process.wait(30) != 0
    finally:
        process.kill()
    parts = {path.stem.split("--")[1] for path in folder.rglob("*.npz")}
    assert 3 <= len(parts) < 8
    assert not (folder / "slow.csv").exists()

    run(study, folder)
    assert all(done(study)[part] == 1 for part in parts)
    whole = replace(study, log=str(tmp_path / "other log"), pause=0.0)
    run(whole, tmp_path / "whole")
    tables = [(tmp_path / x / "slow.csv").read_bytes() for x in ("killed", "whole")]
    assert tables[0] == tables[1]


# ---------------------------------------------------------------- contenders


def test_temperatures_scale_with_the_data_and_the_objective_cannot_fall():
    X = planted("scatter", n=60, n_features=5, n_components=2).X
    chosen = temperatures(X, [1, 2])
    for k, tau in temperatures(7 * X, [1, 2]).items():
        np.testing.assert_allclose(tau, 49 * np.array(chosen[k]), rtol=1e-6)
    for k in (1, 2, 5):
        assert all(0 < tau[1] <= tau[0] for tau in grid(X, k).values())
        assert all(tau[2] > 0 for tau in grid(X, k).values())


def test_one_point_of_the_grid_serves_all_numbers_of_components():
    X = planted("scatter", n=60, n_features=5, n_components=2).X
    places = [
        [p for p, tau in grid(X, k).items() if tau == found]
        for k, found in temperatures(X, [1, 2]).items()
    ]
    assert places[0] == places[1] and len(places[0]) == 1


def test_contenders_are_built_by_name():
    for name in NAMES:
        assert build(name, 2, (1.0, 1.0, 1.0)).n_components == 2
    published = build(PUBLISHED, 2, (3.0, 2.0, 1.0)).get_params()
    assert published["init"] == "uniform" and published["reweight"] is False
    with pytest.raises(ValueError, match="needs temperatures"):
        build(PUBLISHED, 2)
    with pytest.raises(ValueError, match="not compared"):
        build("best", 2)


# ---------------------------------------------------------------- judging


def test_ranks_and_friedman_agree_with_brute_force():
    rng = np.random.default_rng(0)
    values = {name: rng.integers(0, 6, 9).astype(float) for name in "abcd"}
    found = ranking(values, more=True)
    table = np.array(list(values.values()))
    for i, name in enumerate(values):
        above = (table > table[i]).sum(axis=0)
        equal = (table == table[i]).sum(axis=0)
        assert found.ranks[name] == pytest.approx((above + (equal + 1) / 2).mean())
    expected = stats.friedmanchisquare(*table)
    assert found.statistic == pytest.approx(expected.statistic)
    assert found.p == pytest.approx(expected.pvalue)
    # Demsar (2006): q is 2.569 for 4 methods at the level 0.05.
    assert found.critical == pytest.approx(2.569 * np.sqrt(4 * 5 / 54), abs=1e-3)
    opposite = ranking({name: -x for name, x in values.items()}, more=False)
    assert opposite.ranks == found.ranks


def test_equal_methods_cannot_be_told_apart():
    found = ranking({name: np.ones(5) for name in "abc"}, more=False)
    assert found.ranks == {"a": 2, "b": 2, "c": 2}
    assert found.p == 1 and set(found.against.values()) == {1}


def test_holm_and_wilcoxon():
    assert holm({"a": 0.04, "b": 0.01, "c": 0.03}) == pytest.approx(
        {"a": 0.06, "b": 0.03, "c": 0.06}
    )
    rng = np.random.default_rng(1)
    one, other = rng.random((2, 12))
    expected = stats.wilcoxon(one, other).pvalue
    assert paired(one, other) == pytest.approx(expected)
    assert paired(one, one) == 1


def test_best_is_judged_by_median_and_test():
    noise = np.random.default_rng(0).normal(size=(3, 40))
    values = {"ours": noise[0], "near": noise[1] + 3, "far": noise[2] + 9}
    assert is_best("", values, "ours").verdict == HOLDS
    assert is_best("", values, "near").verdict == FAILS
    assert is_best("", values, "far", more=True).verdict == HOLDS
    values["near"] = noise[1]
    assert is_best("", values, "ours").verdict == UNCLEAR


# ---------------------------------------------------------------- toy study


def toy_results(best):
    """Results in which one method is better than all others."""
    rng = np.random.default_rng(0)
    rows = [
        {
            "kind": kind,
            "seed": seed,
            "method": name,
            "angle": rng.random() + 10 * (name != best) * (kind in ("ocs", "both")),
            "mean_error": rng.random() + (name != best),
            "margin": rng.random() + 3 * (name == best),
            "spread": rng.random() + (name != best),
            "converged": True,
        }
        for kind in KINDS
        for seed in range(20)
        for name in NAMES
    ]
    return Results({("all",): TaskOutcome(rows)})


def test_verdicts_on_toy_data_follow_the_results():
    good, bad = (
        {v.claim: v.verdict for v in toy_page.verdicts(toy_results(best))}
        for best in (AUTOMATIC, "RPCA-DI")
    )
    ours = [claim for claim in good if AUTOMATIC in claim]
    assert len(ours) == 7
    for claim in ours:
        assert good[claim] == HOLDS
        # RPCA-DI being better than all says nothing about RPCA-OM.
        assert bad[claim] == (UNCLEAR if "RPCA-OM" in claim else FAILS)
    second = [claim for claim in good if "second-best" in claim]
    assert {bad[claim] for claim in second} == {HOLDS}
    assert {good[claim] for claim in second} == {UNCLEAR}


def test_overlap_and_deviation_on_toy_data_follow_the_results():
    results = toy_results(AUTOMATIC)
    before = [v.verdict for v in toy_page.verdicts(results)[:3]]
    for row in results.where(method="PCA-L1"):
        row["angle"] += 5
    after = [v.verdict for v in toy_page.verdicts(results)[:3]]
    assert before == [HOLDS, HOLDS, FAILS]
    assert after == [FAILS, HOLDS, HOLDS]


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


# ---------------------------------------------------------------- UCI study


def test_folds_part_the_rows_and_every_class():
    y = np.repeat(["a", "b", "c", "d"], [50, 43, 7, 2])
    found = folds(y, 10, 3)
    assert sorted(np.concatenate(found)) == list(range(len(y)))
    sizes = [len(test) for test in found]
    assert max(sizes) - min(sizes) <= 1
    for name in np.unique(y):
        counts = [(y[test] == name).sum() for test in found]
        assert max(counts) - min(counts) <= 1
    assert any((a != b).any() for a, b in zip(found, folds(y, 10, 4), strict=True))


def some_rows(seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, 60)
    return rng.normal(size=(60, 5)) * [1, 2, 3, 4, 5] + y[:, None], y


def test_fits_never_see_test_rows():
    X, y = some_rows()
    test = folds(y, 5, 0)[0]
    split = FoldData.make(X, y, test, 0)
    other = X.copy()
    other[test] = 1e6
    again = FoldData.make(other, y, test, 0)
    assert (split.train == again.train).all()
    np.testing.assert_allclose(split.clean_train.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(split.clean_train.std(axis=0), 1)
    hit = (split.train != split.clean_train).any(axis=1)
    hit_test = (split.test != split.clean_test).any(axis=1)
    assert hit.sum() + hit_test.sum() == 15


def test_damage_in_training_rows_does_not_depend_on_the_fold():
    X, y = some_rows()
    a, b = (FoldData.make(X, y, test, 0) for test in folds(y, 5, 0)[:2])
    hit = [
        {i for i, row in zip(rows, ratio, strict=True) if (row != 1).any()}
        for rows, ratio in (
            (_training(y, 0), a.train / a.clean_train),
            (_training(y, 1), b.train / b.clean_train),
        )
    ]
    both = set(_training(y, 0)) & set(_training(y, 1))
    assert hit[0] & both == hit[1] & both


def _training(y, fold):
    return np.setdiff1d(np.arange(len(y)), folds(y, 5, 0)[fold]).tolist()


def test_constant_columns_stay_finite():
    X = np.column_stack([np.full(5, 0.3), np.arange(5.0)])
    assert np.isfinite(z_scores(X[:4], X)).all()


def test_measures_agree_with_other_routes():
    X, y = some_rows(1)
    split = FoldData.make(X, y, folds(y, 5, 0)[0], 0)
    truth = split.principal(2)
    mean = split.clean_train.mean(axis=0)
    same = split.measure(mean, truth[::-1], truth)
    assert same["angle"] == pytest.approx(0, abs=1e-5)
    assert same["lost"] == pytest.approx(0, abs=1e-9)
    assert same["mean_error"] == 0
    axes = np.linalg.qr(np.random.default_rng(0).normal(size=(5, 2)))[0].T
    found = split.measure(mean + [3, 4, 0, 0, 0], axes, truth)
    least = np.linalg.svd(axes @ truth.T, compute_uv=False).min()
    assert found["angle"] == pytest.approx(np.degrees(np.arccos(least)))
    assert found["mean_error"] == pytest.approx(5)
    kept = [np.trace(P @ np.cov(split.clean_train.T) @ P.T) for P in (axes, truth)]
    assert found["lost"] == pytest.approx(100 * (1 - kept[0] / kept[1]))
    judge = KNeighborsClassifier(1).fit(split.train @ axes.T, split.y_train)
    for measure, rows in (
        ("accuracy", split.test),
        ("accuracy_training_only", split.clean_test),
    ):
        expected = 100 * judge.score(rows @ axes.T, split.y_test)
        assert found[measure] == pytest.approx(expected)


def test_printed_table_gives_the_printed_gains():
    assert tuple(TABLE) == UCI and len(METHODS) == 5
    gain = uci_summary.printed_gain(UCI)
    np.testing.assert_allclose(gain, [3.3, 1.2, 1.6], atol=0.05)


def uci_results(lead, sets=UCI, n_seeds=6):
    """Results in which automatic DSWL leads all others by so many points."""
    rng = np.random.default_rng(0)
    rows = []
    for name in sets:
        for seed in range(n_seeds):
            for k in KS:
                for method in (*NAMES, ORACLE):
                    more = lead * (method == AUTOMATIC)
                    accuracy = 60 + more + 0.2 * rng.normal()
                    rows.append(
                        {
                            "set": name,
                            "seed": seed,
                            "fold": 0,
                            "k": k,
                            "method": method,
                            "accuracy": accuracy,
                            "accuracy_training_only": accuracy,
                            "angle": 120 - accuracy,
                            "lost": 120 - accuracy,
                            "mean_error": 1.0,
                            "converged": True,
                        }
                    )
    return Results({("all",): TaskOutcome(rows)})


@pytest.fixture
def fewer_draws(monkeypatch):
    monkeypatch.setattr(uci_summary, "DRAWS", 60)


def test_verdicts_on_uci_follow_the_results(fewer_draws):
    found = {}
    for lead in (5, -5, 0):
        summary = uci_summary.UciSummary.of(uci_results(lead))
        verdicts = uci_summary.verdicts(summary)
        found[lead] = {v.claim: v.verdict for v in verdicts if AUTOMATIC in v.claim}
    assert len(found[5]) == 9
    assert set(found[5].values()) == {HOLDS}
    assert set(found[-5].values()) == {FAILS}
    assert set(found[0].values()) != {HOLDS}


def test_one_seed_cannot_tell():
    summary = uci_summary.UciSummary.of(uci_results(5, n_seeds=1))
    assert {v.verdict for v in uci_summary.verdicts(summary)} == {UNCLEAR}


def test_page_names_what_beats_automatic_dswl(fewer_draws):
    ahead, behind = (
        uci_page.section(UciStudy(missing=("zoo",)), uci_results(lead))
        for lead in (5, -5)
    )
    assert "left out: zoo" in ahead
    assert "no method is better on average than automatic DSWL" in ahead
    assert "better on average than automatic DSWL: PCA by 5.0 points" in behind
    assert "k = 1: +5.0, reached" in ahead
    assert "k = 1: -5.0, not reached" in behind


def test_page_says_how_far_the_leak_explains_bupa(fewer_draws):
    results = uci_results(0, sets=("wine", "bupa", "bupa_leak"))
    for row in results.where(set="bupa_leak"):
        # As printed, but for one method with one component.
        if row["method"] in METHODS:
            place = METHODS.index(row["method"]), KS.index(row["k"])
            row["accuracy"] = TABLE["bupa"][place[0]][place[1]]
    for row in results.where(set="bupa_leak", method="RPCA-DI", k=1):
        row["accuracy"] += 20
    text = uci_page.section(UciStudy(), results)
    assert "from the printed number: RPCA-DI at k = 1 (+20)." in text
    assert "| with the class as a feature | 4.0 | 0.0 | 0.0 |" in text


def test_summary_is_the_mean_over_folds():
    results = uci_results(1, sets=("wine", "zoo"))
    summary = uci_summary.UciSummary.of(results)
    rows = results.where(set="zoo", k=3, method="RPCA-DI")
    values = [row["accuracy"] for row in rows]
    assert summary.mean("accuracy", "RPCA-DI")[1, 1] == pytest.approx(np.mean(values))
    error = stats.sem(values)
    assert summary.error("accuracy", "RPCA-DI")[1, 1] == pytest.approx(error)
    assert len(OTHERS) == 6


def test_missing_sets_are_left_out_and_named(tmp_path, monkeypatch):
    monkeypatch.delenv("TRUEAXIS_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    study = UciStudy.prepare(download=False)
    assert study.sets == ("breast_cancer", "wine")
    assert set(study.missing) == set(UCI) - set(study.sets)
    assert len(study.tasks()) == 2 * study.n_seeds


@pytest.mark.slow
def test_uci_study_from_end_to_end(tmp_path, monkeypatch):
    monkeypatch.delenv("TRUEAXIS_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    study = UciStudy.prepare(quick=True)
    results = run(study, tmp_path)
    assert len(results.rows) == 2 * 3 * len(KS) * (len(NAMES) + 1)
    for row in results.where(method=ORACLE):
        assert row["angle"] < 1e-4 and abs(row["lost"]) < 1e-9
    accuracy = np.array([row["accuracy"] for row in results.where(set="wine")])
    assert 40 < accuracy.mean() < 100
    text = study.section(results)
    assert "Breast Cancer" in text and "nan" not in text
    figures = study.figures(results, tmp_path)
    assert [path.stem for path in figures] == ["uci-ranks", "uci-sets"]
    assert (tmp_path / "uci.csv").read_text().count("\n") == len(results.rows) + 1
