"""The project's own files agree with each other."""

import re
from pathlib import Path

import yaml

ROOT = Path(__file__).parent.parent


def recipe(target):
    """Return the commands of a target of the Makefile."""
    makefile = (ROOT / "Makefile").read_text().replace("$(BIN)", ".venv/bin")
    return re.search(rf"^{target}:.*##.*\n((?:\t.*\n)+)", makefile, re.M)[1].split("\n")


def test_pre_commit_runs_what_make_lint_runs():
    config = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())
    (local,) = config["repos"]
    assert local["repo"] == "local"
    hooks = local["hooks"]
    assert {hook["language"] for hook in hooks} == {"system"}
    assert not any(hook["pass_filenames"] for hook in hooks)
    commands = [line.strip() for line in recipe("lint") if line]
    assert [hook["entry"] for hook in hooks] == commands


def test_all_targets_are_phony_and_explained():
    makefile = (ROOT / "Makefile").read_text()
    phony = re.search(r"^\.PHONY: (.*)", makefile, re.M)[1].split()
    assert re.findall(r"^([a-z-]+):.*## \S", makefile, re.M) == phony
