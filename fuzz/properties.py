"""What must hold: for exceptions, for fitted models, and for the world around a case.

`attempt` runs a call of the public surface; a documented refusal ends the case, and
anything else that is raised is a finding. `check_model` checks a fitted model, `Watch`
what a case may leave behind, and what it may cost.
"""

from __future__ import annotations

import dis
import gc
import os
import re
import signal
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, NamedTuple

import numpy as np

import trueaxis
from fuzz.tables import Rng

PACKAGE = str(Path(trueaxis.__file__).parent)
LONGEST = 1500  # characters of a message; a list of all columns is no help
PHRASES = re.compile(  # of warnings that belong to other libraries
    r"encountered in|divide by zero|invalid value|overflow|underflow|Degrees of freedom"
    r"|Mean of empty|All-NaN|[Ii]ll-conditioned|unclosed"
)
# Of scikit-learn, on purpose.
NAMES = re.compile("X (has|does not have valid) feature names")


class Finding(NamedTuple):
    """Something that must not be: its kind, where it happened, and the details."""

    kind: str
    where: str
    detail: str


class Broken(Exception):
    """A property does not hold; the case ends here."""

    def __init__(self, kind: str, detail: str, where: str = "") -> None:
        super().__init__(f"{kind}: {detail}")
        self.finding = Finding(kind, where, detail)


class Refused(Exception):
    """The package refused the input as documented; the case ends here."""


def expect(condition: Any, kind: str, detail: Any = "") -> None:
    """Report a finding unless a condition holds."""
    if not condition:
        raise Broken(kind, str(detail)[:LONGEST])


# --------------------------------------------------------------------------- exceptions


def attempt(call: Callable[[], Any]) -> Any:
    """Return what a call returns; end the case if it raises.

    Raises
    ------
    Refused
        If the exception is documented.
    Broken
        If it is not.
    """
    try:
        return call()
    except (Broken, Refused):
        raise
    except Exception as error:
        complaint = complain(error)
        if complaint:
            raise Broken(complaint, describe(error), place(error)) from error
        raise Refused(describe(error)) from error


def complain(error: BaseException) -> str:
    """Return what is wrong with an exception that reached the user, or nothing."""
    kind, message = type(error), str(error)
    module = kind.__module__.split(".")[0]
    if isinstance(error, OSError) and kind.__module__ == "builtins":
        return "" if error.filename else "OSError without a path"
    if kind not in (ValueError, TypeError, ImportError) and module not in (
        "trueaxis",
        "sklearn",
        "click",
    ):
        return f"undocumented {kind.__name__}"
    if not raised_on_purpose(error):
        return f"bare {kind.__name__}"
    if len(message) > LONGEST and in_package(error):
        return "message too long"
    if len(message.split()) < 5:
        return "message is no sentence"
    if in_package(error) and not re.search(r"[:;.,] ", message):
        return "message without a remedy"
    return ""


def innermost(error: BaseException) -> Any:
    """Return the last entry of the traceback, where an exception was raised."""
    step = error.__traceback__
    while step is not None and step.tb_next is not None:
        step = step.tb_next
    return step


def in_package(error: BaseException) -> bool:
    """Return whether our own code raised an exception."""
    step = innermost(error)
    return step is not None and step.tb_frame.f_code.co_filename.startswith(PACKAGE)


def raised_on_purpose(error: BaseException) -> bool:
    """Return whether a `raise` of ours, of scikit-learn or click raised an exception.

    Otherwise it escaped from a call of another library, or of Python's own.
    """
    step = innermost(error)
    if step is None:
        return False
    code = step.tb_frame.f_code
    libraries = (f"{os.sep}sklearn{os.sep}", f"{os.sep}click{os.sep}")
    if not (in_package(error) or any(name in code.co_filename for name in libraries)):
        return False
    for instruction in dis.get_instructions(code):
        if instruction.offset == step.tb_lasti:
            return instruction.opname in ("RAISE_VARARGS", "RERAISE")
    return False


