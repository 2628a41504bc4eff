"""A worker process: runs cases one by one, and tells the runner about each.

It reads seeds from standard input, one per line, and answers on the descriptor that it
was given with a line of JSON per case.
"""

from __future__ import annotations

import faulthandler
import json
import os
import resource
import sys
import tempfile
from pathlib import Path

MOST_MEMORY = 6 * 2**30  # bytes of address space: a runaway case must not take it all


def main() -> None:
    """Run the cases whose seeds come from standard input."""
    answers = os.fdopen(int(sys.argv[1]), "w")
    kinds = [kind for kind in sys.argv[2].split(",") if kind]
    faulthandler.enable()  # tells where a crash, or the runner's SIGABRT, happened
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    os.environ["MPLBACKEND"] = "Agg"
    from fuzz.cases import preload, run_case

    preload()
    with tempfile.TemporaryDirectory(prefix="trueaxis-fuzz-") as folder:
        print("ready", file=answers, flush=True)
        for line in sys.stdin:
            outcome = run_case(int(line), Path(folder), kinds or None)
            answer = outcome._asdict() | {
                "findings": [finding._asdict() for finding in outcome.findings]
            }
            print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
