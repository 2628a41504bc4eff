"""Data sets from registries, which folders play."""

import hashlib
import json
import os

import numpy as np
import pytest

from studies.data import load
from studies.data.registry import facts_of


@pytest.fixture
def registry(tmp_path, monkeypatch):
    place = tmp_path / "registry"
    for name in ("OPENML", "UCI"):
        monkeypatch.setattr(f"studies.data.download.{name}", place.as_uri())
    return place


def put(registry, page, text):
    path = registry / page
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def on_openml(registry, name, text, md5=None):
    md5 = md5 or hashlib.md5(text.encode()).hexdigest()
    entry = {"data_set_description": {"file_id": "77", "md5_checksum": md5}}
    number = facts_of(name).openml["id"]
    put(registry, f"api/v1/json/data/{number}", json.dumps(entry))
    put(registry, "data/v1/download/77", text)


def arff(rows):
    lines = [f"@ATTRIBUTE a{j} REAL" for j in range(len(rows[0]))]
    data = [",".join(map(str, row)) for row in rows]
    return "\n".join(["% text", "@RELATION x", *lines, "@DATA", "% more", *data, ""])


def rows_of(data):
    return [[*x, y] for x, y in zip(data.X.tolist(), data.target.tolist(), strict=True)]


def test_a_table_comes_from_openml_and_stays_in_the_cache(home, registry, cache):
    known = load("seeds", data_home=home)
    on_openml(registry, "seeds", arff([[i, *r] for i, r in enumerate(rows_of(known))]))
    data = load("seeds")
    assert data.exact and data.origin.endswith("/data/v1/download/77")
    assert np.array_equal(data.X, known.X) and np.array_equal(data.target, known.target)
    (registry / "data/v1/download/77").unlink()
    path = cache / "uci" / "seeds.csv"
    assert load("seeds").origin == str(path) and os.listdir(path.parent) == [path.name]
    path.write_bytes(path.read_bytes()[:3000])
    with pytest.raises(ValueError, match=f"{path}.*Delete it"):
        load("seeds")


def test_uci_is_asked_if_openml_fails(home, registry):
    rows = rows_of(load("bupa", data_home=home))
    text = "\n".join(["a,b,c,d,e,f,g", *(",".join(map(str, row)) for row in rows)])
    put(registry, f"static/public/{facts_of('bupa').uci}/data.csv", text)
    data = load("bupa")
    assert data.exact and data.origin.endswith("/static/public/60/data.csv")


def test_a_rounded_copy_is_not_exact(home, registry, cache):
    known = load("column", data_home=home)
    rows = [[*np.round(row[:-1], 2), row[-1]] for row in rows_of(known)]
    on_openml(registry, "column", arff(rows))
    for data in (load("column"), load("column")):  # the second from the cache
        assert not data.exact and "not bit for bit" in data.description
        assert np.abs(data.X - known.X).max() <= 0.005 + 1e-12


@pytest.mark.parametrize(
    "fault, md5, message",
    [
        (lambda rows: "<html>Down</html>", None, "no @data line"),
        (lambda rows: arff(rows[:-1]), None, "none of its columns adds up"),
        (lambda rows: arff([[*r[:-1], i] for i, r in enumerate(rows)]), None, "sizes"),
        (arff, "0" * 32, "announced 000"),
    ],
)
def test_a_bad_answer_is_refused_and_leaves_nothing(
    fault, md5, message, home, registry, cache
):
    on_openml(registry, "seeds", fault(rows_of(load("seeds", data_home=home))), md5)
    with pytest.raises(FileNotFoundError, match=message):
        load("seeds")
    assert not cache.exists()
