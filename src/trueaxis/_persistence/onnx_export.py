"""Export a fitted model as an ONNX graph, for runtimes without Python.

The graph computes what `estimators.base` does: it centers and projects the rows,
measures both distances, and compares them with their cut-offs. It has no p-values:
ONNX lacks the gamma functions.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, Literal

import numpy as np

from trueaxis import __version__
from trueaxis._columns import quote
from trueaxis._engine.subspace import Subspace
from trueaxis._files import atomic_write
from trueaxis._persistence.model_state import split_fitted
from trueaxis._persistence.onnx_graph import Graph
from trueaxis._rows.threads import own_floats
from trueaxis._validation import validate_choice
from trueaxis.estimators.base import Distances
from trueaxis.estimators.encoder import TableEncoder
from trueaxis.estimators.scaler import ColumnScaler

DTYPES = ("float64", "float32")
LARGEST = 1e30  # variance; its reciprocal and squared distances also fit float32
DOC = """A fitted {class} of trueaxis {trueaxis_version} (scaling of columns: {scaler}).
Input X (rows x {columns}, {dtype}). Outputs: scores on the components; score_distance
inside the subspace in standard deviations, orthogonal_distance from it in the unit of
the rows; outlier_score, minus the larger distance over its cut-off; label, 1 for
regular rows and -1 for outliers: rows with an outlier_score below -1, or in a group
that stands apart (groups: {groups})."""


@own_floats
def export_onnx(
    model: Any,
    path: str | os.PathLike[str],
    *,
    dtype: Literal["float64", "float32"] = "float64",
) -> None:
    """Write a fitted model as an ONNX graph.

    The input `X` has shape (n, D), with any n. The outputs are `scores` of shape
    (n, k), which is what `transform` returns, and, of length n, `score_distance`,
    `orthogonal_distance`, `outlier_score` and `label` (`predict`, int64). The file is
    written atomically.

    `outlier_score` is minus the larger distance over its cut-off, so that -1 is on the
    line. It is not `score_samples`, which needs functions that ONNX lacks. Rows of a
    group that stands apart have the label -1 whatever their score.

    A graph can neither raise errors nor fill holes: a row with NaN gets NaN in all
    outputs and the label -1. Pass rows that `DSWL.impute` completed.

    Parameters
    ----------
    model : estimator or Pipeline
        Fitted estimator of a class in `trueaxis.METHODS`, a `ReweightedPCA`, or a
        pipeline of a `ColumnScaler` and one of them. A `TableEncoder` without
        categories and logarithms is possible as well: then `X` has only the columns
        that are analyzed, whose names are in the metadata.
    path : str or path-like
        Used as given; no ".onnx" is added.
    dtype : {"float64", "float32"}, default="float64"
        Type of the input, the outputs and all computations. "float32" is for runtimes
        without doubles: distances lose digits, and rows close to a cut-off may get the
        other label.

    Raises
    ------
    ImportError
        If the package onnx is not installed.
    TypeError
        For other classes and pipelines.
    NotFittedError, ValueError
        If the model is not fitted, if it repairs cells (DSWL with ``cells=True``) or
        encodes categories or logarithms, or if float32 is too coarse for it.

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
    onnx = _import_onnx()
    validate_choice("dtype", dtype, DTYPES)
    scaler, method = split_fitted(model)
    _refuse_encoded(scaler)
    _refuse_cells(method)
    subspace = method._subspace()
    if dtype == "float32":
        _refuse_if_too_coarse(subspace, method.cutoffs_)
    graph = Graph(onnx, np.dtype(dtype))
    _add_nodes(graph, scaler, subspace, method)
    metadata = _metadata(scaler, method, dtype)
    proto = graph.model(subspace.basis.shape, metadata, DOC.format_map(metadata))
    onnx.checker.check_model(proto, full_check=True)
    with atomic_write(Path(os.fspath(path))) as file:
        file.write(proto.SerializeToString(deterministic=True))


