"""Run the fuzzer: ``python -m fuzz --help``."""

from __future__ import annotations

import argparse
import sys

from fuzz.runner import Campaign


def main() -> int:
    """Run cases, print what was found, and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument("--seed", type=int, default=0, help="seed of the first case")
    parser.add_argument("--cases", type=int, default=3000, help="number of cases")
    parser.add_argument("--jobs", type=int, default=2, help="number of processes")
    parser.add_argument("--kinds", default="", help="kinds of cases, comma-separated")
    options = parser.parse_args()
    kinds = [kind.strip() for kind in options.kinds.split(",") if kind.strip()]
    campaign = Campaign(options.seed, options.cases, options.jobs, kinds)
    campaign.run()
    print(campaign.summary())
    complete = sum(campaign.results.values()) == options.cases
    return 0 if complete and not campaign.findings else 1


if __name__ == "__main__":
    sys.exit(main())