def describe(error: BaseException) -> str:
    """Return type and message of an exception."""
    return f"{type(error).__name__}: {error}"[:LONGEST]


def place(error: BaseException) -> str:
    """Return the innermost function of the package that an exception passed."""
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if frame.filename.startswith(PACKAGE)
    ]
    if not frames:
        return ""
    path = Path(frames[-1].filename).relative_to(PACKAGE).as_posix()
    return f"{path}:{frames[-1].name}"


# ----------------------------------------------------------------------- fitted models


def check_model(model: Any, n: int, D: int) -> None:
    """Check the fitted attributes of a method."""
    P, k = model.components_, model.n_components_
    expect(P.shape == (k, D), "shape of components_", (P.shape, k, D))
    for name in ("components_", "mean_", "explained_variance_",
                 "explained_variance_ratio_", "noise_variance_", "n_samples_",
                 "offset_"):  # fmt: skip
        value = np.asarray(getattr(model, name))
        expect(np.isfinite(value).all(), f"{name} is not finite", value)
    exact = P.astype(float)
    with np.errstate(under="ignore"):  # small loadings
        gap = np.abs(exact @ exact.T - np.eye(k)).max(initial=0)
    allowed = 1e-4 if P.dtype == np.float32 else 1e-8
    expect(gap < allowed, "axes are not orthonormal", gap)
    variances = model.explained_variance_
    expect((variances >= 0).all(), "negative variance", variances)
    ratio = model.explained_variance_ratio_
    expect(0 <= ratio.sum() <= 1 + 1e-5, "shares of variance", ratio)
    expect(model.noise_variance_ >= 0, "negative noise variance")
    expect(not any(np.isnan(cut) for cut in model.cutoffs_), "NaN cut-off")
    if hasattr(model, "weights_"):
        w = np.asarray(model.weights_)
        expect(w.shape == (n,) and (w >= 0).all(), "weights_ are no weights", w)
        expect(abs(w.sum() - 1) < 1e-6, "weights_ do not sum to 1", w.sum())
    expect(model.support_.shape == (n,), "shape of support_", model.support_.shape)
    expect(model.support_.dtype == bool, "support_ is not boolean")


def check_answers(model: Any, X: Any, n: int, rng: Rng) -> None:
    """Check what a fitted model says about rows, and about each of them alone."""
    labels = attempt(lambda: model.predict(X))
    expect(labels.shape == (n,), "shape of predict", labels.shape)
    expect(np.isin(labels, (-1, 1)).all(), "predict is neither 1 nor -1", labels)
    far = _overflowing(model, X, n)
    scores = attempt(lambda: model.transform(X))
    expect(not np.isnan(scores).any(), "transform is NaN", scores)
    expect(np.isfinite(scores[~far]).all(), "transform is not finite", scores[~far])
    p = attempt(lambda: model.p_values(X))
    expect(((p >= 0) & (p <= 1)).all(), "p-values outside [0, 1]", p)
    log_p = attempt(lambda: model.score_samples(X))
    expect(not np.isnan(log_p).any(), "score_samples is NaN", log_p)
    expect((log_p < 1e-12).all(), "score_samples is positive", log_p.max())
    decisions = attempt(lambda: model.decision_function(X))
    expect(not np.isnan(decisions).any(), "decision_function is NaN", decisions)
    for name, distance in attempt(lambda: model.distances(X))._asdict().items():
        expect((distance >= 0).all(), f"{name} distance", distance)
        finite = np.isfinite(distance[~far])
        expect(finite.all(), f"{name} distance is infinite", distance[~far])