def _import_onnx() -> Any:
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
    """Raise if float32 cannot hold the variances or resolve the cut-offs."""
    if not subspace.variances.any():  # all rows are equal
        return
    total = subspace.total
    if not 1 / LARGEST < total < LARGEST:
        raise ValueError(
            f"The variance of the rows is {total:.2g}, but float32 needs one between "
            f"{1 / LARGEST:.0g} and {LARGEST:.0g}, so that squares stay exact: use "
            'dtype="float64", or fit on rows in another unit.'
        )
    # The same allowance for rounding as in the cut-offs of a fit on float32 rows.
    least = np.finfo(np.float32).eps ** 0.75 * np.sqrt(total)
    narrow = np.sqrt(subspace.floored_variances().min())
    for name, cut, limit in (
        ("orthogonal", cutoffs.orthogonal, least),
        ("score", cutoffs.score, least / narrow),
    ):
        if cut < limit:
            raise ValueError(
                f"The cut-off of the {name} distance is {cut:.2g}, but in float32 "
                f"distances below {limit:.2g} are only rounding errors: the rows lie "
                "in the subspace, or it has directions without variance. Use "
                'dtype="float64", fewer components, or fit on float32 rows, whose '
                "cut-offs allow for rounding."
            )


def _refuse_encoded(scaler: ColumnScaler | TableEncoder | None) -> None:
    """Raise if columns are not just scaled, which is all that the graph can do."""
    if not isinstance(scaler, TableEncoder):
        return
    encoded = [*scaler.categories_, *scaler.log_]
    if encoded:
        raise ValueError(
            f"The TableEncoder turns {quote(encoded, 3)} into indicators or "
            "logarithms, and an ONNX graph of this kind takes numbers as they are: "
            "export the method alone (the last step of the pipeline), and pass it the "
            "rows of TableEncoder.transform."
        )


def _refuse_cells(method: Any) -> None:
    """Raise if rows are repaired cell by cell, which takes rounds of decisions."""
    if "shares" in getattr(method, "_cells", {}):
        raise ValueError(
            "The model was fitted with cells=True: wrong cells are found in rounds "
            "that depend on the row, which an ONNX graph cannot do. Export a model "
            "fitted with cells=False on model.repair(X), or save this one with "
            "trueaxis.save."
        )


def _how(scaler: ColumnScaler | TableEncoder | None) -> str:
    if scaler is None:
        return "none"
    how = scaler.scale_ if isinstance(scaler, TableEncoder) else scaler.how
    return str(how)


def _metadata(
    scaler: ColumnScaler | TableEncoder | None, method: Any, dtype: str
) -> dict[str, str]:
    names = getattr(method, "feature_names_in_", None)
    names = None if names is None else [str(name) for name in names]
    return {
        "trueaxis_version": __version__,
        "class": type(method).__name__,
        "scaler": _how(scaler),
        "columns": str(method.n_features_in_),
        "components": str(method.n_components_),
        "dtype": dtype,
        "feature_names": json.dumps(names, ensure_ascii=False),
        "score_cutoff": repr(float(method.cutoffs_.score)),
        "orthogonal_cutoff": repr(float(method.cutoffs_.orthogonal)),
        "level": repr(float(10**method.offset_)),
        "groups": str(len(method._sides)),
    }


