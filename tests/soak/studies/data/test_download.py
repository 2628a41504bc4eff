"""Data sets from registries, which a server in this process plays."""

import os

import numpy as np
import pytest

from studies.data import load
from tests.soak.studies.registry_server import arff, on_openml, on_uci, rows_of


def test_a_table_comes_from_openml_and_stays_in_the_cache(home, server, cache):
    known = load("glass", data_home=home)
    kinds = {
        1: "'float build'",
        2: "'no float'",
        3: "car",
        5: "jar",
        6: "cup",
        7: "lamp",
    }
    rows = rows_of(known, [kinds[kind] for kind in known.target])
    on_openml(server, "glass", arff([[i, *row] for i, row in enumerate(rows)]))
    data = load("glass")
    assert data.exact and data.origin.endswith("/data/v1/download/77")
    assert np.array_equal(data.X, known.X) and np.array_equal(data.target, known.target)
    server.asked.clear()
    again = load("glass")
    assert again.exact and again.origin == str(cache / "uci" / "glass.csv")
    assert server.asked == [] and os.listdir(cache / "uci") == ["glass.csv"]


def test_uci_is_asked_if_openml_fails(home, server):
    known = load("bupa", data_home=home)
    text = "\n".join(
        ["a,b,c,d,e,f,g", *(",".join(map(str, r)) for r in rows_of(known))]
    )
    on_uci(server, "bupa", text)
    data = load("bupa")
    assert data.exact and data.origin.endswith("/static/public/60/data.csv")
    assert server.asked[0] == "/api/v1/json/data/8"


def test_a_rounded_copy_is_not_exact(home, server, cache):
    known = load("column", data_home=home)
    rows = [[*np.round(row[:-1], 2), row[-1]] for row in rows_of(known)]
    on_openml(server, "column", arff(rows))
    for data in (load("column"), load("column")):  # the second from the cache
        assert not data.exact and "not bit for bit" in data.description
        assert np.abs(data.X - known.X).max() <= 0.005 + 1e-12
        assert np.array_equal(data.target, known.target)


def garbage(server, rows):
    on_openml(server, "seeds", "<html>Down for maintenance</html>")


def fewer_rows(server, rows):
    on_openml(server, "seeds", arff(rows[:-1]))


def other_classes(server, rows):
    on_openml(server, "seeds", arff([[*row[:-1], i] for i, row in enumerate(rows)]))


def wrong_md5(server, rows):
    on_openml(server, "seeds", arff(rows), md5="0" * 32)


def broken_off(server, rows):
    on_openml(server, "seeds", arff(rows))
    server.broken.add("/data/v1/download/77")


@pytest.mark.parametrize(
    "fault, message",
    [
        (garbage, "no @data line"),
        (fewer_rows, "none of its columns adds up"),
        (other_classes, "class sizes of seeds"),
        (wrong_md5, "announced 000"),
        (broken_off, "response was incomplete.*1000 more expected"),
    ],
)
def test_a_bad_answer_is_refused_and_leaves_nothing(
    fault, message, home, server, cache
):
    fault(server, rows_of(load("seeds", data_home=home)))
    with pytest.raises(FileNotFoundError, match=message) as error:
        load("seeds")
    assert "/static/public/236/data.csv answered 404" in str(error.value)
    assert not cache.exists()


def test_an_interrupt_while_writing_leaves_no_half_file(
    home, server, cache, monkeypatch
):
    on_openml(server, "seeds", arff(rows_of(load("seeds", data_home=home))))

    def interrupted(*args):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", interrupted)
        with pytest.raises(KeyboardInterrupt):
            load("seeds")
    assert os.listdir(cache / "uci") == []
    assert load("seeds").exact


def test_an_edited_cache_is_refused(home, server, cache):
    on_openml(server, "seeds", arff(rows_of(load("seeds", data_home=home))))
    load("seeds")
    path = cache / "uci" / "seeds.csv"
    path.write_bytes(path.read_bytes()[:3000])
    with pytest.raises(ValueError, match=f"{path}.*Delete it"):
        load("seeds")
    path.unlink()
    assert load("seeds").exact