def _overflowing(model: Any, X: Any, n: int) -> np.ndarray:
    """Return the rows so far away that squared distances in them overflow.

    Their distances may be infinite, and so may their scores; the rows are outliers.
    """
    try:
        rows = np.asarray(X)
        single = rows.dtype.kind == "f" and rows.dtype.itemsize <= 4
        cells = np.abs(rows.astype(float) - model.mean_.astype(float))
    except (TypeError, ValueError, OverflowError):
        return np.ones(n, dtype=bool)  # paths and frames of words are not compared
    smallest = min(1.0, float(np.sqrt(model.explained_variance_.min(initial=1.0))))
    limit = 1e16 if single or model.mean_.dtype == np.float32 else 1e140
    far: np.ndarray = ~(cells.max(axis=1, initial=0) < limit * smallest)
    return far if far.shape == (n,) else np.ones(n, dtype=bool)


def check_rows_alone(model: Any, X: np.ndarray, rng: Rng) -> None:
    """Check that the verdict on a row does not depend on the rows beside it.

    Not where the rows vary by no more than rounding, along an axis or off the subspace:
    there, distances are rounding errors in units of themselves.
    """
    variances = model.explained_variance_
    if X.dtype == np.float32 and variances.min() < 1e-9 * variances.max():
        return
    rounding = np.finfo(model.components_.dtype).eps * np.abs(model.mean_).max()
    least = np.sqrt(min(float(variances.min()), model.noise_variance_))
    if least < 100 * rounding:
        return
    batch, log_p = model.predict(X), model.score_samples(X)
    rows = {int(log_p.argmin()), int(log_p.argmax()), int(rng.integers(len(X)))}
    rows.add(int(np.abs(log_p - model.offset_).argmin()))  # closest to the line
    for row in rows:
        alone = model.predict(X[row : row + 1])[0]
        expect(alone == batch[row], "a row alone is judged differently", row)


def same_bits(a: Any, b: Any, path: str = "") -> None:
    """Check that two values agree in every bit, all the way down."""
    expect(type(a) is type(b), "different types twice", (path, a, b))
    if isinstance(a, np.ndarray) and a.dtype.kind != "O":
        same = (a.dtype, a.shape, a.tobytes()) == (b.dtype, b.shape, b.tobytes())
        expect(same, "different bits twice", (path, a, b))
    elif isinstance(a, np.ndarray):  # of objects, such as names of columns
        same_bits(a.tolist(), b.tolist(), path)
    elif isinstance(a, dict):
        expect(list(a) == list(b), "different attributes twice", (path, [*a], [*b]))
        for key in a:
            same_bits(a[key], b[key], f"{path}.{key}")
    elif isinstance(a, (list, tuple)):
        expect(len(a) == len(b), "different lengths twice", path)
        for i, pair in enumerate(zip(a, b, strict=True)):
            same_bits(*pair, f"{path}[{i}]")
    elif type(a).__module__.startswith("trueaxis"):
        same_bits(vars(a), vars(b), path)
    elif isinstance(a, (int, float, str, bytes, np.generic, type(None))):
        expect(repr(a) == repr(b), "different bits twice", (path, a, b))


# ------------------------------------------------------------------ the world around it


class Limits(NamedTuple):
    """What a case may cost: seconds of CPU time, and bytes."""

    seconds: float
    memory: float


def limits(n: int, D: int, copies: float = 1.0) -> Limits:
    """Return the bounds for a table of n rows and D columns.

    Every method needs some passes over the table and a few copies of it; matrices of
    all pairs of columns (or of rows, if there are fewer of them) are bounded by the
    smaller side. `copies` counts how often the case goes through all of that.
    """
    cells, side = n * D, min(n, D)
    return Limits(
        copies * (15 + 2e-4 * cells + 1e-6 * cells * side),
        150e6 + 60 * 8 * cells + 40 * 8 * side * side,
    )