def _add_nodes(
    graph: Graph,
    scaler: ColumnScaler | TableEncoder | None,
    subspace: Subspace,
    method: Any,
) -> None:
    """Add the nodes from X to the label."""
    rows = "X"
    if scaler is not None:
        rows = graph.subtract(rows, "scaler_center", scaler.center_)
        rows = graph.divide(rows, "scaler_unit", scaler.unit_)
    # Center first: far from the origin, x P - m P would lose digits.
    y = graph.subtract(rows, "mean", subspace.mean)
    components = graph.constant("components", method.components_.astype(float))
    scores = graph.add("MatMul", [y, graph.add("Transpose", [components])], "scores")
    axes, t = components, scores
    if len(subspace.basis) < len(method.components_):  # rows are judged with fewer
        axes = graph.constant("judging_components", subspace.basis)
        t = graph.add("MatMul", [y, graph.add("Transpose", [axes])])

    # A floor of the graph's own type: 1e-308 is 0 in float32.
    floor = np.finfo(graph.dtype).tiny
    inverse = graph.constant(
        "inverse_variances", 1 / np.maximum(subspace.floored_variances(), floor)
    )
    s = graph.row_sums(graph.add("Mul", [graph.add("Mul", [t, t]), inverse]))
    score = graph.add("Sqrt", [s], "score_distance")

    # Not computed as |y|^2 - |t|^2, which loses all digits near the subspace.
    residual = graph.add("Sub", [y, graph.add("MatMul", [t, axes])])
    e = graph.row_sums(graph.add("Mul", [residual, residual]))
    # Rows too large to square give inf - inf: they are infinitely far. NaN stays NaN.
    lost = graph.add("IsNaN", [e])
    is_given = graph.add("Not", [_rows_with_nan(graph)])
    lost = graph.add("And", [lost, is_given])
    e = graph.add("Where", [lost, graph.constant("infinity", np.inf), e])
    orthogonal = graph.add("Sqrt", [e], "orthogonal_distance")

    ratios = [
        _ratio(graph, "score_cutoff", score, method.cutoffs_.score),
        _ratio(graph, "orthogonal_cutoff", orthogonal, method.cutoffs_.orthogonal),
    ]
    worst = graph.add("Neg", [graph.add("Max", ratios)])
    # Runtimes differ in whether the maximum of NaN and a number is NaN.
    unknown = graph.add("IsNaN", [graph.add("Add", ratios)])
    nan = graph.constant("unknown", np.nan)
    worst = graph.add("Where", [unknown, nan, worst], "outlier_score")
    regular = graph.add("GreaterOrEqual", [worst, graph.constant("line", -1.0)])
    if len(method._sides):
        apart = _rows_apart(graph, y, subspace, method)
        regular = graph.add("And", [regular, graph.add("Not", [apart])])
    one, minus_one = (
        graph.constant(name, value, np.int64)
        for name, value in (("regular", 1), ("outlier", -1))
    )
    graph.add("Where", [regular, one, minus_one], "label")


def _rows_apart(graph: Graph, y: str, subspace: Subspace, method: Any) -> str:
    """Add nodes that find the rows of groups that stand apart, given centered rows."""
    law = method._law()
    sides, limit = law.sides, law.cuts(method.offset_ * float(np.log(10.0))).beyond
    # From the center of the model: far from the origin, float32 would lose digits.
    room = sides.edges - sides.centers
    steps = sides.directions / room[:, None]
    start = (sides.centers - sides.directions @ subspace.mean) / room
    places = graph.add("MatMul", [y, graph.constant("group_steps", steps.T)])
    beyond = graph.add(
        "Greater", [places, graph.constant("group_edges", start + limit)]
    )
    count = graph.row_sums(graph.add("Cast", [beyond], to=graph.kind))
    return graph.add("Greater", [count, graph.constant("zero", 0.0)])


def _rows_with_nan(graph: Graph) -> str:
    """Add nodes that find the rows with any NaN."""
    is_nan = graph.add("Cast", [graph.add("IsNaN", ["X"])], to=graph.kind)
    return graph.add("Greater", [graph.row_sums(is_nan), graph.constant("zero", 0.0)])


def _ratio(graph: Graph, name: str, distance: str, cutoff: float) -> str:
    """Divide by a cut-off; distances above a cut-off of 0 become infinite."""
    if graph.dtype.type(cutoff) > 0:
        return graph.divide(distance, name, cutoff)
    zero, infinity = graph.constant("zero", 0.0), graph.constant("infinity", np.inf)
    beyond = graph.add("Greater", [distance, zero])
    return graph.add("Where", [beyond, infinity, zero])
