"""Model files: a fitted model as a header of plain values and arrays, and back.

`values` turns parameters into JSON; only what a fitted model of the class can have is
accepted on the way back.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from trueaxis import __version__
from trueaxis._persistence.archive import ModelFileError, damaged
from trueaxis._persistence.json_values import decode, encode
from trueaxis._rows.dask.collections import is_dask, pulled
from trueaxis.estimators import METHODS, ReweightedPCA
from trueaxis.estimators.base import Distances, SubspaceEstimator
from trueaxis.estimators.pipeline import SplitPipeline, join_pipeline, split_pipeline
from trueaxis.estimators.scaler import HOW, ColumnScaler

HISTORY = "history_."  # its arrays are flattened under such names
SCALING = "scaling."  # of the scaler before the method

CLASSES: dict[str, Any] = METHODS | {"reweighted-pca": ReweightedPCA}
# As long as the training data, and not needed for new rows.
TRAINING = {"weights_", "support_", "low_rank_", "sparse_", "outlying_"}
COMMON = {"n_features_in_", *SubspaceEstimator.__annotations__}
# An attribute that is new in a later version must not be required of older files.
REQUIRED = COMMON - TRAINING
# What a method learns beyond that; no other name is ever set from a file.
OWN = {
    "dswl": {"objective_", "tau_", "trust_"},
    "r1-pca": {"c_"},
    "angle-pca": {"gamma_"},
    "rwl-an": {"q_"},
    "t-rpca": {"q_"},
    "drpca": {"q_"},
    "rpca-rp": {"q_"},
    "rspca": {"sigma_"},
    "two-way": {"feature_weights_"},
    "pcp": {"low_rank_", "sparse_", "lam_"},
    "spcp": {"low_rank_", "sparse_", "lam_", "sigma_"},
    "rrpcp": {"low_rank_", "sparse_", "outlying_", "lam_", "sigma_", "gam_"},
}


def to_parts(
    model: Any, training: bool
) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Header and arrays of a fitted method, or of a scaler and a method."""
    scaler, model = checked(model)
    name = _class_name(model)
    values, arrays = _learnt(model, name, training)
    names = getattr(model, "feature_names_in_", None)
    names = None if names is None else [str(each) for each in names]
    misfit = _misfit(vars(model), names)
    if misfit:
        raise ValueError(
            f"The model is not of one fit: {misfit}. A later fit may have failed, or "
            "an attribute was changed: fit it again."
        )
    header = {
        "class": name,
        "parameters": _parameters(model),
        "feature_names": names,
        "attributes": values,
    }
    if scaler is not None:
        header["scaling"] = scaler.how
        arrays |= {SCALING + "centre": scaler.center_, SCALING + "unit": scaler.unit_}
    return header, arrays


def checked(model: Any) -> SplitPipeline:
    """Take a model apart whose parts are fitted, of known classes, and of one fit."""
    scaler, method = parts = split_pipeline(model)
    _class_name(method)
    check_is_fitted(method, sorted(REQUIRED))
    if scaler is None:
        return parts
    check_is_fitted(scaler, "unit_")
    if scaler.n_features_in_ != method.n_features_in_:
        raise ValueError(
            f"The ColumnScaler knows {scaler.n_features_in_} columns and the "
            f"{type(method).__name__} {method.n_features_in_}: they are not of one "
            "fit. Fit the pipeline."
        )
    return parts


