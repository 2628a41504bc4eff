"""Run many cases in worker processes and watch them: a crash or hang is a finding."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from fuzz.cases import Outcome
from fuzz.properties import Finding

ROOT = Path(__file__).parent.parent
WORKER = (sys.executable, "-m", "fuzz.worker")
START = 300.0  # seconds until a worker must be ready
HANG = 180.0  # seconds until a case must have ended


class WorkerEnded(Exception):
    """A worker crashed, or was ended because it hung."""


class Worker:
    """A process that runs cases."""

    def __init__(self, command: Sequence[str], kinds: list[str]) -> None:
        ours, theirs = os.pipe()
        self.errors = tempfile.TemporaryFile()
        self.process = subprocess.Popen(
            [*command, str(theirs), ",".join(kinds)],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=self.errors,
            pass_fds=[theirs],
            text=True,
            start_new_session=True,  # Ctrl-C is for the campaign, which ends its cases
        )
        os.close(theirs)
        self.answers = os.fdopen(ours)
        self._line(START)

    def run(self, seed: int) -> dict[str, Any]:
        """Run a case; return its outcome."""
        assert self.process.stdin is not None
        print(seed, file=self.process.stdin, flush=True)
        outcome: dict[str, Any] = json.loads(self._line(HANG))
        return outcome

    def _line(self, patience: float) -> str:
        ready, _, _ = select.select([self.answers], [], [], patience)
        line = self.answers.readline() if ready else ""
        if line:
            return line
        if not ready:
            self.process.send_signal(signal.SIGABRT)  # faulthandler prints the stack
        code = self.process.wait()
        self.errors.seek(0)
        text, _, _ = self.errors.read().decode(errors="replace").partition("Extension")
        self.close()
        reason = f"crashed with {code}" if ready else f"hung for {patience:.0f} s"
        raise WorkerEnded(f"{reason}\n{text[-3000:]}")

    def close(self) -> None:
        """End the process."""
        assert self.process.stdin is not None
        with suppress(BrokenPipeError):
            self.process.stdin.close()
        self.process.wait()
        self.answers.close()
        self.errors.close()


class Campaign:
    """Cases with consecutive seeds, and what was found.

    Parameters
    ----------
    seed, cases : int
        The first seed, and the number of cases.
    jobs : int
        Number of worker processes.
    kinds : list of str
        Kinds of cases; all of them if it is empty.
    command : sequence of str
        What starts a worker.
    """

    def __init__(
        self,
        seed: int,
        cases: int,
        jobs: int = 1,
        kinds: list[str] | None = None,
        command: Sequence[str] = WORKER,
    ) -> None:
        self.seed, self.cases, self.jobs = seed, cases, jobs
        self.kinds, self.command = kinds or [], command
        self.findings: dict[tuple[str, str], list[dict[str, Any]]] = {}
        self.results: Counter[tuple[str, str]] = Counter()
        self.times: list[float] = []
        self.failure: WorkerEnded | None = None  # of a worker that could not be started
        self._seeds = iter(range(seed, seed + cases))
        self._lock = threading.Lock()
        self._start = time.monotonic()

    def run(self) -> None:
        """Run all cases; after Ctrl-C, those that have begun."""
        print(f"{self.cases} cases from seed {self.seed}, {self.jobs} processes")
        threads = [threading.Thread(target=self._work) for _ in range(self.jobs)]
        for thread in threads:
            thread.start()
        try:
            for thread in threads:
                thread.join()
        except KeyboardInterrupt:
            with self._lock:
                self._seeds = iter(range(0))
            for thread in threads:
                thread.join()
        if self.failure is not None:
            raise self.failure

    def _next_seed(self) -> int | None:
        with self._lock:
            return next(self._seeds, None)

    def _work(self) -> None:
        try:
            self._run_cases()
        except WorkerEnded as ended:  # no worker can be started
            with self._lock:
                self.failure = ended

    def _run_cases(self) -> None:
        worker = Worker(self.command, self.kinds)
        while (seed := self._next_seed()) is not None:
            try:
                outcome = worker.run(seed)
            except WorkerEnded as ended:
                reason, _, text = str(ended).partition("\n")
                found = Finding(f"worker {reason}", "", text)._asdict()
                ended_case = Outcome(seed, "?", "found", 0.0, "", [], text)
                outcome = ended_case._asdict() | {"findings": [found]}
                worker = Worker(self.command, self.kinds)
            with self._lock:
                self._note(outcome)
        worker.close()

    def _note(self, outcome: dict[str, Any]) -> None:
        self.results[outcome["kind"], outcome["result"]] += 1
        self.times.append(outcome["seconds"])
        for finding in outcome["findings"]:
            key = finding["kind"], finding["where"]
            if key not in self.findings:
                print(
                    f"seed {outcome['seed']}: {': '.join(filter(None, key))}",
                    flush=True,
                )
            self.findings.setdefault(key, []).append(outcome | {"finding": finding})
        if sum(self.results.values()) % 1000 == 0:
            minutes = (time.monotonic() - self._start) / 60
            print(f"{sum(self.results.values())} cases, {minutes:.1f} min", flush=True)

    def summary(self) -> str:
        """Return counts by kind, and every finding with its smallest seed."""
        lines = ["", f"{'kind':<15}{'passed':>8}{'refused':>9}{'found':>7}"]
        for kind in sorted({kind for kind, _ in self.results}):
            counts = [
                self.results[kind, name] for name in ("passed", "refused", "found")
            ]
            lines.append(f"{kind:<15}{counts[0]:>8}{counts[1]:>9}{counts[2]:>7}")
        times = sorted(self.times)
        if times:
            minutes = (time.monotonic() - self._start) / 60
            median, longest = 1e3 * times[len(times) // 2], times[-1]
            lines.append(
                f"{len(times)} cases in {minutes:.1f} min; median {median:.0f} ms, "
                f"longest {longest:.1f} s"
            )
        if not self.findings:
            return "\n".join([*lines, "Nothing was found."])
        for (kind, where), outcomes in sorted(
            self.findings.items(), key=lambda item: -len(item[1])
        ):
            first = min(outcomes, key=lambda outcome: outcome["seed"])
            kinds = f" --kinds {','.join(self.kinds)}" if self.kinds else ""
            lines += [
                "",
                f"{len(outcomes)} x {kind}{f' in {where}' if where else ''}",
                f"    {first['kind']}: {first['story'][:600]}",
                f"    {first['finding']['detail'][:600]}",
                f"    replay: python -m fuzz --seed {first['seed']} --cases 1{kinds}",
            ]
            if self.cases == 1:
                lines.append(first["traceback"])
        return "\n".join(lines)
