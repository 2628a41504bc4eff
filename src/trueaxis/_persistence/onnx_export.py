"""ONNX: `export_onnx` writes what a fitted model answers as a graph, for any runtime.

The graph does what `estimators.base` does: centre, project, measure both distances,
compare them with their cut-offs. Nothing of Python is left in it.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, Literal

import numpy as np

from trueaxis import __version__
from trueaxis._engine.subspace import Subspace
from trueaxis._files import atomic_write
from trueaxis._persistence.model_state import checked
from trueaxis._persistence.onnx_graph import Graph
from trueaxis._validation import validate_choice
from trueaxis.estimators.base import Distances
from trueaxis.estimators.scaler import ColumnScaler

DTYPES = ("float64", "float32")
LARGEST = 1e30  # variance, whose reciprocal and whose squares float32 can hold as well
DOC = """A fitted {class} of trueaxis {trueaxis_version} (scaling of columns: {scaler}).
Input X (rows x {columns}, {dtype}). Outputs: scores on the components; score_distance
inside the subspace in standard deviations, orthogonal_distance from it in the unit of
the rows; outlier_score, minus the larger distance over its cut-off; label, 1 for
regular rows and -1 for outliers."""


def export_onnx(
    model: Any,
    path: str | os.PathLike[str],
    *,
    dtype: Literal["float64", "float32"] = "float64",
) -> None:
    """Write a fitted model as an ONNX graph.

    The input `X` has shape (n, D), with any n. The outputs are `scores` (n, k), what
    `transform` returns, and of length n `score_distance`, `orthogonal_distance`,
    `outlier_score` (`score_samples`) and `label` (`predict`, int64). The file appears
    whole or not at all.

    Where Python refuses a row, a graph cannot: one with NaN has NaN everywhere and the
    label -1.

    Parameters
    ----------
    model : estimator or Pipeline
        Fitted; of a class in `trueaxis.METHODS`, a `ReweightedPCA`, or a pipeline of a
        `ColumnScaler` and one of them.
    path : str or path
        Used as given; no ".onnx" is added.
    dtype : {"float64", "float32"}, default="float64"
        Of input and outputs, and of all that is computed. "float32" is for runtimes
        without doubles: distances lose digits, and rows close to a cut-off may get the
        other label.

    Raises
    ------
    ImportError
        If the package onnx is not installed.
    TypeError
        For other classes and other pipelines.
    NotFittedError, ValueError
        If the model is not fitted, or float32 is too coarse for it.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import onnxruntime
    >>> import trueaxis
    >>> from trueaxis.datasets import planted
    >>> X = planted("ocs", share=0.3).X
    >>> model = trueaxis.DSWL(n_components=3).fit(X)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     trueaxis.export_onnx(model, Path(folder) / "model.onnx")
    ...     session = onnxruntime.InferenceSession(Path(folder) / "model.onnx")
    >>> (label,) = session.run(["label"], {"X": X})
    >>> bool((label == model.predict(X)).all())
    True
    """
    onnx = _package()
    validate_choice("dtype", dtype, DTYPES)
    scaler, method = checked(model)
    subspace = method._subspace()
    if dtype == "float32":
        _refuse_if_too_coarse(subspace, method.cutoffs_)
    graph = Graph(onnx, np.dtype(dtype))
    _draw(graph, scaler, subspace, method.cutoffs_, method.offset_)
    facts = _metadata(scaler, method, dtype)
    made = graph.model(subspace.basis.shape, facts, DOC.format_map(facts))
    onnx.checker.check_model(made, full_check=True)
    with atomic_write(Path(os.fspath(path))) as file:
        file.write(made.SerializeToString(deterministic=True))


def _package() -> Any:
    try:
        import onnx
        import onnx.checker
        import onnx.helper
        import onnx.numpy_helper
    except ImportError as error:
        raise ImportError(
            f"Writing ONNX needs the package onnx ({error}): pip install "
            "'trueaxis[onnx]'."
        ) from None
    return onnx


def _refuse_if_too_coarse(subspace: Subspace, cutoffs: Distances) -> None:
    """Refuse what float32 cannot hold, and cut-offs that are below its rounding."""
    if not subspace.variances.any():  # all rows alike
        return
    total = subspace.total
    if not 1 / LARGEST < total < LARGEST:
        raise ValueError(
            f"The variance of the rows is {total:.2g}, and squares in float32 are "
            f"exact only between {1 / LARGEST:.0g} and {LARGEST:.0g}: use "
            'dtype="float64", or fit on rows in another unit.'
        )
    # The rounding that the cut-offs of a fit on float32 rows allow for, too.
    least = np.finfo(np.float32).eps ** 0.75 * np.sqrt(total)
    narrow = np.sqrt(subspace.floored_variances().min())
    for name, cut, limit in (
        ("orthogonal", cutoffs.orthogonal, least),
        ("score", cutoffs.score, least / narrow),
    ):
        if cut < limit:
            raise ValueError(
                f"The cut-off of the {name} distance is {cut:.2g}, but in float32 "
                f"these distances are rounding below {limit:.2g}: the rows lie in the "
                "subspace, or it has directions without variance. Use "
                'dtype="float64", ask for fewer components, or fit on float32 rows, '
                "whose cut-offs allow for rounding."
            )


def _metadata(scaler: ColumnScaler | None, method: Any, dtype: str) -> dict[str, str]:
    names = getattr(method, "feature_names_in_", None)
    names = None if names is None else [str(name) for name in names]
    return {
        "trueaxis_version": __version__,
        "class": type(method).__name__,
        "scaler": "none" if scaler is None else scaler.how,
        "columns": str(method.n_features_in_),
        "components": str(method.n_components_),
        "dtype": dtype,
        "feature_names": json.dumps(names, ensure_ascii=False),
        "score_cutoff": repr(float(method.cutoffs_.score)),
        "orthogonal_cutoff": repr(float(method.cutoffs_.orthogonal)),
    }


def _draw(
    graph: Graph,
    scaler: ColumnScaler | None,
    subspace: Subspace,
    cutoffs: Distances,
    offset: float,
) -> None:
    """The nodes from X to the label."""
    rows = "X"
    if scaler is not None:
        rows = graph.minus(rows, "scaler_centre", scaler.center_)
        rows = graph.divide(rows, "scaler_unit", scaler.unit_)
    # Centre first: far from the origin, x P - m P loses the digits.
    y = graph.minus(rows, "mean", subspace.mean)
    axes = graph.hold("components", subspace.basis)
    t = graph.add("MatMul", [y, graph.add("Transpose", [axes])], "scores")

    # float32 holds no 1e-308; below, it would divide by 0.
    floor = np.finfo(graph.dtype).tiny
    inverse = graph.hold(
        "inverse_variances", 1 / np.maximum(subspace.floored_variances(), floor)
    )
    s = graph.row_sums(graph.add("Mul", [graph.add("Mul", [t, t]), inverse]))
    score = graph.add("Sqrt", [s], "score_distance")

    # The residual itself: |y|^2 - |t|^2 has no digits left near the subspace.
    residual = graph.add("Sub", [y, graph.add("MatMul", [t, axes])])
    e = graph.row_sums(graph.add("Mul", [residual, residual]))
    # inf - inf, of rows too large to measure, is infinitely far; NaN stays unknown.
    lost = graph.add("And", [graph.add("IsNaN", [e]), graph.add("Not", [_gaps(graph)])])
    e = graph.add("Where", [lost, graph.hold("infinity", np.inf), e])
    orthogonal = graph.add("Sqrt", [e], "orthogonal_distance")

    ratios = [
        _over(graph, "score_cutoff", score, cutoffs.score),
        _over(graph, "orthogonal_cutoff", orthogonal, cutoffs.orthogonal),
    ]
    worst = graph.add("Neg", [graph.add("Max", ratios)])
    # Runtimes differ in whether the larger of NaN and a number is NaN.
    unknown = graph.add("IsNaN", [graph.add("Add", ratios)])
    nan = graph.hold("unknown", np.nan)
    worst = graph.add("Where", [unknown, nan, worst], "outlier_score")
    regular = graph.add("GreaterOrEqual", [worst, graph.hold("offset", offset)])
    one, minus_one = (
        graph.hold(name, value, np.int64)
        for name, value in (("regular", 1), ("outlier", -1))
    )
    graph.add("Where", [regular, one, minus_one], "label")


def _gaps(graph: Graph) -> str:
    """Whether a row has any NaN."""
    gaps = graph.add("Cast", [graph.add("IsNaN", ["X"])], to=graph.kind)
    return graph.add("Greater", [graph.row_sums(gaps), graph.hold("zero", 0.0)])


def _over(graph: Graph, name: str, distance: str, cutoff: float) -> str:
    """`diagnostics.over`: a cut-off of 0 leaves no room at all."""
    if cutoff > 0:
        return graph.divide(distance, name, cutoff)
    zero, infinity = graph.hold("zero", 0.0), graph.hold("infinity", np.inf)
    beyond = graph.add("Greater", [distance, zero])
    return graph.add("Where", [beyond, infinity, zero])
