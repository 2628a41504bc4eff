"""LOAD the paper's data sets: from a folder, the cache, scikit-learn or a registry."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from trueaxis.datasets.download import fetch
from trueaxis.datasets.folder import in_folder, keep, names
from trueaxis.datasets.record import Dataset, record
from trueaxis.datasets.registry import Facts, facts_of

BUNDLED = ("breast_cancer", "wine")


def at_hand(
    names: Sequence[str], data_home: str | Path | None = None, download: bool = True
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Part names of data sets into those that can be loaded and those that cannot."""
    found, missing = [], []
    for name in names:
        try:
            load(name, data_home=data_home, download=download)
        except FileNotFoundError:
            missing.append(name)
        else:
            found.append(name)
    return tuple(found), tuple(missing)


def load(
    name: str, *, data_home: str | Path | None = None, download: bool = True
) -> Dataset:
    """Load one of the paper's data sets, and check that it is the right one.

    It is looked for in the data home, then in the cache ($XDG_CACHE_HOME/trueaxis, or
    .cache/trueaxis in the user's folder), then in scikit-learn (wine, breast_cancer),
    and is then downloaded into the cache. Below a data home a table is
    uci/<name>.csv: a header, features, last the column target; images are
    faces/<name>.npz: arrays images (uint8, n x 32 x 32) and target. For images Deng
    Cai's MATLAB files do as well, say faces/Yale_32x32.mat: arrays fea (n x 1024) and
    gnd.

    Sizes, class sizes and column sums are always checked. Files in a data home must
    have the very values that we know; copies from a registry or a MATLAB file may
    differ from them by rounding, order or, for images, by resizing, which `exact` and
    the description then tell.

    Parameters
    ----------
    name : str
        One of `UCI` or `FACES`.
    data_home : str or Path, optional
        A folder. Default: the environment variable TRUEAXIS_DATA, if set.
    download : bool
        Whether the network may be used.

    Returns
    -------
    Dataset
        Rows, classes and all there is to know about them.

    Raises
    ------
    FileNotFoundError
        If the data set is nowhere; the message tells how to provide it.
    ValueError
        If the name is not known, or a file is not what it should be.

    Examples
    --------
    >>> from trueaxis.datasets import load
    >>> wine = load("wine")
    >>> wine.X.shape, wine.target[:3].tolist(), wine.exact
    ((178, 13), [0, 0, 0], True)
    """
    facts = facts_of(name)
    home, cache = _home(data_home), cache_folder()
    for place in [cache] if home in (None, cache) else [home, cache]:
        try:
            found = in_folder(facts, place, strict=place != cache)
        except ValueError as error:
            again = " Delete it, and load looks elsewhere." if place == cache else ""
            raise ValueError(f"{error}{again}") from None
        if found is not None:
            return found
    if name in BUNDLED:
        return _bundled(facts)
    failure = "Downloading was not allowed (download=False)."
    if download:
        try:
            X, labels, origin = fetch(facts)
        except ConnectionError as error:
            failure = f"Downloading failed: {error}."
        else:
            keep(facts, X, labels, cache)
            return record(facts, X, labels, origin)
    raise FileNotFoundError(_missing(facts, home, cache, failure))


def cache_folder() -> Path:
    """Where downloads are kept."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base).absolute() / "trueaxis"


def _home(data_home: str | Path | None) -> Path | None:
    given = "data_home" if data_home is not None else "TRUEAXIS_DATA"
    name = data_home if data_home is not None else os.environ.get("TRUEAXIS_DATA")
    if not name:
        return None
    home = Path(name).expanduser().absolute()
    if not home.is_dir():
        raise FileNotFoundError(
            f"{given}={str(name)!r} is not a folder: name the folder that holds "
            "uci/<name>.csv and faces/<name>.npz."
        )
    return home


def _bundled(facts: Facts) -> Dataset:
    from sklearn.datasets import load_breast_cancer, load_wine

    bunch = (load_wine if facts.name == "wine" else load_breast_cancer)()
    return record(facts, bunch.data, names(bunch.target), "scikit-learn")


def _missing(facts: Facts, home: Path | None, cache: Path, failure: str) -> str:
    title = f"{facts.name} ({facts.title}; {facts.n} rows, {facts.d} features)"
    if facts.is_faces:
        file = (
            f"{facts.file} with arrays images (uint8, {facts.n} x 32 x 32, upright) "
            f"and target ({facts.n} whole numbers), or a file faces/{facts.mat[0]} "
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
        f"To provide it, put a file {file}, into a folder, and name that folder by "
        "data_home= or by the environment variable TRUEAXIS_DATA. It is registered as: "
        f"{facts.identifiers}."
    )
