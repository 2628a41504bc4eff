"""Load the paper's data sets from a folder, the cache, scikit-learn or a registry."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from studies.data.download import fetch
from studies.data.folder import class_names, read_folder, write_folder
from studies.data.record import Dataset, make_dataset
from studies.data.registry import Facts, facts_of

BUNDLED = ("breast_cancer", "wine")


def split_available(
    names: Sequence[str], data_home: str | Path | None = None, download: bool = True
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Split names of data sets into those that can be loaded and those that cannot."""
    available, missing = [], []
    for name in names:
        try:
            load(name, data_home=data_home, download=download)
        except FileNotFoundError:
            missing.append(name)
        else:
            available.append(name)
    return tuple(available), tuple(missing)


def load(
    name: str, *, data_home: str | Path | None = None, download: bool = True
) -> Dataset:
    """Load one of the paper's data sets, and check that it is the right one.

    The data set is looked for in the data home, in the cache
    ($XDG_CACHE_HOME/trueaxis, or ~/.cache/trueaxis) and in scikit-learn (wine,
    breast_cancer). Otherwise it is downloaded into the cache.

    In a data home, a table is uci/<name>.csv, with a header, the features, and the
    column target at the end. Images are faces/<name>.npz, with the arrays images
    (uint8, n x 32 x 32) and target; or one of Deng Cai's MATLAB files, such as
    faces/Yale_32x32.mat, with the arrays fea (n x 1024) and gnd.

    Sizes, class sizes and column sums are always checked. Files in a data home must
    have exactly the known values. Copies from a registry or a MATLAB file may differ
    by rounding, by order or, for images, by resizing: then `exact` is False, and the
    description says so.

    Parameters
    ----------
    name : str
        One of `UCI` or `FACES`.
    data_home : str or Path, optional
        A folder. Default: the environment variable TRUEAXIS_DATA, if set.
    download : bool
        Whether to download the data set if it is not found.

    Returns
    -------
    Dataset
        Rows and classes, and where they come from.

    Raises
    ------
    FileNotFoundError
        If the data set is not found; the message says how to provide it.
    ValueError
        If the name is unknown, or a file is damaged or of another data set.

    Examples
    --------
    >>> from studies.data import load
    >>> wine = load("wine")
    >>> wine.X.shape, wine.target[:3].tolist(), wine.exact
    ((178, 13), [0, 0, 0], True)
    """
    facts = facts_of(name)
    home, cache = _find_home(data_home), cache_folder()
    for folder in [cache] if home in (None, cache) else [home, cache]:
        try:
            dataset = read_folder(facts, folder, strict=folder != cache)
        except ValueError as error:
            remedy = " Delete it to load it from elsewhere." if folder == cache else ""
            raise ValueError(f"{error}{remedy}") from None
        if dataset is not None:
            return dataset
    if name in BUNDLED:
        return _load_bundled(facts)
    failure = "Downloading was not allowed (download=False)."
    if download:
        try:
            X, labels, origin = fetch(facts)
        except ConnectionError as error:
            failure = f"Downloading failed: {error}."
        else:
            write_folder(facts, X, labels, cache)
            return make_dataset(facts, X, labels, origin)
    raise FileNotFoundError(_not_found(facts, home, cache, failure))


def cache_folder() -> Path:
    """Return the folder of downloaded data sets."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base).absolute() / "trueaxis"


def _find_home(data_home: str | Path | None) -> Path | None:
    given = "data_home" if data_home is not None else "TRUEAXIS_DATA"
    name = data_home if data_home is not None else os.environ.get("TRUEAXIS_DATA")
    if not name:
        return None
    home = Path(name).expanduser().absolute()
    if not home.is_dir():
        raise FileNotFoundError(
            f"{given}={str(name)!r} is not a folder: pass the folder that contains "
            "uci/<name>.csv and faces/<name>.npz."
        )
    return home


def _load_bundled(facts: Facts) -> Dataset:
    from sklearn.datasets import load_breast_cancer, load_wine

    bunch = (load_wine if facts.name == "wine" else load_breast_cancer)()
    return make_dataset(facts, bunch.data, class_names(bunch.target), "scikit-learn")


def _not_found(facts: Facts, home: Path | None, cache: Path, failure: str) -> str:
    title = f"{facts.name} ({facts.title}; {facts.n} rows, {facts.d} features)"
    if facts.is_faces:
        file = (
            f"{facts.file} with arrays images (uint8, {facts.n} x 32 x 32, upright) "
            f"and target ({facts.n} integers), or a file faces/{facts.mat[0]} "
            f"with arrays fea ({facts.n} x {facts.d}) and gnd ({facts.n} x 1)"
        )
    else:
        file = (
            f"{facts.file} with a header and the columns {', '.join(facts.features)}, "
            f"target; {facts.n} rows, in the original order"
        )
    places = str(cache) if home is None else f"{home} and {cache}"
    unset = " (no data home was given)" if home is None else ""
    return (
        f"{title} was not found. Looked for {facts.file} in {places}{unset}. {failure} "
        f"To provide it, put a file {file}, into a folder, and pass that folder as "
        "data_home= or set the environment variable TRUEAXIS_DATA to it. The data set "
        f"is registered as: {facts.identifiers}."
    )