class Watch:
    """Observes a case: warnings, files, settings, time and memory."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.given, self.out, self.cwd, self.tmp = (
            folder / name for name in ("given", "out", "cwd", "tmp")
        )
        self.findings: list[Finding] = []
        self.story = ""  # what the case does, for people
        self.result = "passed"  # or "refused"
        self.limits = limits(1000, 50)
        self.wrote: set[Path] = set()

    def allow(self, n: int, D: int, copies: float = 1.0) -> None:
        """Set the bounds for the largest table of the case."""
        self.limits = limits(max(n, 1000), max(D, 50), copies)

    def report(self, kind: str, detail: str, where: str = "") -> None:
        """Note something that must not be, without ending the case."""
        self.findings.append(Finding(kind, where, detail[:LONGEST]))

    @contextmanager
    def observe(self) -> Iterator[None]:
        """Run a case, then report what it has left behind."""
        settings, descriptors = _settings(), _descriptors()
        _forget_peak()
        resident, clock = _resident("VmRSS"), time.process_time()
        # Without collections on the way, all that the case allocates is young: the one
        # at its end is quick, and files that nobody closed warn then.
        gc.disable()
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            warnings.showwarning = self._warned
            yield
            gc.collect(0)
        gc.enable()
        seconds, peak = time.process_time() - clock, _resident("VmHWM") - resident
        if seconds > self.limits.seconds:
            allowed = f"{self.limits.seconds:.0f} s allowed"
            self.report("too slow", f"{seconds:.1f} s of CPU time, {allowed}")
        if peak > self.limits.memory:
            allowed = f"{self.limits.memory / 1e6:.0f} MB allowed"
            self.report("too much memory", f"{peak / 1e6:.0f} MB, {allowed}")
        for name, value in _settings().items():
            if settings[name] != value:
                self.report(f"{name} changed", f"{settings[name]} became {value}")
        if _descriptors() > descriptors:
            self.report("file left open", f"{_descriptors() - descriptors} descriptors")
        for left in self._leftovers():
            self.report("file left on disk", left.relative_to(self.folder).as_posix())

    def _leftovers(self) -> list[Path]:
        found = [*self.tmp.rglob("*"), *self.cwd.rglob("*"), *self.out.rglob("*")]
        found += self.given.rglob(".trueaxis-*")
        return [path for path in found if path not in self.wrote]

    def _warned(self, message: Any, category: type, *_: Any) -> None:
        frames = [code for code in _stack() if code.co_filename.startswith(PACKAGE)]
        if any(code.co_name == "warn" for code in frames) or NAMES.search(str(message)):
            return  # on purpose
        if not frames and category is not ResourceWarning:
            return  # a warning of another library about what the fuzzer does
        where = (
            f"{Path(frames[0].co_filename).name}:{frames[0].co_name}" if frames else ""
        )
        self.report("leaked warning", f"{category.__name__}: {message}", where)


def _stack() -> Iterator[CodeType]:
    """Yield the functions that are running, innermost first."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        yield frame.f_code
        frame = frame.f_back


def _settings() -> dict[str, Any]:
    return {
        "numpy.geterr": np.geterr(),
        "numpy.random": np.random.get_state()[1].tobytes(),  # noqa: NPY002
        "os.getcwd": os.getcwd(),
        "os.environ": dict(os.environ),
        "signal handlers": [
            signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)
        ],
    }


def _descriptors() -> int:
    """Return the number of open files, without fonts, which matplotlib keeps open."""
    count = 0
    for name in os.listdir("/proc/self/fd") if os.path.isdir("/proc/self/fd") else ():
        with suppress(OSError):  # that of the folder itself is closed by now
            count += not os.readlink(f"/proc/self/fd/{name}").endswith(".ttf")
    return count


def _forget_peak() -> None:
    """Let the system measure the peak of memory anew, where it can."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def _resident(what: str) -> float:
    """Return resident memory in bytes (VmRSS), or its peak (VmHWM)."""
    try:
        status = Path("/proc/self/status").read_text()
    except OSError:
        return 0.0
    return float(re.search(rf"{what}:\s+(\d+)", status)[1]) * 1024  # type: ignore[index]
