"""Save fitted models to files, and load them without running code.

A model file is an .npz archive of plain arrays with a `header.json`, which holds the
class, the parameters and the fitted attributes of every step of the model. `FITTED`
lists the values that attributes can have; `save` and `load` refuse all others.
"""

from __future__ import annotations

import copy
import hashlib
import io
import json
import os
import zipfile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from trueaxis import __version__
from trueaxis._files import atomic_write
from trueaxis._validation import make_rng, validate_n_components
from trueaxis.base import SubspaceEstimator, check_parameters
from trueaxis.cells.model import find_flaw
from trueaxis.core.law import Tail
from trueaxis.data.threads import ignore_float_errors
from trueaxis.data.transformed import largest_squarable
from trueaxis.methods import METHODS, ReweightedPCA
from trueaxis.pipeline import is_pipeline, split_pipeline
from trueaxis.preprocessing.encoder import TableEncoder
from trueaxis.preprocessing.scaler import ColumnScaler

FORMAT, VERSION, HEADER = "trueaxis model", 1, "header.json"
NUMBERS = "biuf"  # kinds of arrays: booleans, integers, floats


@ignore_float_errors
def save(model: Any, path: str | os.PathLike[str], *, training: bool = True) -> None:
    """Write a fitted model to a model file, or to an ONNX graph.

    An existing file is replaced once the new one is complete.

    Parameters
    ----------
    model : estimator or Pipeline
        Fitted method, `ColumnScaler` or `TableEncoder`, or a pipeline of them. Its
        parameters have to be plain values: no RandomState, and no function or class of
        your own as `rule`, which predictions do not need.
    path : str or path-like
        Used as given. If it ends in ".onnx", a graph for runtimes without Python is
        written, which takes the package onnx and cannot be loaded again.
    training : bool, default=True
        Whether a model file keeps the attributes that grow with the number of rows of
        the fit: `weights_`, `support_`, `low_rank_`, `sparse_` and `outlying_`. Without
        them the file is small, and predictions are the same.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import trueaxis
    >>> from trueaxis.datasets import planted
    >>> X = planted("ocs", share=0.3).X
    >>> model = trueaxis.DSWL(n_components=3).fit(X)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     trueaxis.save(model, Path(folder) / "model.npz")
    ...     loaded = trueaxis.load(Path(folder) / "model.npz")
    >>> bool((loaded.score_samples(X) == model.score_samples(X)).all())
    True
    """
    path, arrays = Path(os.fspath(path)), dict[str, NDArray[Any]]()
    named = model.steps if is_pipeline(model) else [(None, model)]
    graph = path.suffix.lower() == ".onnx"
    steps = [_in_memory(step, training and not graph) for _, step in named]
    if graph:
        from trueaxis._onnx import write_graph

        write_graph(split_pipeline(model), path)
        return
    states = []
    for i, ((name, _), step) in enumerate(zip(named, steps, strict=True)):
        prefix = f"{i}." if is_pipeline(model) else ""
        fitted = vars(step).keys() & (_fitted_names(type(step)) | NOT_NEEDED)
        states.append(
            {
                "name": name,
                "class": type(step).__name__,
                "parameters": _encode_all(step.get_params(deep=False), prefix, arrays),
                "fitted": _encode_all(
                    {each: vars(step)[each] for each in sorted(fitted)}, prefix, arrays
                ),
            }
        )
    header = {"format": FORMAT, "version": VERSION, "trueaxis": __version__}
    text = json.dumps(header | {"steps": states}, indent=1)
    contents = {HEADER: text.encode()}
    for name, array in arrays.items():
        npy = io.BytesIO()
        np.lib.format.write_array(npy, array, (1, 0), allow_pickle=False)
        contents[f"{name}.npy"] = npy.getvalue()
    # No time stamps, so that the same model gives the same file, and no compression, so
    # that no file can expand beyond its size.
    with atomic_write(path) as file, zipfile.ZipFile(file, "w") as archive:
        for name, content in contents.items():
            archive.writestr(zipfile.ZipInfo(name), content)
        archive.comment = digest(contents)


