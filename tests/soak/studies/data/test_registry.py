"""Facts about the data sets."""

import json

import pytest

from studies.data import FACES, UCI
from studies.data.registry import facts_of


def test_the_facts_are_those_of_the_manifest(home):
    manifest = home / "manifest.json"
    if not manifest.is_file():
        pytest.skip(f"there is no {manifest}")
    entries = json.loads(manifest.read_text())["datasets"]
    assert tuple(entries) == UCI + FACES
    for name, entry in entries.items():
        facts = facts_of(name)
        for key in ("title", "file", "n", "d", "class_counts", "sha256"):
            assert getattr(facts, key) == entry[key]
        assert facts.paper_n == entry["paper"]["n"]
        assert facts.column_sums == tuple(entry.get("column_sums", ()))
        assert facts.uci == (entry["uci"] or {}).get("id")
        assert (facts.openml or {}).items() <= (entry["openml"] or {}).items()
