"""Build an ONNX graph: nodes, and the numbers they need; `onnx_export` draws it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trueaxis import __version__

# Of 2022, read by onnxruntime 1.12 and all later ones. No newer operator is needed, and
# runtimes refuse files that are newer than themselves.
OPSET, IR_VERSION = 17, 8
PER_ROW = ("score_distance", "orthogonal_distance", "outlier_score")


class Graph:
    """Nodes and numbers of a graph under construction.

    Parameters
    ----------
    onnx : module
        The package, which not everybody has.
    dtype : dtype
        Of all numbers with a fraction.
    """

    def __init__(self, onnx: Any, dtype: np.dtype[Any]) -> None:
        self.onnx = onnx
        self.dtype = dtype
        self.kind = _kind(onnx, dtype)
        self.nodes: list[Any] = []
        self.held: dict[str, NDArray[Any]] = {}

    def add(
        self, kind: str, inputs: list[str], output: str = "", **settings: Any
    ) -> str:
        """Add a node; return the name of its output."""
        output = output or f"{kind.lower()}_{len(self.nodes)}"
        make = self.onnx.helper.make_node
        self.nodes.append(make(kind, inputs, [output], name=output, **settings))
        return output

    def hold(self, name: str, value: ArrayLike, dtype: Any = None) -> str:
        """Numbers that are part of the graph; return their name."""
        value = np.asarray(value)
        with np.errstate(over="ignore", under="ignore"):
            held = value.astype(self.dtype if dtype is None else dtype)
        self._refuse_lost(name, value, np.isinf(held) & ~np.isinf(value))
        self.held[name] = held
        return name

    def minus(self, rows: str, name: str, centre: NDArray[Any]) -> str:
        """Rows about a centre, which float32 holds in two parts.

        The first difference is exact near the centre, so that no more is lost than the
        rows themselves have lost.
        """
        rest = centre.astype(float) - self.held[self.hold(name, centre)]
        rows = self.add("Sub", [rows, name])
        if not rest.any():
            return rows
        return self.add("Sub", [rows, self.hold(f"{name}_rest", rest)])

    def divide(self, rows: str, name: str, by: ArrayLike) -> str:
        """Rows over numbers above 0."""
        by = np.asarray(by)
        self._refuse_lost(name, by, self.held[self.hold(name, by)] == 0)
        return self.add("Div", [rows, name])

    def row_sums(self, table: str) -> str:
        """Sum over the columns."""
        last = self.hold("last_axis", [1], np.int64)
        return self.add("ReduceSum", [table, last], keepdims=0)

    def model(self, shape: tuple[int, ...], facts: dict[str, str], text: str) -> Any:
        """The whole, for k components of D columns.

        Parameters
        ----------
        shape : (k, D)
        facts : dict
            Metadata.
        text : str
            What people should read.

        Returns
        -------
        onnx.ModelProto
        """
        helper, (k, D) = self.onnx.helper, shape
        tensor = helper.make_tensor_value_info
        graph = helper.make_graph(
            self.nodes,
            "trueaxis",
            [tensor("X", self.kind, ["n", D])],
            [
                tensor("scores", self.kind, ["n", k]),
                *(tensor(name, self.kind, ["n"]) for name in PER_ROW),
                tensor("label", _kind(self.onnx, np.dtype(np.int64)), ["n"]),
            ],
            [
                self.onnx.numpy_helper.from_array(array, name)
                for name, array in self.held.items()
            ],
        )
        made = helper.make_model(
            graph,
            producer_name="trueaxis",
            producer_version=__version__,
            opset_imports=[helper.make_opsetid("", OPSET)],
            ir_version=IR_VERSION,
            doc_string=text,
        )
        helper.set_model_props(made, facts)
        return made

    def _refuse_lost(self, name: str, value: NDArray[Any], lost: NDArray[Any]) -> None:
        if lost.any():
            raise ValueError(
                f"The number {value[lost].ravel()[0]:.2g} in {name} is beyond what "
                f'{self.dtype} can hold: use dtype="float64", or fit on rows in '
                "another unit."
            )


def _kind(onnx: Any, dtype: np.dtype[Any]) -> int:
    return int(onnx.helper.np_dtype_to_tensor_dtype(dtype))