@ignore_float_errors
def load(path: str | os.PathLike[str]) -> Any:
    """Load a model that `save` wrote; see there for an example.

    No code in the file is run: it holds numbers and text, and only attributes that a
    fitted model of the class can have are accepted, with values that a fit can lead to.
    A consistent forgery, such as another valid model, is not detected. A file that is
    no intact model file is refused with a ValueError.

    Parameters
    ----------
    path : str or path-like
        Used as given.

    Returns
    -------
    estimator or Pipeline
        Fitted; it transforms and predicts exactly as the saved one did.
    """
    path = Path(os.fspath(path))
    try:
        return _read(path)
    except OSError:  # there is no such file, or the disk fails
        raise
    except Exception as error:  # zipfile, json and NumPy raise anything for odd bytes
        raise ValueError(
            f"{path} is not an intact trueaxis model file: {error!s:.300} "
            f"({type(error).__name__}). Copy it again, or save the model again."
        ) from error


# ------------------------------------------------------------- values that fits lead to

INF, LARGEST = float("inf"), float(np.finfo(np.float64).max)
TINY = float(np.finfo(np.float64).tiny)


class Values(NamedTuple):
    """The values that a fitted attribute can have: kind of dtype, shape and range.

    Sizes are numbers, or letters if attributes share them: D columns, k components, n
    rows of the fit, d columns that a scaler or encoder returns. NaN is in no range.
    """

    kind: str
    shape: tuple[str | int, ...] = ()
    low: float = -LARGEST
    high: float = LARGEST

    def check(self, name: str, value: Any, sizes: dict[str, int]) -> None:
        """Raise if a value is not one of these; store sizes that are not known yet."""
        array = np.asarray(value)
        fits = (
            isinstance(value, np.ndarray if self.shape else (int, float, np.generic))
            and array.dtype.kind == self.kind
            and (self.kind != "f" or array.dtype.itemsize in (4, 8))
            and array.ndim == len(self.shape)
            and all(
                n == (size if isinstance(size, int) else sizes.setdefault(size, n))
                for size, n in zip(self.shape, array.shape, strict=True)
            )
        )
        if fits and self.kind in "if":
            fits = bool(((array >= self.low) & (array <= self.high)).all())
        if not fits:
            shape = tuple(sizes.get(str(size), size) for size in self.shape)
            raise ValueError(
                f"{name} is {value!r:.60} of shape {array.shape!s:.60}, but {shape} is "
                f"expected, with values from {self.low:.4g} to {self.high:.4g}"
            )


# The first two give sizes to the others. Numbers that are not listed can be any.
FITTED = {
    "n_features_in_": Values("i", (), 1),
    "n_components_": Values("i", (), 0),
    "feature_names_in_": Values("O", ("D",)),
    "components_": Values("f", ("k", "D"), -1.001, 1.001),
    "mean_": Values("f", ("D",)),
    "explained_variance_": Values("f", ("k",), 0),
    "explained_variance_ratio_": Values("f", ("k",), 0, 1.001),
    "noise_variance_": Values("f", (), 0),
    "n_samples_": Values("f", (), 1),
    "weights_": Values("f", ("n",), 0, 1.001),
    "support_": Values("b", ("n",)),
    "offset_": Values("f", (), high=0),
    "n_iter_": Values("i", (), 0),
    "converged_": Values("b"),
    "_total_variance": Values("f", (), TINY),
    "_tails": Values("f", (2, 3)),
    "_sides": Values("f", ("groups", "D + 2")),
    "_n_judging": Values("i"),
    "feature_weights_": Values("f", ("D",), 0),
    "low_rank_": Values("f", ("n", "D")),
    "sparse_": Values("f", ("n", "D")),
    "outlying_": Values("f", ("n", "D")),
    "center_": Values("f", ("d",)),
    "unit_": Values("f", ("d",), TINY),
}
ANY_NUMBER = Values("f", (), -INF, INF)
# These grow with the number of rows of the fit, and are not needed to predict.
TRAINING = {"weights_", "support_", "low_rank_", "sparse_", "outlying_"}
NOT_NEEDED = {*TRAINING, "feature_names_in_"}


def _fitted_names(cls: Any) -> set[str]:
    """Return the attributes that fitting a class sets; a file may set no others."""
    if issubclass(cls, SubspaceEstimator):
        names = {*SubspaceEstimator.__annotations__, *cls._own_attributes}
        return {*names, "n_features_in_"} - {"cutoffs_"}  # which others lead to
    names = {"n_features_in_", "center_", "unit_"}
    encoding = {"columns_", "categories_", "log_", "scale_", "left_out_", "notes_"}
    return names | encoding if cls is TableEncoder else names


