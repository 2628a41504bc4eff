"""Test the oldest and the newest promised versions, and an installation without extras.

`make matrix` builds the wheel once, installs it into fresh environments below
build/matrix/ and runs the tests there that are neither slow nor need a browser nor
repeat others, against the wheel and not the checkout:

- `oldest`: the oldest promised Python with the floors of pyproject.toml, which are read
  from there, of all dependencies and of all extras that users and tests need,
- `newest`: the newest Python that is found, and the newest versions,
- `bare`: the newest Python without any extra. Whatever needs one must say which.

`--record` writes versions and counts to docs/versions.md if everything passed.
"""

from __future__ import annotations

import argparse
import datetime
import shutil
import signal
import subprocess
import sys
import tomllib
import xml.etree.ElementTree as ElementTree
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from environments import (
    ROOT,
    clean_variables,
    find_pythons,
    install,
    installed,
    make_environment,
    normal,
    project,
    promised_floors,
    python_floor,
    run,
    shown_extras,
)

BUILD = ROOT / "build" / "matrix"
PAGE = ROOT / "docs" / "versions.md"
# An old matplotlib uses names that a new pyparsing deprecates, which blames either.
WARNINGS = "filterwarnings=error\nignore::DeprecationWarning:(matplotlib|pyparsing)"
CORE = "not slow and not browser"
RUNNER = ("pytest", "pytest-xdist", "hypothesis")
# These compare files of the checkout with each other, and say nothing of versions.
ABOUT_THE_CHECKOUT = (
    "tests/test_layout.py",
    "tests/test_repository.py",
    "tests/test_tools.py",
)
# More than half of the time; the other methods share the interface of DSWL.
REPETITION = "tests/methods/test_sklearn.py::test_other_methods"


@dataclass(frozen=True)
class Environment:
    """What is installed, and what tests may lack there."""

    name: str
    extras: Sequence[str]
    tools: Sequence[str]
    oldest: bool
    may_lack: str

    def python(self, found: dict[str, str]) -> str:
        """Return the version of Python, of those that were found."""
        if not self.oldest:
            return list(found)[-1]
        if python_floor() not in found:
            raise SystemExit(
                f"The oldest promised Python, {python_floor()}, is not on the PATH: "
                "put it there, or name it with --python."
            )
        return python_floor()


PEERS = "pyrpca,skpcp,prince,robpy"  # import names of the extra `peers`
ENVIRONMENTS = {
    environment.name: environment
    for environment in (
        Environment("oldest", shown_extras(), (), oldest=True, may_lack=PEERS),
        Environment("newest", shown_extras(), (), oldest=False, may_lack=PEERS),
        Environment("bare", (), RUNNER, oldest=False, may_lack="any"),
    )
}


@dataclass(frozen=True)
class Outcome:
    """What a run of the tests gave."""

    python: str
    versions: dict[str, str]
    passed: int
    skipped: int
    failed: int


def main() -> None:
    """Run the chosen environments, print and perhaps record what they gave."""
    options = parse()
    # Tests send interrupts, which a job in the background of a shell would ignore.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    found = find_pythons(options.python)
    wheel = build_wheel(list(found.values())[0])
    outcomes = {}
    for name in options.environments or ENVIRONMENTS:
        outcomes[name] = try_environment(ENVIRONMENTS[name], found, wheel, options)
    print("\n" + table(outcomes))
    if any(outcome.failed for outcome in outcomes.values()):
        sys.exit(1)
    if options.record:
        if set(outcomes) != set(ENVIRONMENTS) or options.tests:
            sys.exit("Only a run of all environments and tests is recorded.")
        PAGE.write_text(page(outcomes))