def from_parts(header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Any:
    """The method, or pipeline of scaler and method, that header and arrays tell."""
    scaler = _scaler(header, arrays)
    model = _model(header, arrays)
    if scaler is not None:
        # The scaler meets the frames, and hands plain arrays to the method.
        _move_names(model, scaler)
    return join_pipeline(scaler, model)


# ---------------------------------------------------------------- model to header


def _class_name(model: Any) -> str:
    for name, cls in CLASSES.items():
        if type(model) is cls:
            return name
    raise TypeError(
        f"The model is a {type(model).__name__}, which is not one of trueaxis: pass a "
        "fitted estimator of a class in trueaxis.METHODS or a ReweightedPCA, or a "
        "pipeline of a ColumnScaler and one of them."
    )


def _parameters(model: Any) -> dict[str, Any]:
    defaults, encoded = type(model)().get_params(deep=False), {}
    for name, value in model.get_params(deep=False).items():
        try:
            encoded[name] = encode(value)
        except TypeError as error:
            raise TypeError(
                f"The parameter {name} cannot be saved: {error}, and a model file "
                "holds numbers, text and trueaxis's own rules, but neither code nor "
                "the state of a generator. A fitted model does not need it: save after "
                f"model.set_params({name}={defaults[name]!r}), and set it again to fit."
            ) from None
    return encoded


def _learnt(
    model: Any, name: str, training: bool
) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Fitted attributes: encoded values, and arrays."""
    values: dict[str, Any] = {}
    arrays: dict[str, NDArray[Any]] = {}
    for key, value in vars(model).items():
        if not _is_learnt(key) or (key in TRAINING and not training):
            continue
        if is_dask(value):
            value = pulled(value, key)
        if key not in COMMON | OWN.get(name, set()):
            raise ValueError(
                f"The model has an attribute {key}, which fitting a "
                f"{type(model).__name__} does not set: delete it before saving."
            )
        if key == "history_":
            arrays |= {HISTORY + part: array for part, array in value.items()}
        elif isinstance(value, np.ndarray):
            arrays[key] = value
        else:
            values[key] = encode(value)
    return values, arrays


def _is_learnt(key: str) -> bool:
    if key == "feature_names_in_":  # has its own place in the header
        return False
    return key in COMMON or (key.endswith("_") and not key.startswith("_"))


# ---------------------------------------------------------------- header to model


def _model(header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Any:
    name = header.get("class")
    if not isinstance(name, str) or name not in CLASSES:
        raise ModelFileError(
            f"holds a model of class {name!r:.40}, which trueaxis {__version__} does "
            f"not have (the file is from {header.get('library_version')!s:.40}): "
            "upgrade trueaxis."
        )
    parameters, values = (_decoded(header, key) for key in ("parameters", "attributes"))
    cls = CLASSES[name]
    _refuse_unknown("parameters", parameters, set(cls._get_param_names()), cls)
    learnt = values | _gathered(arrays)
    _refuse_unknown("attributes", learnt, COMMON | OWN.get(name, set()), cls)
    misfit = _misfit(learnt, header.get("feature_names"))
    if misfit:
        raise damaged(misfit)
    model = cls(**parameters)
    for key, value in learnt.items():
        setattr(model, key, value)
    if header.get("feature_names") is not None:
        model.feature_names_in_ = np.array(header["feature_names"], dtype=object)
    return model


def _scaler(
    header: dict[str, Any], arrays: dict[str, NDArray[Any]]
) -> ColumnScaler | None:
    """Take the scaler out of a file, if it has one."""
    how = header.get("scaling")
    if how is None:
        return None
    if how not in HOW:
        raise damaged(f"it scales columns in an unknown way, {how!r:.40}")
    scaler = ColumnScaler(how)
    shape = arrays["mean_"].shape if "mean_" in arrays else None
    for name, attribute in (("centre", "center_"), ("unit", "unit_")):
        array = arrays.pop(SCALING + name, None)
        if array is None or array.shape != shape or array.dtype.kind != "f":
            raise damaged(f"it lacks the {name} of {shape!s:.40} columns")
        setattr(scaler, attribute, array)
    return scaler


def _move_names(model: Any, scaler: ColumnScaler) -> None:
    scaler.n_features_in_ = model.n_features_in_
    if hasattr(model, "feature_names_in_"):
        scaler.feature_names_in_ = model.feature_names_in_
        del model.feature_names_in_


def _decoded(header: dict[str, Any], key: str) -> dict[str, Any]:
    found = header.get(key)
    if not isinstance(found, dict):
        raise damaged(f"its header has no {key}")
    try:
        return {name: decode(value) for name, value in found.items()}
    except (ValueError, RecursionError) as error:
        raise damaged(f"among its {key} {error}") from error


def _gathered(arrays: dict[str, NDArray[Any]]) -> dict[str, Any]:
    """Attributes from arrays: those of the history become one again."""
    gathered: dict[str, Any] = {"history_": {}}
    for name, array in arrays.items():
        if name.startswith(HISTORY):
            gathered["history_"][name.removeprefix(HISTORY)] = array
        else:
            gathered[name] = array
    return gathered


def _refuse_unknown(
    what: str, found: dict[str, Any], known: set[str], cls: type
) -> None:
    # Other names could replace methods; they are never set.
    unknown = sorted(found.keys() - known)
    if unknown:
        raise ModelFileError(
            f"has {what} that {cls.__name__} of trueaxis {__version__} does not have, "
            f"such as {unknown[0]!r:.40}: upgrade trueaxis, or do not trust the file."
        )


def _misfit(learnt: dict[str, Any], names: Any) -> str | None:
    """What tells that attributes are not of one and the same fit."""
    missing = sorted(REQUIRED - learnt.keys())
    if missing:
        return f"it lacks {missing[0]}"
    k, D = learnt["n_components_"], learnt["n_features_in_"]
    wanted = {"components_": (k, D), "mean_": (D,), "explained_variance_": (k,)}
    for name, shape in wanted.items():
        if np.shape(learnt[name]) != shape:
            return f"{name} has shape {np.shape(learnt[name])}, not {shape!s:.80}"
    if not isinstance(learnt["cutoffs_"], Distances):
        return "cutoffs_ are no pair of distances"
    if names is None:
        return None
    texts = isinstance(names, list) and all(isinstance(name, str) for name in names)
    return None if texts and len(names) == D else f"it does not name {D} features"