def _check_step(step: Any) -> None:
    """Raise if a step cannot be the result of a fit."""
    values, sizes = vars(step), dict[str, int]()
    own = {*getattr(step, "_own_attributes", ())} - {"tau_", "_cells"}
    for name in [*FITTED, *sorted(own - FITTED.keys())]:
        value = values.get(name)
        if name in values and not (value is None and name in own):
            FITTED.get(name, ANY_NUMBER).check(name, value, sizes)
        if name == "n_features_in_":
            sizes |= {"D": values[name], "D + 2": values[name] + 2}
        elif name == "n_components_":
            sizes |= {"k": values.get(name, 0)}
    names = values.get("feature_names_in_", ())
    if len({*names}) < len(names) or not all(isinstance(each, str) for each in names):
        raise ValueError("feature_names_in_ are not different strings")
    if isinstance(step, SubspaceEstimator):
        _check_method(step)
        validate_n_components(step.n_components, *[step.n_features_in_] * 2)
        make_rng(step.random_state)
        check_parameters(step)
    else:
        step._check()


def _check_method(model: Any) -> None:
    """Raise if attributes that each can be those of a fit contradict each other."""
    axes, mean, sides = model.components_.astype(float), model.mean_, model._sides
    off = np.abs(axes @ axes.T - np.eye(len(axes)))
    tails = [Tail(*map(float, tail)) for tail in model._tails]
    tau, cells = getattr(model, "tau_", ()), getattr(model, "_cells", {})
    wrong = {
        # Half the digits: all axes are orthonormal up to a few roundings.
        "components_": (off > np.finfo(model.components_.dtype).eps ** 0.5).any(),
        # Twice, because rounding may lead just beyond the largest row.
        "mean_": (np.abs(mean) > 2 * largest_squarable(mean.dtype)).any(),
        "_n_judging": not min(1, len(axes)) <= model._n_judging <= len(axes),
        "_tails": not all(tail.is_valid() for tail in tails),
        "_sides": (sides[:, -1] == sides[:, -2]).any()
        or not sides[:, :-2].any(axis=1).all(),
        "history_": any(
            not name.isidentifier() or np.isnan(part).any()
            for name, part in model.history_.items()
        ),
        "tau_": type(tau) is not tuple or not all(each >= 0 for each in tau),
        "_cells": len(cells) > 0 and find_flaw(cells, model.n_features_in_),
    }
    for name, found in wrong.items():
        if found:
            raise ValueError(f"{name} cannot be the result of a fit: fit again")


# --------------------------------------------------------------------- write and read


def _classes() -> dict[str, Any]:
    """Return the classes of steps by name."""
    classes = (*METHODS.values(), ReweightedPCA, ColumnScaler, TableEncoder)
    return {cls.__name__: cls for cls in classes}


def _in_memory(step: Any, training: bool) -> Any:
    """Return a copy of a fitted step with the attributes that a file keeps."""
    cls = type(step)
    if _classes().get(cls.__name__) is not cls:
        raise TypeError(
            f"A {cls.__name__} cannot be saved: pass a fitted method of trueaxis, a "
            "ColumnScaler, a TableEncoder, or a pipeline of them."
        )
    check_is_fitted(step, sorted(_fitted_names(cls) - NOT_NEEDED))
    step = copy.copy(step)
    for name in vars(step).keys() & (set() if training else TRAINING):
        delattr(step, name)
    _check_step(step)
    return step


