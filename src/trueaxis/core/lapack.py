"""Call LAPACK so that other threads go on, and signals are heard, while it computes.

`scipy.linalg.eigh` holds the lock of the interpreter until it is done, which takes ten
seconds for 5000 columns. The routine itself is the same.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

# Arguments of dsyevr: three letters, and integers and floats.
_KINDS = "ccciFiFFiiFiFFiiFiiii"


_POINTERS = {"c": "char *", "i": "int *", "F": "_d *"}


def leading_eigen(
    A: NDArray[np.float64], k: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the k largest eigenvalues, in rising order, and eigenvectors as columns.

    There may be fewer eigenvectors: LAPACK leaves some out if many values are equal.

    Parameters
    ----------
    A : ndarray of shape (D, D)
        Of which the upper triangle is read. It may be overwritten.
    k : int
    """
    D = len(A)
    routine = _dsyevr()
    if routine is None:
        values, vectors = scipy.linalg.eigh(
            A, subset_by_index=[D - k, D - 1], lower=False, overwrite_a=True,
            check_finite=False,
        )  # fmt: skip
        return values, vectors
    matrix = np.array(A, dtype=float, order="F")
    values, vectors = np.empty(D), np.empty((D, k), order="F")
    support = np.empty(2 * k, dtype=np.intc)
    found, info = ctypes.c_int(), ctypes.c_int()

    def call(work: NDArray[Any], integers: NDArray[Any], *sizes: int) -> None:
        zero = ctypes.c_double(0.0)
        routine(
            b"V", b"I", b"U", _integer(D), _address(matrix), _integer(D),
            ctypes.byref(zero), ctypes.byref(zero), _integer(D - k + 1), _integer(D),
            ctypes.byref(zero), ctypes.byref(found), _address(values),
            _address(vectors), _integer(D), _address(support),
            _address(work), _integer(sizes[0]),
            _address(integers), _integer(sizes[1]), ctypes.byref(info),
        )  # fmt: skip

    work, integers = np.empty(1), np.empty(1, dtype=np.intc)
    call(work, integers, -1, -1)  # asks for the best sizes
    work = np.empty(int(work[0]))
    integers = np.empty(int(integers[0]), dtype=np.intc)
    call(work, integers, len(work), len(integers))
    if info.value:
        raise np.linalg.LinAlgError(f"dsyevr failed with info {info.value}.")
    return values[: found.value], vectors[:, : found.value]


def _integer(number: int) -> Any:
    return ctypes.byref(ctypes.c_int(number))


def _address(array: NDArray[Any]) -> int:
    return array.ctypes.data


@cache
def _dsyevr() -> Callable[..., None] | None:
    """Return the routine that SciPy offers to Cython; None if it looks different."""
    from scipy.linalg import cython_lapack

    capsule = getattr(cython_lapack, "__pyx_capi__", {}).get("dsyevr")
    api = ctypes.pythonapi
    name_of, pointer_of = api.PyCapsule_GetName, api.PyCapsule_GetPointer
    name_of.restype, name_of.argtypes = ctypes.c_char_p, [ctypes.py_object]
    pointer_of.restype = ctypes.c_void_p
    pointer_of.argtypes = [ctypes.py_object, ctypes.c_char_p]
    signature: bytes = name_of(capsule) if capsule is not None else b""
    # Builds of SciPy with 64-bit integers call them otherwise.
    arguments = signature.decode().removeprefix("void (").removesuffix(")").split(", ")
    # The name of the type of floats has a prefix of Cython's.
    kinds = ["_d *" if name.endswith("_d *") else name for name in arguments]
    if kinds != [_POINTERS[kind] for kind in _KINDS]:
        return None
    types = [ctypes.c_char_p if kind == "c" else ctypes.c_void_p for kind in _KINDS]
    return ctypes.CFUNCTYPE(None, *types)(pointer_of(capsule, signature))
