"""Save fitted models to files, and load them without running code.

A loaded model predicts bit for bit what the saved one did. `model_state` turns models
into plain values and arrays; `archive` writes and checks the file.
"""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

from trueaxis._persistence.archive import ModelFileError, read, write
from trueaxis._persistence.model_state import from_parts, to_parts
from trueaxis.data.threads import own_floats


@own_floats
def save(model: Any, path: str | os.PathLike[str], *, training: bool = True) -> None:
    """Write a fitted model to a file.

    The file is written atomically: first under a temporary name, then renamed. An
    existing file is replaced.

    Parameters
    ----------
    model : estimator
        Fitted estimator of a class in `METHODS`, or `ReweightedPCA`; or a
        pipeline of a `ColumnScaler` or a `TableEncoder` and one of them. The names of
        the steps are not kept.
    path : str or path-like
        Used as given; no ".npz" is added.
    training : bool, default=True
        Whether to keep the attributes that grow with the number of training samples:
        `weights_`, `support_`, `low_rank_`, `sparse_` and `outlying_`. Without them the
        file is small, and predictions are the same.

    Raises
    ------
    TypeError
        For other classes, and for parameters that a file cannot hold: a function or a
        user-defined class as `rule`, or a RandomState instance.
    NotFittedError, ValueError
        If the model is not fitted, or its attributes come from different fits.

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


@own_floats
def load(path: str | os.PathLike[str]) -> Any:
    """Load a model that `save` wrote.

    No code in the file is run: it holds numbers and text, and only attributes that a
    fitted model of the class can have are accepted, with values that a fit can lead to.
    A consistent forgery, such as another valid model, is not detected.

    Parameters
    ----------
    path : str or path-like

    Returns
    -------
    estimator or Pipeline
        Fitted; it transforms and predicts exactly as the saved one did. The steps of a
        pipeline have the names that `make_pipeline` gives, such as "columnscaler".

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If the file is not a trueaxis model file, is damaged, or has another format.

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
