"""Model files: `save` writes a fitted model, `load` reads it without running anything.

What comes back answers bit for bit as the model did; `header` turns models into plain
values and arrays, `archive` writes and checks the file.
"""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

from trueaxis._persistence.archive import ModelFileError, read, write
from trueaxis._persistence.model_state import from_parts, to_parts


def save(model: Any, path: str | os.PathLike[str], *, training: bool = True) -> None:
    """Write a fitted model to a file.

    The file appears whole or not at all: it is written beside, and then renamed. One
    that was there before is replaced.

    Parameters
    ----------
    model : estimator
        Fitted; of a class in `trueaxis.METHODS`, or `ReweightedPCA`; or a pipeline of
        a `ColumnScaler` and one of them, the names of whose steps are not kept.
    path : str or path
        Used as given; no ".npz" is added.
    training : bool, default=True
        Whether to keep what is as long as the training data: `weights_`, `support_`,
        `low_rank_`, `sparse_` and `outlying_`. Without them the file is small, and
        answers about rows are the same.

    Raises
    ------
    TypeError
        For other classes, and for parameters that a file cannot hold: a function or a
        class of your own as `rule`, or a RandomState instance.
    NotFittedError, ValueError
        If the model is not fitted, or its attributes are not of one fit.

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
    >>> loaded
    DSWL(n_components=3)
    >>> bool((loaded.score_samples(X) == model.score_samples(X)).all())
    True
    """
    write(Path(os.fspath(path)), *to_parts(model, training))


def load(path: str | os.PathLike[str]) -> Any:
    """Read a model that `save` wrote.

    Nothing in the file is run: it holds numbers and text, and only what a fitted model
    of the class can have is accepted. The checksum finds damage, not forgery.

    Parameters
    ----------
    path : str or path

    Returns
    -------
    estimator or Pipeline
        Fitted; it transforms and predicts exactly as the one that was saved. Steps of a
        pipeline have the names that `make_pipeline` gives, such as "columnscaler".

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If the file is none of trueaxis, damaged, or of a newer format.

    Examples
    --------
    See `save`.
    """
    path = Path(os.fspath(path))
    if not path.exists():
        what = "No such model file (the path is used as given, no .npz is added)"
        raise FileNotFoundError(errno.ENOENT, what, str(path))
    try:
        return from_parts(*read(path))
    except ModelFileError as error:
        raise ModelFileError(f"{path} {error}") from error.__cause__
