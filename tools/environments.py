"""Fresh environments for `matrix.py` and `release_check.py`, and what is put into them.

Standard library only: these scripts run before anything is installed.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# Extras that only developers install, in the versions of constraints.txt. What a linter
# finds depends on its version, and other implementations need newer packages than we.
PINNED_EXTRAS = ("peers", "lint", "docs")


def project() -> dict:
    """Return the table `project` of pyproject.toml."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def floors(requirements: Iterable[str]) -> dict[str, str]:
    """Return the version of every requirement, which has the form ``name>=version``."""
    oldest = {}
    for requirement in requirements:
        parts = re.fullmatch(r"([\w.-]+)(?:\[[\w,]+\])?>=([\d.]+)", requirement)
        if not parts:
            raise SystemExit(f"{requirement!r} in pyproject.toml has no plain floor.")
        name, version = parts.groups()
        if oldest.setdefault(name, version) != version:
            raise SystemExit(
                f"pyproject.toml promises {name} from {oldest[name]} and from "
                f"{version}: make these floors equal."
            )
    return oldest


def promised_floors() -> dict[str, str]:
    """Return the oldest promised version of every package, by name."""
    return floors(
        [
            *project()["dependencies"],
            *(
                requirement
                for extra in shown_extras()
                for requirement in project()["optional-dependencies"][extra]
            ),
        ]
    )


def shown_extras() -> list[str]:
    """Return the extras of which oldest and newest versions are tested."""
    extras = project()["optional-dependencies"]
    return [extra for extra in extras if extra not in PINNED_EXTRAS]


def python_floor() -> str:
    """Return the oldest promised Python, such as ``3.11``."""
    return project()["requires-python"].removeprefix(">=")


def find_pythons(given: Iterable[str] = ()) -> dict[str, str]:
    """Return interpreters that run, by version, from the oldest to the newest.

    Without given ones, those on the PATH. A version manager may leave commands there
    that do not run.
    """
    first = int(python_floor().split(".")[1])
    names = [f"python3.{minor}" for minor in range(first, first + 20)]
    found = {}
    for name in given or [*names, sys.executable]:
        path = shutil.which(name)
        if path is None and not given:
            continue
        code = "import sys; print('%d.%d' % sys.version_info[:2])"
        try:
            done = subprocess.run([name, "-c", code], capture_output=True, text=True)
        except FileNotFoundError:
            raise SystemExit(f"There is no interpreter {name}.") from None
        if done.returncode == 0:
            found.setdefault(done.stdout.strip(), path or name)
        elif given:
            raise SystemExit(f"{name} does not run: {done.stderr}")
    return dict(sorted(found.items(), key=lambda pair: int(pair[0].split(".")[1])))


def make_environment(folder: Path, python: str) -> Path:
    """Make an empty environment in a folder, which is emptied; its interpreter."""
    subprocess.run([python, "-m", "venv", "--clear", folder], check=True)
    return folder / ("Scripts" if os.name == "nt" else "bin") / "python"


def install(python: Path, *arguments: str | Path) -> None:
    """Install packages into the environment of an interpreter."""
    pip = [python, "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
    run([*pip, *arguments])


def installed(python: Path) -> dict[str, str]:
    """Return the version of every package in the environment of an interpreter."""
    pip = [python, "-m", "pip", "--disable-pip-version-check", "freeze", "--all"]
    lines = subprocess.check_output(pip, text=True).splitlines()
    pairs = (line.split("==") for line in lines if "==" in line)
    return {normal(name): version for name, version in pairs}


def normal(name: str) -> str:
    """Return the name of a package as indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def run(command: list, **options: object) -> None:
    """Run a command without the caller's packages; fail where it fails."""
    done = subprocess.run(command, env=clean_variables(), **options)
    if done.returncode:
        raise SystemExit(
            f"{' '.join(map(str, command))} ended with exit code {done.returncode}."
        )


def clean_variables() -> dict[str, str]:
    """Return environment variables that lead to no other installed package."""
    hidden = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV")
    return {name: value for name, value in os.environ.items() if name not in hidden}