def _decode_step(state: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Any:
    cls = _classes()[state["class"]]
    step = cls(**{k: _decode(v, arrays) for k, v in state["parameters"].items()})
    fitted = {name: _decode(v, arrays) for name, v in state["fitted"].items()}
    known = _fitted_names(cls)
    odd = (fitted.keys() - known - NOT_NEEDED) | (known - NOT_NEEDED - fitted.keys())
    if odd:  # other names could replace methods
        raise ValueError(f"{cls.__name__} lacks, or does not have, {sorted(odd)}")
    vars(step).update(fitted)
    _check_step(step)
    if isinstance(step, SubspaceEstimator):
        step._set_threshold(step.offset_)
    return step


def _encode(value: Any, name: str, arrays: dict[str, NDArray[Any]]) -> Any:
    """Return a value for JSON, with other types than its own as {type: content}.

    Arrays are put beside it, under their names.
    """
    kind = type(value)
    if value is None or kind in (bool, int, float, str):
        return value
    if kind is list:
        return [_encode(item, f"{name}.{i}", arrays) for i, item in enumerate(value)]
    if kind is tuple:
        return {"tuple": _encode([*value], name, arrays)}
    if kind is dict:
        return {"dict": _encode_all(value, f"{name}.", arrays)}
    if isinstance(value, (np.ndarray, np.generic)):
        if value.dtype.kind in NUMBERS:
            arrays[name] = np.asarray(value)
            return {"array": name}
        if all(isinstance(item, str) for item in np.ravel(value)):
            return {"names": [str(item) for item in np.ravel(value)]}
    raise TypeError(
        f"The parameter {name} cannot be saved: {value!r:.80} is a {kind.__name__}, "
        "and model files hold only numbers and text. Predictions do not need it: save "
        "after set_params with another value, such as None."
    )


def _encode_all(
    values: dict[str, Any], prefix: str, arrays: dict[str, NDArray[Any]]
) -> dict[str, Any]:
    return {k: _encode(v, f"{prefix}{k}", arrays) for k, v in values.items()}


def _decode(value: Any, arrays: dict[str, NDArray[Any]]) -> Any:
    if type(value) is list:
        return [_decode(item, arrays) for item in value]
    if type(value) is not dict:
        return value
    match value:
        case {"array": str(name)}:
            return arrays[name] if arrays[name].ndim else arrays[name][()]
        case {"names": list(names)}:
            return np.array(names, dtype=object)
        case {"tuple": list(items)}:
            return tuple(_decode(items, arrays))
        case {"dict": dict(parts)}:
            return {key: _decode(part, arrays) for key, part in parts.items()}
    raise ValueError(f"a value is of the unknown kind {value!r:.60}")


def digest(contents: dict[str, bytes]) -> bytes:
    """Return the checksum of all members of a file."""
    return hashlib.sha256(b"".join(contents.values())).hexdigest().encode()


def _read(path: Path) -> Any:
    with zipfile.ZipFile(path) as archive:
        members = archive.infolist()
        names = {member.filename for member in members}
        total = sum(member.file_size for member in members)
        if len(names) < len(members) or any(each.compress_type for each in members):
            raise ValueError("a member is compressed, or there twice")
        if total > path.stat().st_size:
            raise ValueError(f"its members claim {total:,} bytes, more than it has")
        contents = {name: archive.read(name) for name in archive.namelist()}
    if archive.comment != digest(contents):
        raise ValueError("it was changed, or not written by save")
    header = json.loads(contents.pop(HEADER))
    if (header["format"], header["version"]) != (FORMAT, VERSION):
        raise ValueError(f"format {VERSION} is expected: upgrade, or fit again")
    arrays = {
        name.removesuffix(".npy"): _read_array(content)
        for name, content in contents.items()
    }
    steps = [_decode_step(each, arrays) for each in header["steps"]]
    if not steps:
        raise ValueError("it has no steps")
    called = [each["name"] for each in header["steps"]]
    if called == [None]:
        return steps[0]
    from sklearn.pipeline import Pipeline

    pipeline = Pipeline([*zip(called, steps, strict=True)])
    pipeline._validate_names(called)
    return pipeline


def _read_array(data: bytes) -> NDArray[Any]:
    file = io.BytesIO(data)
    if np.lib.format.read_magic(file) != (1, 0):
        raise ValueError("an array has another version of .npy")
    shape, fortran, dtype = np.lib.format.read_array_header_1_0(file)
    if dtype.kind not in NUMBERS:
        raise ValueError(f"an array has dtype {dtype!s:.40} instead of numbers")
    # A view of the bytes: nothing is allocated for what a shape only claims.
    array = np.ndarray(shape, dtype, data, file.tell(), order="F" if fortran else "C")
    if dtype.kind == "b":
        array = array.view("u1") != 0
    return array.astype(dtype.newbyteorder("="))
