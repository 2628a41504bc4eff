"""How do I take a model to another machine?
============================================

``save`` writes a model file for Python, without pickle: nothing in it is executed.
If the path ends in ``.onnx``, it writes a graph for runtimes without Python. Do both
give the same answers?
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import onnxruntime
from sklearn.pipeline import make_pipeline

import trueaxis
from trueaxis import DSWL, ColumnScaler
from trueaxis.datasets import sensors
from trueaxis.diagnostics import diagnose

X = sensors().X
pipeline = make_pipeline(ColumnScaler(), DSWL(2)).fit(X)
new = sensors(random_state=1).X

with tempfile.TemporaryDirectory() as folder:
    path, graph = Path(folder) / "pump.npz", Path(folder) / "pump.onnx"
    trueaxis.save(pipeline, path)
    trueaxis.save(pipeline, graph)
    again, session = trueaxis.load(path), onnxruntime.InferenceSession(graph)
    sizes = [file.stat().st_size / 1024 for file in (path, graph)]
print("model file and graph: {:.0f} and {:.0f} KiB".format(*sizes))
same = np.array_equal(again.score_samples(new), pipeline.score_samples(new))
print("model file: the same bits:", same)
off, label = session.run(["orthogonal_distance", "label"], {"X": new})
here = diagnose(pipeline, new).orthogonal
print("ONNX: the same verdicts:", np.array_equal(label, pipeline.predict(new)))
print("ONNX: distances agree to 1e-9:", np.allclose(off, here, rtol=1e-9))

figure, ax = plt.subplots(figsize=(5.2, 4.0), layout="constrained")
bad = label < 0
ax.plot(here[~bad], off[~bad], "o", ms=5, color="0.6", label="regular")
ax.plot(here[bad], off[bad], "^", color="#d55e00", mec="k", label="outlier")
ax.set(xlabel="distance by Python", ylabel="distance by onnxruntime")
ax.set_title("Orthogonal distances of 200 new rows")
ax.legend(frameon=False)

# %%
# And a row with a hole?

new[0, 0] = np.nan
by_graph, by_file = session.run(["label"], {"X": new})[0][0], again.predict(new)[0]
print(f"the graph says {by_graph}, the model file {by_file}")

# %%
# Yes: a loaded model gives the same bits, and the graph the same verdicts, with
# distances that agree to 1e-9. Both files are small (7 and 3 KiB). But a graph has no
# p-values, and it cannot fill holes: a row with one gets -1 from the graph, but 1 from
# the model file.
