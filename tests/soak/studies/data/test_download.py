"""Data sets from registries, which a server in this process plays."""

import os

import numpy as np
import pytest

from studies.data import download, load
from studies.data.registry import facts_of
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


def test_wine_comes_from_either_registry(server):
    known, address = load("wine"), f"http://127.0.0.1:{server.server_port}"
    facts = facts_of("wine")
    nowhere = {"_openml": f"{address}/no", "_uci": f"{address}/no"}
    with pytest.raises(ConnectionError, match=r"OpenML 187: .*404.*; UCI 109: .*404"):
        download.fetch(facts, **nowhere)
    rows = rows_of(known, (known.target + 1).tolist())
    on_openml(server, "wine", arff(rows))
    X, labels, _ = download.fetch(facts, **nowhere | {"_openml": address})
    assert np.array_equal(X, known.X) and labels == [str(t) for t in known.target]
    text = "\n".join([",".join(map(str, row)) for row in [["head"] * 14, *rows]])
    on_uci(server, "wine", text)
    X, labels, origin = download.fetch(facts, **nowhere | {"_uci": address})
    assert np.array_equal(X, known.X) and origin.endswith("/109/data.csv")
    on_uci(server, "wine", "<html>no table</html>")
    with pytest.raises(
        ConnectionError, match="UCI 109: .*is not the data set: it has no rows"
    ):
        download.fetch(facts, **nowhere | {"_uci": address})


@pytest.mark.parametrize(
    "rows, message",
    [
        ([[*range(10), i // 10] for i in range(400)], "10 pixels, but 64 x 64"),
        ([[*range(10), i] for i in range(400)], "class sizes of orl"),
    ],
)
def test_images_of_another_kind_are_refused(rows, message, server):
    on_openml(server, "orl", arff(rows))
    with pytest.raises(FileNotFoundError, match=message):
        load("orl")


def test_columns_are_found_whatever_the_registry_added(home, server):
    known = load("zoo", data_home=home)
    words = ["'false'", "'true'"]
    rows = [
        [
            f"'animal, {i}'",
            *(v if j == 12 else words[int(v)] for j, v in enumerate(row)),
        ]
        for i, row in enumerate(known.X)
    ]
    kinds = ["", "mammal", "bird", "reptile", "fish", "toad", "insect", "other"]
    rows = [[*r, kinds[t]] for r, t in zip(rows, known.target, strict=True)]
    on_openml(server, "zoo", arff(rows))
    assert load("zoo").exact


def test_uci_is_asked_if_openml_fails(home, server):
    known = load("bupa", data_home=home)
    text = "\n".join(
        ["a,b,c,d,e,f,g", *(",".join(map(str, r)) for r in rows_of(known))]
    )
    on_uci(server, "bupa", text)
    data = load("bupa")
    assert data.exact and data.origin.endswith("/static/public/60/data.csv")
    assert server.asked[0] == "/api/v1/json/data/8"


def test_text_may_be_utf_16(home, server):
    known = load("happiness", data_home=home)
    # The class comes first there.
    rows = [[row[-1], *row[:-1]] for row in rows_of(known)]
    text = "\n".join(["D,X1,X2,X3,X4,X5,X6", *(",".join(map(str, r)) for r in rows)])
    on_uci(server, "happiness", text, "utf-16")
    assert load("happiness").exact


def test_a_rounded_copy_is_not_exact(home, server, cache):
    known = load("column", data_home=home)
    rows = [[*np.round(row[:-1], 2), row[-1]] for row in rows_of(known)]
    on_openml(server, "column", arff(rows))
    for data in (load("column"), load("column")):  # the second from the cache
        assert not data.exact and "not bit for bit" in data.description
        assert np.abs(data.X - known.X).max() <= 0.005 + 1e-12
        assert np.array_equal(data.target, known.target)


@pytest.mark.slow
def test_larger_faces_are_resized(home, server, cache):
    known = load("orl", data_home=home)
    large = np.kron(known.images, np.ones((2, 2))) / 255
    flat = large.transpose(0, 2, 1).reshape(400, -1)
    rows = [[*row, t - 1] for row, t in zip(flat.round(4), known.target, strict=True)]
    on_openml(server, "orl", arff(rows))
    data = load("orl")
    assert np.array_equal(data.target, known.target)
    assert np.abs(data.X - known.X).max() <= 1 and data.image_shape == (32, 32)
    again = load("orl")
    assert again.origin == str(cache / "faces" / "orl.npz")
    assert np.array_equal(again.X, data.X) and again.exact == data.exact


def garbage(server, rows):
    on_openml(server, "seeds", "<html>Down for maintenance</html>")


def endless_line(server, rows):
    on_openml(server, "seeds", "@data\n" + "x" * 200_000)


def no_description(server, rows):
    server.pages["/api/v1/json/data/1499"] = b"<html>Welcome</html>"


def other_data(server, rows):
    on_openml(server, "seeds", arff([[1, 2, 3], [4, 5, 6]]))


def fewer_rows(server, rows):
    on_openml(server, "seeds", arff(rows[:-1]))


def other_classes(server, rows):
    on_openml(server, "seeds", arff([[*row[:-1], i] for i, row in enumerate(rows)]))


def ragged(server, rows):
    on_openml(server, "seeds", arff([*rows, [1, 2]]))


def wrong_md5(server, rows):
    on_openml(server, "seeds", arff(rows), md5="0" * 32)


def broken_off(server, rows):
    on_openml(server, "seeds", arff(rows))
    server.broken.add("/data/v1/download/77")


@pytest.mark.parametrize(
    "fault, message",
    [
        (garbage, "no @data line"),
        (endless_line, "not a table"),
        (no_description, "no data set description"),
        (other_data, "none of its columns adds up to 3117.98"),
        (fewer_rows, "none of its columns adds up"),
        (other_classes, "class sizes of seeds"),
        (ragged, "from 2 to 8 cells"),
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
