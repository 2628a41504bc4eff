"""Build ONNX graphs from nodes and constants, for `onnx_export`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trueaxis import __version__

# Versions from 2022, supported by onnxruntime 1.12 and later. No newer operator is
# needed, and runtimes reject files with newer versions than their own.
OPSET, IR_VERSION = 17, 8
PER_ROW = ("score_distance", "orthogonal_distance", "outlier_score")


class Graph:
    """Nodes and constants of a graph under construction.

    Parameters
    ----------
    onnx : module
        The package, an optional dependency.
    dtype : dtype
        Type of all floating-point numbers.
    """

    def __init__(self, onnx: Any, dtype: np.dtype[Any]) -> None:
        self.onnx = onnx
        self.dtype = dtype
        self.kind = _kind(onnx, dtype)
        self.nodes: list[Any] = []
        self.constants: dict[str, NDArray[Any]] = {}

    def add(
        self, kind: str, inputs: list[str], output: str = "", **settings: Any
    ) -> str:
        """Add a node, and return the name of its output."""
        output = output or f"{kind.lower()}_{len(self.nodes)}"
        make = self.onnx.helper.make_node
        self.nodes.append(make(kind, inputs, [output], name=output, **settings))
        return output

    def constant(self, name: str, value: ArrayLike, dtype: Any = None) -> str:
        """Add a constant, and return its name."""
        value = np.asarray(value)
        with np.errstate(over="ignore", under="ignore"):
            constant = value.astype(self.dtype if dtype is None else dtype)
        self._refuse_lost(name, value, np.isinf(constant) & ~np.isinf(value))
        self.constants[name] = constant
        return name

    def subtract(self, rows: str, name: str, center: NDArray[Any]) -> str:
        """Subtract a center from the rows; in float32, in two parts.

        The first difference is exact near the center, so no more digits are lost than
        the rows themselves have lost.
        """
        rest = center.astype(float) - self.constants[self.constant(name, center)]
        rows = self.add("Sub", [rows, name])
        if not rest.any():
            return rows
        return self.add("Sub", [rows, self.constant(f"{name}_rest", rest)])

    def divide(self, rows: str, name: str, by: ArrayLike) -> str:
        """Divide rows by positive numbers."""
        by = np.asarray(by)
        self._refuse_lost(name, by, self.constants[self.constant(name, by)] == 0)
        return self.add("Div", [rows, name])

    def row_sums(self, table: str) -> str:
        """Sum every row over its columns."""
        last = self.constant("last_axis", [1], np.int64)
        return self.add("ReduceSum", [table, last], keepdims=0)

    def model(
        self, shape: tuple[int, ...], metadata: dict[str, str], description: str
    ) -> Any:
        """Return the finished model.

        Parameters
        ----------
        shape : (k, D)
            Number of components and of columns.
        metadata : dict
        description : str
            Text for readers of the file.

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
                for name, array in self.constants.items()
            ],
        )
        proto = helper.make_model(
            graph,
            producer_name="trueaxis",
            producer_version=__version__,
            opset_imports=[helper.make_opsetid("", OPSET)],
            ir_version=IR_VERSION,
            doc_string=description,
        )
        helper.set_model_props(proto, metadata)
        return proto

    def _refuse_lost(self, name: str, value: NDArray[Any], lost: NDArray[Any]) -> None:
        if lost.any():
            raise ValueError(
                f"The number {value[lost].ravel()[0]:.2g} in {name} is beyond what "
                f'{self.dtype} can hold: use dtype="float64", or fit on rows in '
                "another unit."
            )


def _kind(onnx: Any, dtype: np.dtype[Any]) -> int:
    return int(onnx.helper.np_dtype_to_tensor_dtype(dtype))
