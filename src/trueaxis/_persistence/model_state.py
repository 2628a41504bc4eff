"""Turn a fitted model into a header of plain values and arrays, and back.

`json_values` encodes the parameters. On the way back only parameters and attributes
that a fitted model of the class can have are accepted, with values that `fitted_checks`
describes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from trueaxis import __version__
from trueaxis._persistence import archive
from trueaxis._persistence.archive import ModelFileError, damaged
from trueaxis._persistence.encoder_state import encoder_from_parts, encoder_to_parts
from trueaxis._persistence.fitted_checks import FLOATS, find_mismatch
from trueaxis._persistence.json_values import decode, encode
from trueaxis.base import Method, SubspaceEstimator, check_parameters
from trueaxis.data.dask.collections import compute_vector, is_dask
from trueaxis.estimators.encoder import TableEncoder
from trueaxis.estimators.scaler import HOW, ColumnScaler
from trueaxis.methods import METHODS, ReweightedPCA
from trueaxis.pipeline import SplitPipeline, join_pipeline, split_pipeline

# Attributes that are dicts of arrays. Their arrays are saved as "history_.change" etc.
DICTS = ("history_", "_cells")
# Arrays of the scaler before the method, and their attributes. The names on the left
# are part of the file format.
SCALER_ARRAYS = {"scaling.center": "center_", "scaling.unit": "unit_"}

CLASSES: dict[str, Any] = METHODS | {"reweighted-pca": ReweightedPCA}
# These grow with the number of training samples, and are not needed to predict.
TRAINING = {"weights_", "support_", "low_rank_", "sparse_", "outlying_"}
COMMON = {"n_features_in_", *SubspaceEstimator.__annotations__}
REQUIRED = COMMON - TRAINING


# Of a header. An entry that is not read could change what all others mean.
KEYS = {*archive.KEYS, "class", "parameters", "feature_names", "attributes"}
KEYS |= {"scaling", "encoding"}


def known_attributes(cls: type[Method]) -> set[str]:
    """Return the fitted attributes of a method; a file may set no others."""
    return COMMON | cls._own_attributes


def to_parts(
    model: Any, training: bool
) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return header and arrays of a fitted method, alone or after a first step."""
    scaler, model = split_fitted(model)
    name = _class_name(model)
    attributes = _fitted_attributes(model, training)
    values, arrays = _flatten(attributes)
    names = getattr(model, "feature_names_in_", None)
    names = None if names is None else [str(each) for each in names]
    mismatch = find_mismatch(attributes, names)
    if mismatch:
        raise ValueError(
            f"The attributes of the model do not come from one fit: {mismatch}. A "
            "later fit may have failed, or an attribute was changed: fit the model "
            "again."
        )
    header = {
        "class": name,
        "parameters": _parameters(model),
        "feature_names": names,
        "attributes": values,
    }
    if isinstance(scaler, TableEncoder):
        header["encoding"], encoder_arrays = encoder_to_parts(scaler)
        arrays |= encoder_arrays
    elif scaler is not None:
        header["scaling"] = scaler.how
        arrays |= {key: getattr(scaler, name) for key, name in SCALER_ARRAYS.items()}
    return header, arrays


def split_fitted(model: Any) -> SplitPipeline:
    """Split a model; check that its parts are from trueaxis and fitted together."""
    scaler, method = parts = split_pipeline(model)
    _class_name(method)
    check_is_fitted(method, sorted(REQUIRED))
    if scaler is None:
        return parts
    check_is_fitted(scaler, "unit_")
    if len(scaler.unit_) != method.n_features_in_:
        returns = isinstance(scaler, TableEncoder)
        raise ValueError(
            f"The {type(scaler).__name__} {'returns' if returns else 'was fitted on'} "
            f"{len(scaler.unit_)} columns, but the {type(method).__name__} "
            f"{'was fitted ' if returns else ''}on {method.n_features_in_}: they were "
            "not fitted together. Fit the pipeline."
        )
    return parts


