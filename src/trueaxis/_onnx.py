"""Write a fitted model as an ONNX graph, for runtimes without Python.

The graph computes what `estimators.base` does: it centers and projects the rows,
measures both distances, and compares them with their cut-offs. It has no p-values:
ONNX lacks the gamma functions.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from trueaxis import __version__
from trueaxis._columns import quote
from trueaxis._files import atomic_write
from trueaxis.base import SubspaceEstimator
from trueaxis.pipeline import FIRST_STEPS, SplitPipeline
from trueaxis.preprocessing.encoder import TableEncoder

# These versions are from 2022: onnxruntime 1.12 and later reads them.
GRAPH = """
<ir_version: 8, opset_import: ["": 17]>
trueaxis (double[n, {columns}] X) => (
    double[n, {components}] scores, double[n] score_distance,
    double[n] orthogonal_distance, int64[n] label
) {{
    shifted = Sub(X, scaler_center)
    rows = Div(shifted, scaler_unit)
    y = Sub(rows, mean)
    scores = MatMul(y, components)

    t = MatMul(y, judging_components)
    squares = Mul(t, t)
    scaled_squares = Mul(squares, inverse_variances)
    s = ReduceSum <keepdims = 0> (scaled_squares, last_axis)
    score_distance = Sqrt(s)

    t_back = MatMul(t, judging_components_transposed)
    residual = Sub(y, t_back)
    residual_squares = Mul(residual, residual)
    e_or_nan = ReduceSum <keepdims = 0> (residual_squares, last_axis)
    missing_cells = IsNaN(X)
    missing_as_numbers = Cast <to = 11> (missing_cells)
    n_missing = ReduceSum <keepdims = 0> (missing_as_numbers, last_axis)
    complete = Equal(n_missing, zero)
    not_a_number = IsNaN(e_or_nan)
    overflows = And(not_a_number, complete)
    e = Where(overflows, infinity, e_or_nan)
    orthogonal_distance = Sqrt(e)

    near = LessOrEqual(score_distance, score_cutoff)
    close = LessOrEqual(orthogonal_distance, orthogonal_cutoff)
    near_and_close = And(near, close)
    places = MatMul(y, group_steps)
    beyond = Greater(places, group_edges)
    beyond_as_numbers = Cast <to = 11> (beyond)
    n_beyond = ReduceSum <keepdims = 0> (beyond_as_numbers, last_axis)
    in_no_group = Equal(n_beyond, zero)
    regular = And(near_and_close, in_no_group)
    label = Where(regular, one, minus_one)
}}
"""


def write_graph(parts: SplitPipeline, path: Path) -> None:
    """Write the graph of a method, and of the scaler or encoder before it.

    The input `X` has shape (n, D), with any n. The outputs are `scores` of shape
    (n, k), which is what `transform` returns, and, of length n, `score_distance`,
    `orthogonal_distance` and `label` (`predict`, int64). A graph can neither raise
    errors nor fill missing cells: a row with NaN gets NaN and the label -1.

    Raises
    ------
    ImportError
        If the package onnx is not installed.
    ValueError
        If the model repairs cells, or encodes categories or logarithms.
    """
    try:
        import onnx
        import onnx.parser
    except ImportError as error:
        raise ImportError(
            f"Writing ONNX needs the package onnx ({error}): pip install "
            "'trueaxis[onnx]'."
        ) from None
    scaler, method = parts
    _refuse(scaler, method)
    model = onnx.parser.parse_model(
        GRAPH.format(columns=method.n_features_in_, components=method.n_components_)
    )
    model.graph.initializer.extend(
        onnx.numpy_helper.from_array(np.asarray(value), name)
        for name, value in _constants(scaler, method).items()
    )
    names = getattr(method, "feature_names_in_", None)
    names = None if names is None else [str(name) for name in names]
    model.producer_name, model.producer_version = "trueaxis", __version__
    onnx.helper.set_model_props(
        model,
        {
            "class": type(method).__name__,
            "feature_names": json.dumps(names, ensure_ascii=False),
            "score_cutoff": repr(float(method.cutoffs_.score)),
            "orthogonal_cutoff": repr(float(method.cutoffs_.orthogonal)),
            "level": repr(float(10**method.offset_)),
            "groups": str(len(method._sides)),
        },
    )
    onnx.checker.check_model(model, full_check=True)
    with atomic_write(path) as file:
        file.write(model.SerializeToString(deterministic=True))


def _refuse(scaler: Any, method: Any) -> None:
    """Raise if a graph cannot express a model."""
    if not isinstance(method, SubspaceEstimator):
        raise TypeError(
            f"A {type(method).__name__} cannot become a graph without a method after "
            "it: pass the pipeline."
        )
    if scaler is not None and not isinstance(scaler, FIRST_STEPS):
        raise TypeError(
            "Several steps come before the method, but an ONNX graph of this kind has "
            "only a ColumnScaler before a method, or a TableEncoder: save the last "
            "step, and pass it the rows of the others."
        )
    if isinstance(scaler, TableEncoder) and (scaler.categories_ or scaler.log_):
        raise ValueError(
            f"The TableEncoder turns {quote([*scaler.categories_, *scaler.log_], 3)} "
            "into indicators or logarithms, and an ONNX graph of this kind takes "
            "numbers as they are: save the last step of the pipeline alone, and pass "
            "it the rows of TableEncoder.transform."
        )
    if "shares" in getattr(method, "_cells", {}):
        raise ValueError(
            "The model was fitted with cells=True: wrong cells are found in rounds "
            "that depend on the row, which an ONNX graph cannot do. Save a model "
            "fitted with cells=False on model.repair(X), or save this one as .npz."
        )


def _constants(scaler: Any, method: Any) -> dict[str, Any]:
    subspace, law = method._subspace(), method._law()
    steps, edges = np.zeros((len(subspace.mean), 1)), np.inf  # no row is beyond
    if law.sides is not None:
        # Relative to the center of the model, which keeps more digits.
        room = law.sides.edges - law.sides.centers
        steps = (law.sides.directions / room[:, None]).T
        start = (law.sides.centers - law.sides.directions @ subspace.mean) / room
        edges = start + law.cuts(method.offset_ * float(np.log(10.0))).beyond
    tiny = np.finfo(float).tiny
    return {
        "scaler_center": 0.0 if scaler is None else scaler.center_.astype(float),
        "scaler_unit": 1.0 if scaler is None else scaler.unit_.astype(float),
        "mean": subspace.mean,
        "components": np.ascontiguousarray(method.components_.astype(float).T),
        "judging_components": np.ascontiguousarray(subspace.basis.T),
        "judging_components_transposed": np.ascontiguousarray(subspace.basis),
        "inverse_variances": 1 / np.maximum(subspace.floored_variances(), tiny),
        "score_cutoff": float(method.cutoffs_.score),
        "orthogonal_cutoff": float(method.cutoffs_.orthogonal),
        "group_steps": steps,
        "group_edges": edges,
        "last_axis": np.array([1]),
        "infinity": np.inf,
        "zero": 0.0,
        "one": 1,
        "minus_one": -1,
    }
