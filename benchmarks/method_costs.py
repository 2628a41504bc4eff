"""Measure the CPU time of every method on tables of many shapes.

`compare` fits the methods that take about three seconds at most: the limits of
`trueaxis.diagnostics.comparison.COSTLY` are read off these times. Methods that are left
out there are in brackets.

    python benchmarks/method_costs.py [--seconds 8] [--methods pcp l1-pca]
"""

from __future__ import annotations

import argparse
import signal
import time
import warnings
from typing import Any

from threadpoolctl import threadpool_limits

from bounds import table
from sheet import Sheet
from trueaxis.diagnostics.comparison import suitable
from trueaxis.methods import METHODS

SHAPES = (
    (10_000, 2), (10_000, 20), (10_000, 100), (10_000, 200), (4000, 500), (1000, 100),
    (2000, 2000), (500, 500), (200, 2000), (200, 20_000), (20, 100_000),
)  # fmt: skip


def seconds(name: str, k: int, X: Any, most: float) -> str:
    """Return the CPU time of a fit, or that it was interrupted."""
    start = time.process_time()
    signal.setitimer(signal.ITIMER_VIRTUAL, most)
    try:
        METHODS[name](k).fit(X)
    except KeyboardInterrupt:
        return f"> {most:g}"
    except ValueError:
        return "refused"
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    return f"{time.process_time() - start:.2f}"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--methods", nargs="*", default=list(METHODS))
    options = parser.parse_args()
    signal.signal(signal.SIGVTALRM, signal.default_int_handler)
    warnings.simplefilter("ignore")
    heads = [f"{n:,} x {D:,}" for n, D in SHAPES]
    sheet = Sheet("CPU time of a fit, s", "method", *heads)
    tables = [table(n, D) for n, D in SHAPES]
    with threadpool_limits(1):
        for name in options.methods:
            cells = []
            for X, k in tables:
                cell = seconds(name, k, X, options.seconds)
                cells.append(cell if name in suitable(*X.shape) else f"({cell})")
            sheet.add(name, *cells)
    sheet.show()


if __name__ == "__main__":
    main()