def from_parts(header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Any:
    """Return the method, or the pipeline of first step and method."""
    unknown = sorted(header.keys() - KEYS)
    if unknown:
        raise ModelFileError(
            f"has entries that trueaxis {__version__} does not know, such as "
            f"{unknown[0]!r:.40}: upgrade trueaxis, or do not trust the file."
        )
    if header.get("encoding") is not None:
        encoder = encoder_from_parts(header["encoding"], arrays)
        model = _read_model(header, arrays)
        if len(encoder.unit_) != model.n_features_in_:
            raise damaged(
                f"its encoder returns {len(encoder.unit_)} columns, but its method was "
                f"fitted on {model.n_features_in_}"
            )
        vars(model).pop("feature_names_in_", None)  # it gets plain arrays
        return join_pipeline(encoder, model)
    scaler = _read_scaler(header, arrays)
    model = _read_model(header, arrays)
    if scaler is not None:
        # The scaler sees the data frame, and passes a plain array to the method.
        _move_names(model, scaler)
    return join_pipeline(scaler, model)


# ---------------------------------------------------------------- model to header


def _class_name(model: Any) -> str:
    for name, cls in CLASSES.items():
        if type(model) is cls:
            return name
    raise TypeError(
        f"The model is a {type(model).__name__}, which is not an estimator of "
        "trueaxis: pass a fitted estimator of a class in trueaxis.methods.METHODS or a "
        "ReweightedPCA, or a pipeline of a ColumnScaler or a TableEncoder and one of "
        "them."
    )


def _parameters(model: Any) -> dict[str, Any]:
    check_parameters(model)  # as `load` does
    defaults, encoded = type(model)().get_params(deep=False), {}
    for name, value in model.get_params(deep=False).items():
        try:
            encoded[name] = encode(value)
        except TypeError as error:
            raise TypeError(
                f"The parameter {name} cannot be saved: {error}, but model files hold "
                "only numbers, text and the rules of trueaxis, and neither code nor "
                "the state of a generator. Predictions do not need it: save after "
                f"model.set_params({name}={defaults[name]!r}), and set it again before "
                "the next fit."
            ) from None
    return encoded


def _fitted_attributes(model: Any, training: bool) -> dict[str, Any]:
    """Return the fitted attributes that are saved."""
    attributes = {}
    # In one order, whatever that of a file was from which the model was loaded.
    for key, value in sorted(vars(model).items()):
        if not _is_fitted_attribute(key) or (key in TRAINING and not training):
            continue
        if key not in known_attributes(type(model)):
            raise ValueError(
                f"The model has an attribute {key}, which fitting a "
                f"{type(model).__name__} does not set: delete it before saving."
            )
        attributes[key] = compute_vector(value, key) if is_dask(value) else value
    return attributes


def _flatten(
    attributes: dict[str, Any],
) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return encoded values, and arrays."""
    values: dict[str, Any] = {}
    arrays: dict[str, NDArray[Any]] = {}
    for key, value in attributes.items():
        if key in DICTS:
            arrays |= {f"{key}.{part}": array for part, array in value.items()}
        elif isinstance(value, np.ndarray):
            arrays[key] = value
        else:
            values[key] = encode(value)
    return values, arrays


def _is_fitted_attribute(key: str) -> bool:
    if key == "feature_names_in_":  # has its own entry in the header
        return False
    return key in {*COMMON, *DICTS} or (key.endswith("_") and not key.startswith("_"))


# ---------------------------------------------------------------- header to model


def _read_model(header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Any:
    name = header.get("class")
    if not isinstance(name, str) or name not in CLASSES:
        raise ModelFileError(
            f"holds a model of class {name!r:.40}, which trueaxis {__version__} does "
            "not have (the file was written by version "
            f"{header.get('library_version')!s:.40}): upgrade trueaxis."
        )
    parameters, values = (_decoded(header, key) for key in ("parameters", "attributes"))
    cls = CLASSES[name]
    _refuse_unknown("parameters", parameters, set(cls._get_param_names()), cls)
    attributes = values | _unflatten(arrays)
    if "_cells" not in known_attributes(cls) and not attributes["_cells"]:
        del attributes["_cells"]
    _refuse_unknown("attributes", attributes, known_attributes(cls), cls)
    missing = sorted(known_attributes(cls) - TRAINING - attributes.keys())
    if missing:
        raise damaged(f"{missing[0]} is missing")
    mismatch = find_mismatch(attributes, header.get("feature_names"))
    if mismatch:
        raise damaged(mismatch)
    model = cls(**parameters)
    try:
        check_parameters(model)
    except (TypeError, ValueError) as error:
        raise damaged(f"its parameters are not valid ({error!s:.200})") from error
    for key, value in attributes.items():
        setattr(model, key, value)
    if header.get("feature_names") is not None:
        model.feature_names_in_ = np.array(header["feature_names"], dtype=object)
    return model


def _read_scaler(
    header: dict[str, Any], arrays: dict[str, NDArray[Any]]
) -> ColumnScaler | None:
    """Return the scaler of a file, if it has one; remove its arrays."""
    how = header.get("scaling")
    if how is None:
        return None
    if how not in HOW:
        raise damaged(f"its scaling of columns is unknown: {how!r:.40}")
    scaler = ColumnScaler(how)
    shape = arrays["mean_"].shape if "mean_" in arrays else None
    for key, name in SCALER_ARRAYS.items():
        array = arrays.pop(key, None)
        if array is None or array.shape != shape or array.dtype not in FLOATS:
            raise damaged(f"{key} is missing, or not floats of shape {shape!s:.40}")
        if not np.isfinite(array).all():
            raise damaged(f"{key} has a value that is not finite")
        setattr(scaler, name, array)
    if not (scaler.unit_ > 0).all():
        raise damaged("scaling.unit has a value that is not positive")
    return scaler


def _move_names(model: Any, scaler: ColumnScaler) -> None:
    scaler.n_features_in_ = model.n_features_in_
    if hasattr(model, "feature_names_in_"):
        scaler.feature_names_in_ = model.feature_names_in_
        del model.feature_names_in_


def _decoded(header: dict[str, Any], key: str) -> dict[str, Any]:
    encoded = header.get(key)
    if not isinstance(encoded, dict):
        raise damaged(f"its header has no {key}")
    try:
        return {name: decode(value) for name, value in encoded.items()}
    except (ValueError, RecursionError) as error:
        raise damaged(f"in its {key}, {error}") from error


def _unflatten(arrays: dict[str, NDArray[Any]]) -> dict[str, Any]:
    """Return arrays as attributes, with those of dicts in one dict each."""
    attributes: dict[str, Any] = {name: {} for name in DICTS}
    for name, array in arrays.items():
        owner, _, part = name.partition(".")
        if owner in DICTS:
            attributes[owner][part] = array
        else:
            attributes[name] = array
    return attributes


def _refuse_unknown(
    what: str, values: dict[str, Any], known: set[str], cls: type
) -> None:
    # Other names could replace methods, so they are never set.
    unknown = sorted(values.keys() - known)
    if unknown:
        raise ModelFileError(
            f"has {what} that {cls.__name__} of trueaxis {__version__} does not have, "
            f"such as {unknown[0]!r:.40}: upgrade trueaxis, or do not trust the file."
        )
