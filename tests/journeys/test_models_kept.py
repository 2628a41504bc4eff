"""Train today, score tomorrow: model files, other processes, other runtimes."""

import json
import subprocess
import sys
import zipfile

import numpy as np
import pandas as pd
import pytest
from command_line import invoke, run
from sklearn.pipeline import make_pipeline

import trueaxis
from trueaxis import DSWL, ColumnScaler


@pytest.mark.parametrize("options", [[], ["--scale", "robust"]])
def test_a_model_judges_the_file_of_tomorrow(options, pumps, new_pumps, tmp_path):
    """Today's pumps are fitted and the model is kept; tomorrow's file looks different.

    Its columns come in another order, with others among them. Nothing has to be said:
    the model knows its columns. A file that lacks one of them is refused.
    """
    model = tmp_path / "pumps.npz"
    run("fit", pumps.save(tmp_path), "--id", "serial", "-o", model, *options)
    tomorrow = tmp_path / "tomorrow.csv"
    frame = new_pumps.frame.assign(humidity=50.0)
    frame[frame.columns[::-1]].to_csv(tomorrow, index=False)

    scored, visit = tmp_path / "scored.csv", tmp_path / "visit.csv"
    run("score", model, tomorrow, "--id", "serial", "-o", scored, "--flagged", visit)
    table = pd.read_csv(scored, index_col="row")
    assert list(table.index) == list(new_pumps.table.index)
    flagged = table[table["outlier"].astype(bool)]
    assert flagged["column"].to_dict() == new_pumps.bad
    for serial, column in new_pumps.bad.items():
        assert table.loc[serial, "value"] == new_pumps.table.loc[serial, column]
        right = new_pumps.healthy.loc[serial, column]
        assert table.loc[serial, "fitted"] == pytest.approx(right, abs=2)
    assert (flagged["p_value"] < 1e-9).all()
    assert set(pd.read_csv(visit)["serial"]) == new_pumps.bad.keys()

    scores = tmp_path / "scores.csv"
    run("transform", model, tomorrow, "--id", "serial", "-o", scores)
    assert pd.read_csv(scores).shape == (12, 3)  # the name, and two scores

    frame.drop(columns="flow").to_csv(tomorrow, index=False)
    sentence = run("score", model, tomorrow, code=1)
    assert "'flow'" in sentence and "Traceback" not in sentence


OTHER_PROCESS = """
import sys
import numpy as np
import trueaxis
model = trueaxis.load(sys.argv[1])
np.save(sys.argv[3], model[-1].p_values(model[:-1].transform(np.load(sys.argv[2]))))
"""


def test_a_model_is_the_same_in_another_process(pumps, new_pumps, tmp_path):
    """A service loads the model that a notebook saved, and gets the same p-values."""
    model = make_pipeline(ColumnScaler(), DSWL(2)).fit(pumps.healthy.to_numpy())
    X = new_pumps.table.to_numpy()
    paths = [tmp_path / name for name in ("model.npz", "rows.npy", "p.npy")]
    trueaxis.save(model, paths[0])
    np.save(paths[1], X)
    subprocess.run([sys.executable, "-c", OTHER_PROCESS, *paths], check=True)
    p = model[-1].p_values(model[:-1].transform(X))
    np.testing.assert_allclose(np.load(paths[2]), p, rtol=1e-9)
    assert list(np.flatnonzero(p < 1e-4)) == [10, 11]

    loaded = trueaxis.load(paths[0])
    np.testing.assert_allclose(loaded.transform(X), model.transform(X), rtol=1e-12)
    assert loaded[-1].get_params() == model[-1].get_params()


def edited(path, name, old, new):
    """Return a model file in which a part has been changed, and packed again."""
    target = path.with_name("edited.npz")
    with zipfile.ZipFile(path) as before, zipfile.ZipFile(target, "w") as after:
        for info in before.infolist():
            content = before.read(info)
            if info.filename == name:
                assert old in content
                content = content.replace(old, new, 1)
            after.writestr(info, content)
    return target.read_bytes()


def test_a_model_file_runs_no_code_and_damage_is_reported(pumps, tmp_path):
    """Model files come by mail: they hold no pickle, and a damaged one is refused."""
    path = tmp_path / "model.npz"
    trueaxis.save(DSWL(2).fit(pumps.table), path)
    np.load(path, allow_pickle=False)
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            assert name.endswith((".json", ".npy"))
            if name.endswith(".npy"):
                with archive.open(name) as file:
                    np.lib.format.read_array(file, allow_pickle=False)
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 0xFF
    intact, center = path.read_bytes(), trueaxis.load(path).mean_
    moved = edited(path, "mean_.npy", center.tobytes(), (center + 1).tobytes())
    level = edited(path, "header.json", b'"level": 0.025', b'"level": 0.250')
    for damage in (bytes(content), intact[:-200], moved, level, b"", b"no model"):
        damaged = tmp_path / "damaged.npz"
        damaged.write_bytes(damage)
        with pytest.raises(ValueError, match=r"damaged\.npz"):
            trueaxis.load(damaged)
    table = pumps.save(tmp_path)
    assert "damaged.npz" in run("score", damaged, table, code=1)


def test_a_controller_without_python_agrees(pumps, new_pumps, tmp_path):
    """A controller runs ONNX: labels and scores are those of Python."""
    onnxruntime = pytest.importorskip("onnxruntime")
    model, path = tmp_path / "pumps.npz", tmp_path / "pumps.onnx"
    run("fit", pumps.save(tmp_path), "--id", "serial", "-o", model)
    run("export", model, path)
    rows = np.vstack([pumps.table.dropna(), new_pumps.table])
    session = onnxruntime.InferenceSession(path)
    scores, label = session.run(["scores", "label"], {"X": rows})
    loaded = trueaxis.load(model)
    names = list(pumps.table)
    frame = pd.DataFrame(rows, columns=names)
    np.testing.assert_allclose(scores, loaded.transform(frame), rtol=1e-5, atol=1e-8)
    np.testing.assert_array_equal(label, loaded.predict(frame))
    assert list(label[-12:]) == [1] * 10 + [-1] * 2


def test_methods_are_compared_side_by_side(pumps, tmp_path):
    """A skeptic asks whether other methods say the same; plain PCA does not."""
    result = invoke("compare", pumps.save(tmp_path), "--id", "serial", "--json")
    methods = {m["method"]: m for m in json.loads(result.stdout)["methods"]}
    assert methods.keys() >= {"dswl", "pca", "drpca", "t-rpca", "pcp"}
    assert methods["dswl"]["angle"] == pytest.approx(0, abs=1e-6)
    assert methods["pca"]["angle"] > 30  # the slip of a decimal point turned it
    assert methods["dswl"]["outliers"] >= 7