def parse() -> argparse.Namespace:
    """Return the options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("environments", nargs="*", metavar="ENVIRONMENT",
                        help=f"some of {', '.join(ENVIRONMENTS)} (all)")  # fmt: skip
    parser.add_argument("--python", action="append", default=[], metavar="PATH",
                        help="interpreters to use (those on the PATH)")  # fmt: skip
    parser.add_argument("--tests", action="append", default=[], metavar="PATH",
                        help="run only these files or folders")  # fmt: skip
    parser.add_argument("--keep", action="store_true",
                        help="use environments that are there as they are")  # fmt: skip
    parser.add_argument("--processes", default="2", help="of pytest (2)")
    parser.add_argument("--record", action="store_true",
                        help=f"write {PAGE.relative_to(ROOT)}")  # fmt: skip
    options = parser.parse_args()
    if unknown := set(options.environments) - set(ENVIRONMENTS):
        parser.error(f"there is no environment {', '.join(sorted(unknown))}")
    return options


def build_wheel(python: str) -> Path:
    """Build the wheel; its path."""
    shutil.rmtree(BUILD / "wheel", ignore_errors=True)
    pip = [python, "-m", "pip", "--disable-pip-version-check", "wheel", "--quiet"]
    run([*pip, "--no-deps", "--wheel-dir", BUILD / "wheel", ROOT])
    (wheel,) = (BUILD / "wheel").glob("*.whl")
    return wheel


def try_environment(
    environment: Environment,
    found: dict[str, str],
    wheel: Path,
    options: argparse.Namespace,
) -> Outcome:
    """Make an environment and run smoke tests and tests there."""
    version, folder = environment.python(found), BUILD / environment.name
    print(f"== {environment.name}: Python {version}", flush=True)
    python = folder / "bin" / "python"
    if not (options.keep and python.exists()):
        python = make_environment(folder, found[version])
        floors = folder / "floors.txt"
        limits = promised_floors() if environment.oldest else {}
        floors.write_text("".join(f"{n}=={v}\n" for n, v in limits.items()))
        extras = f"[{','.join(environment.extras)}]" if environment.extras else ""
        package = f"{project()['name']}{extras} @ {wheel.as_uri()}"
        install(python, "-c", floors, package, *environment.tools)
    else:
        install(python, "--no-deps", "--force-reinstall", wheel)
    run([python, "-I", ROOT / "tools" / "smoke.py", ROOT / "examples"])
    passed, skipped, failed = run_tests(environment, python, options)
    return Outcome(version, installed(python), passed, skipped, failed)


def read_by_tests() -> list[str]:
    """Return what the sdist includes, but for src/: trueaxis is the installed one."""
    text = (ROOT / "pyproject.toml").read_text()
    sdist = tomllib.loads(text)["tool"]["hatch"]["build"]["targets"]["sdist"]
    names = [name.removeprefix("/") for name in sdist["include"]]
    return ["pyproject.toml", *(name for name in names if name != "src")]


def run_tests(
    environment: Environment, python: Path, options: argparse.Namespace
) -> tuple[int, int, int]:
    """Run the tests in a copy of what they read; how many passed, skipped, failed."""
    tree, results = (
        BUILD / f"{environment.name}-tree",
        BUILD / f"{environment.name}.xml",
    )
    shutil.rmtree(tree, ignore_errors=True)
    tree.mkdir(parents=True)
    for name in read_by_tests():
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, tree / name)
    ignored = [f"--ignore={path}" for path in ABOUT_THE_CHECKOUT]
    command = [
        python, "-m", "pytest", "-q", "-n", options.processes, "-m", CORE,
        "-o", WARNINGS, "-p", "lacking", f"--may-lack={environment.may_lack}",
        "-p", "no:cacheprovider", "--tb=short", "-r", "fE", f"--junitxml={results}",
        *ignored, f"--deselect={REPETITION}", *(options.tests or ["tests"]),
    ]  # fmt: skip
    variables = {"PYTHONPATH": str(ROOT / "tools"), "OPENBLAS_NUM_THREADS": "1"}
    results.unlink(missing_ok=True)
    done = subprocess.run(command, cwd=tree, env=clean_variables() | variables)
    if done.returncode not in (0, 1) or not results.exists():
        raise SystemExit(f"pytest ended with exit code {done.returncode}.")
    suite = next(ElementTree.parse(results).iter("testsuite"))
    count = {n: int(suite.get(n)) for n in ("tests", "skipped", "failures", "errors")}
    failed = count["failures"] + count["errors"]
    return count["tests"] - failed - count["skipped"], count["skipped"], failed


def table(outcomes: dict[str, Outcome]) -> str:
    """Return versions and counts of every environment as a Markdown table."""
    rows = [
        ["", *outcomes],
        ["---", *("---" for _ in outcomes)],
        ["Python", *(outcome.python for outcome in outcomes.values())],
    ]
    for name in promised_floors():
        versions = (o.versions.get(normal(name), "-") for o in outcomes.values())
        rows.append([name, *versions])
    for count in ("passed", "skipped", "failed"):
        rows.append([count, *(str(getattr(o, count)) for o in outcomes.values())])
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def page(outcomes: dict[str, Outcome]) -> str:
    """Return the page on versions."""
    return (
        "# Versions\n\n"
        f"What `make matrix` tested on {datetime.date.today()}, and wrote to this page "
        "with\n`--record`. The oldest versions are those that `pyproject.toml` "
        "promises. `bare` is an\ninstallation without any extra: tests that need one "
        "are skipped there, and everything that\nneeds one says which.\n\n"
        f"{table(outcomes)}"
    )


if __name__ == "__main__":
    main()
