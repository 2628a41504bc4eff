"""CPU time of reading a CSV file, beside pandas, and memory of streaming it.

Both readers run in turns in one process, and the smallest times are compared. Targets:
at most 2 times the CPU time of pandas for 500,000 x 20 numbers, and memory that does
not grow with the file when it is streamed.

    python benchmarks/reading.py [--rows 500000]
"""

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

from trueaxis.data.text import TextRows
from trueaxis.io import read_table

COLUMNS = 20
ROUNDS = 5

STREAM = """
import re, sys
from pathlib import Path
from trueaxis.data.text import TextRows
def peak():
    return int(re.search(r"VmHWM:\\s*(\\d+)", Path("/proc/self/status").read_text())[1])
before = peak()
rows = TextRows(Path(sys.argv[1]))
print((peak() - before) / 1024)
"""


def write(path: Path, n: int, repeat: int = 1) -> None:
    X = np.random.default_rng(0).standard_normal((n, COLUMNS)).round(6)
    names = [f"c{i}" for i in range(COLUMNS)]
    for i in range(repeat):
        pd.DataFrame(X, columns=names).to_csv(
            path, index=False, header=not i, mode="a" if i else "w"
        )


def cpu(function) -> float:
    start = time.process_time()
    function()
    return time.process_time() - start


def main(n: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "numbers.csv"
        write(path, n)
        readers = {
            "pandas.read_csv": lambda: pd.read_csv(path),
            "read_table": lambda: read_table(path),
            "TextRows (streamed)": lambda: TextRows(path),
        }
        times = {name: [] for name in readers}
        for _ in range(ROUNDS):
            for name, read in readers.items():
                times[name].append(cpu(read))
        least = {name: min(seconds) for name, seconds in times.items()}
        print(f"{n:,} x {COLUMNS}, {path.stat().st_size / 1e6:.0f} MB of text")
        for name, seconds in least.items():
            ratio = seconds / least["pandas.read_csv"]
            print(f"{name:20} {seconds:6.2f} s of CPU   {ratio:5.2f} x pandas")
        for repeat in (1, 4):
            write(path, n, repeat)
            size = path.stat().st_size / 1e6
            command = [sys.executable, "-c", STREAM, str(path)]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
            print(f"streaming {size:6.0f} MB takes {float(done.stdout):6.0f} MB")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rows", type=int, default=500_000)
    main(parser.parse_args().rows)
