"""Turn a fitted `TableEncoder` into plain values and arrays, and back.

`model_state` stores them beside the method. On the way back, everything is checked that
encoding a table relies on.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueaxis import __version__
from trueaxis._persistence.archive import ModelFileError, damaged
from trueaxis._persistence.json_values import decode, encode
from trueaxis.estimators.encoder import TableEncoder
from trueaxis.estimators.encoder.plan import PART_KINDS, Part
from trueaxis.estimators.encoder.table_encoder import SCALES

# Arrays of the encoder before the method, and their attributes. The names on the left
# are part of the file format.
ENCODER_ARRAYS = {"encoding.center": "center_", "encoding.unit": "unit_"}


def encoder_to_parts(
    encoder: TableEncoder,
) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return the entry of a header, and arrays, of a fitted encoder."""
    names = getattr(encoder, "feature_names_in_", None)
    entry = {
        "parameters": _parameters(encoder),
        "columns": encoder.n_features_in_,
        "names": None if names is None else [str(name) for name in names],
        "parts": [
            [part.index, part.kind, list(part.levels)] for part in encoder._parts
        ],
        "scale": encoder.scale_,
        "left_out": [[name, why] for name, why in encoder.left_out_.items()],
        "notes": list(encoder.notes_),
    }
    arrays = {key: getattr(encoder, name) for key, name in ENCODER_ARRAYS.items()}
    return entry, arrays


def encoder_from_parts(entry: Any, arrays: dict[str, NDArray[Any]]) -> TableEncoder:
    """Return the encoder of a file; remove its arrays.

    Raises
    ------
    ModelFileError
        If no fit can have led to this entry.
    """
    if not isinstance(entry, dict):
        raise damaged("its encoding of columns is not a record")
    encoder = TableEncoder(**_read_parameters(entry.get("parameters")))
    n, names = entry.get("columns"), entry.get("names")
    if type(n) is not int or n < 1:
        raise damaged(f"its encoder was fitted on {n!r:.40} columns")
    if names is not None and not (
        _is_texts(names) and len({*names}) == len(names) == n
    ):
        raise damaged(f"the names of its columns are not {n} different strings")
    encoder.n_features_in_ = n
    if names is not None:
        encoder.feature_names_in_ = np.array(names, dtype=object)
    encoder._parts = _read_parts(entry.get("parts"), n)
    for key, name in ENCODER_ARRAYS.items():
        setattr(encoder, name, _read_array(key, arrays, encoder._parts))
    if not (encoder.unit_ > 0).all():
        raise damaged("encoding.unit has a value that is not positive")
    if entry.get("scale") not in SCALES[1:]:
        raise damaged(f"its scaling of columns is unknown: {entry.get('scale')!r:.40}")
    encoder.scale_ = entry["scale"]
    encoder.left_out_ = _read_left_out(entry.get("left_out"))
    if not _is_texts(entry.get("notes")):
        raise damaged("the notes of its encoder are not text")
    encoder.notes_ = list(entry["notes"])
    encoder._set_names([f"x{i}" for i in range(n)] if names is None else names)
    return encoder


def _parameters(encoder: TableEncoder) -> dict[str, Any]:
    encoded = {}
    for name, value in encoder.get_params(deep=False).items():
        try:
            encoded[name] = encode(value)
        except TypeError:
            raise TypeError(
                f"The parameter {name} of TableEncoder cannot be saved: it is a "
                f"{type(value).__name__}. Use a list of names: save after "
                f"encoder.set_params({name}=list(...))."
            ) from None
    return encoded


def _read_parameters(encoded: Any) -> dict[str, Any]:
    if not isinstance(encoded, dict):
        raise damaged("its encoder has no parameters")
    unknown = sorted(encoded.keys() - set(TableEncoder._get_param_names()))
    if unknown:
        raise ModelFileError(
            f"has parameters that TableEncoder of trueaxis {__version__} does not "
            f"have, such as {unknown[0]!r:.40}: upgrade trueaxis, or do not trust the "
            "file."
        )
    try:
        return {name: decode(value) for name, value in encoded.items()}
    except (ValueError, RecursionError) as error:
        raise damaged(f"in the parameters of its encoder, {error}") from error


def _read_parts(entries: Any, n: int) -> tuple[Part, ...]:
    """Return the columns that are analyzed, of n columns of the table."""
    if not isinstance(entries, list) or not entries:
        raise damaged("its encoder lists no columns")
    parts = tuple(_read_part(entry, n) for entry in entries)
    if len({part.index for part in parts}) < len(parts):
        raise damaged("its encoder lists a column twice")
    return parts


def _read_part(entry: Any, n: int) -> Part:
    match entry:
        case [int(index), str(kind), list(levels)]:
            known = type(index) is int and 0 <= index < n and kind in PART_KINDS
            fitting = _is_texts(levels) and len({*levels}) == len(levels)
            if known and fitting and (kind == "category") == bool(levels):
                return Part(index, kind, tuple(levels))  # type: ignore[arg-type]
    raise damaged(f"its encoder lists an odd column: {entry!r:.80}")


def _read_array(
    key: str, arrays: dict[str, NDArray[Any]], parts: tuple[Part, ...]
) -> NDArray[np.float64]:
    array = arrays.pop(key, None)
    shape = (sum(part.width for part in parts),)
    if array is None or array.shape != shape or array.dtype != np.float64:
        raise damaged(f"{key} is missing, or not floats of shape {shape!s:.40}")
    if not np.isfinite(array).all():
        raise damaged(f"{key} has a value that is not finite")
    return array


def _read_left_out(pairs: Any) -> dict[str, str]:
    paired = isinstance(pairs, list) and all(
        _is_texts(pair) and len(pair) == 2 for pair in pairs
    )
    if not paired:
        raise damaged("its encoder does not say which columns were left out")
    return dict(pairs)


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)
