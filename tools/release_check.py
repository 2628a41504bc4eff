"""Check that what would be released can be trusted; `make release-check` runs it.

Builds sdist and wheel twice, the second time from the unpacked sdist, which must give
the same bytes; checks contents and metadata; installs each archive into a clean
environment and tries it there; and checks that version, changelog and citation agree.
Everything is written below build/release/.
"""

from __future__ import annotations

import argparse
import datetime
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

from environments import (
    ROOT,
    clean_variables,
    find_pythons,
    install,
    make_environment,
    project,
    run,
)

BUILD = ROOT / "build" / "release"
TOOLS = ("build", "twine", "cffconvert")
DATED = re.compile(r"^## (\d+\.\d+\.\d+) - (\d{4}-\d\d-\d\d)$", re.M)


def main() -> None:
    """Run all checks."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--python", help="interpreter to use (the one that runs this)")
    parser.add_argument("--tag", help="tag that must name this version, such as v0.1.0")
    options = parser.parse_args()
    (python,) = find_pythons([options.python or sys.executable]).values()
    shutil.rmtree(BUILD, ignore_errors=True)
    tools = make_environment(BUILD / "tools", python)
    install(tools, *TOOLS)

    version = package_version(ROOT)
    if options.tag not in (None, f"v{version}"):
        raise SystemExit(f"The tag is {options.tag}, but the version is {version}.")
    check_documents(version)
    run([tools.with_name("cffconvert"), "--validate", "-i", ROOT / "CITATION.cff"])
    sdist, wheel = build_twice(tools)
    check_names(sdist, wheel, version)
    check_contents(sdist, wheel)
    run([tools, "-m", "twine", "check", "--strict", sdist, wheel])
    for archive in (wheel, sdist):
        try_archive(archive, python)
    print(f"{project()['name']} {version} can be released.")


def package_version(folder: Path) -> str:
    """Return the version, which stands in one place only."""
    text = (folder / "src" / "trueaxis" / "__init__.py").read_text()
    (version,) = re.findall(r'^__version__ = "(.*)"$', text, re.M)
    return version


def released(changelog: str) -> tuple[str, str]:
    """Return version and date of the latest release in a changelog."""
    headings = DATED.findall(changelog)
    if not headings:
        raise SystemExit(
            "CHANGELOG.md has no heading with a date: write one such as "
            "'## 0.1.0 - 2026-11-18'."
        )
    return headings[0]


def cited(citation: str) -> tuple[str, str]:
    """Return version and date of CITATION.cff."""
    found = dict(
        re.findall(r"^(version|date-released): [\"']?(.*?)[\"']?$", citation, re.M)
    )
    return found.get("version", "none"), found.get("date-released", "none")


def check_documents(version: str) -> None:
    """Check that the changelog and the citation are about this version."""
    heading = released((ROOT / "CHANGELOG.md").read_text())
    citation = cited((ROOT / "CITATION.cff").read_text())
    if heading[0] != version or citation != heading:
        raise SystemExit(
            f"The package is version {version}, the latest dated heading of "
            f"CHANGELOG.md is {' of '.join(heading)}, and CITATION.cff is about "
            f"{' of '.join(citation)}: make them agree."
        )


def build_twice(tools: Path) -> tuple[Path, Path]:
    """Build sdist and wheel from the checkout, and again from the sdist; the paths."""
    first = build(tools, ROOT, BUILD / "dist", mask=0o022)
    with tarfile.open(first[0]) as archive:
        archive.extractall(BUILD / "unpacked", filter="data")
    (unpacked,) = (BUILD / "unpacked").iterdir()
    second = build(tools, unpacked, BUILD / "again", mask=0o077)
    for one, other in zip(first, second, strict=True):
        if one.name != other.name or one.read_bytes() != other.read_bytes():
            raise SystemExit(
                f"{one} and {other} differ: the build is not reproducible."
            )
    return first


def build(tools: Path, source: Path, target: Path, mask: int) -> tuple[Path, Path]:
    """Build sdist and wheel of a folder, with the rights that a mask leaves."""
    epoch = {"SOURCE_DATE_EPOCH": released_epoch()}
    command = [tools, "-m", "build", "--outdir", target, source]
    subprocess.run(
        command, env=clean_variables() | epoch, umask=mask, check=True,
        stdout=subprocess.DEVNULL,
    )  # fmt: skip
    (sdist,), (wheel,) = target.glob("*.tar.gz"), target.glob("*.whl")
    return sdist, wheel


def released_epoch() -> str:
    """Return the time that files in the archives get: the day of the release."""
    date = released((ROOT / "CHANGELOG.md").read_text())[1]
    day = datetime.datetime.fromisoformat(date).replace(tzinfo=datetime.UTC)
    return str(int(day.timestamp()))


def check_names(sdist: Path, wheel: Path, version: str) -> None:
    """Check that the archives are named after the package and its version."""
    name = project()["name"]
    expected = {f"{name}-{version}.tar.gz", f"{name}-{version}-py3-none-any.whl"}
    if {sdist.name, wheel.name} != expected:
        raise SystemExit(f"Built {sdist.name} and {wheel.name}, not {expected}.")


def check_contents(sdist: Path, wheel: Path) -> None:
    """Check that nothing is missing in the archives, or too much."""
    with tarfile.open(sdist) as archive:
        files = [member.name for member in archive if member.isfile()]
    in_sdist = {name.partition("/")[2] for name in files}
    in_wheel = {
        name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name
    }
    package = {n.removeprefix("src/") for n in in_sdist if n.startswith("src/")}
    compare("the wheel", in_wheel, "the sdist's package", package)
    for suffix in (".html", ".css", ".js", ".json", "py.typed"):
        if not any(name.endswith(suffix) for name in in_wheel):
            raise SystemExit(f"The wheel has no file that ends in {suffix}.")
    if (ROOT / ".git").exists():
        listed = subprocess.check_output(["git", "-C", ROOT, "ls-files"], text=True)
        tracked = {name for name in listed.splitlines() if not name.startswith(".ci/")}
        compare("the sdist", in_sdist - {"PKG-INFO"}, "the repository", tracked)


def compare(one: str, names: set[str], other: str, others: set[str]) -> None:
    """End with the first differences between two lists of files."""
    if names != others:
        raise SystemExit(
            f"Only in {one}: {sorted(names - others)[:9]}. "
            f"Only in {other}: {sorted(others - names)[:9]}."
        )


def try_archive(archive: Path, python: str) -> None:
    """Install an archive without and then with extras, and try it outside of here."""
    folder = BUILD / f"from-{'wheel' if archive.suffix == '.whl' else 'sdist'}"
    inside = make_environment(folder, python)
    for extras in ("", "[report,plot,io,onnx,dask]"):
        print(f"{archive.name}{extras}", flush=True)
        install(inside, f"{project()['name']}{extras} @ {archive.as_uri()}")
        smoke = shutil.copy(ROOT / "tools" / "smoke.py", folder)
        run([inside, "-I", smoke, ROOT / "examples"], cwd=folder)


if __name__ == "__main__":
    main()
