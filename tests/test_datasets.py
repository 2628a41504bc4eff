"""The study's data: toy points, damage, and real sets from disk, server or nowhere."""

import hashlib
import json
import os
import shutil
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest
from scipy.io import savemat
from scipy.stats import chi2

from trueaxis.datasets import (
    FACES,
    UCI,
    contaminate,
    download,
    load,
    occlude,
    toy,
)
from trueaxis.datasets.checks import renamed, shrunk, upright
from trueaxis.datasets.parsing import arff_cells, csv_cells, decoded, table
from trueaxis.datasets.registry import facts_of

GIVEN = os.environ.get("TRUEAXIS_DATA")


@pytest.fixture
def home():
    if GIVEN is None:
        pytest.skip("TRUEAXIS_DATA, a folder with the paper's data sets, is not set")
    return Path(GIVEN)


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    # No test sees the user's cache, nor the network.
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("TRUEAXIS_DATA", raising=False)
    monkeypatch.setattr(download, "OPENML", "http://127.0.0.1:9")
    monkeypatch.setattr(download, "UCI", "http://127.0.0.1:9")
    monkeypatch.setenv("no_proxy", "*")
    return tmp_path / "cache" / "trueaxis"


# Real sets from a folder


@pytest.mark.parametrize("name", UCI + FACES)
def test_every_set_loads_from_a_data_home(name, home, monkeypatch):
    monkeypatch.setenv("TRUEAXIS_DATA", str(home))
    data, facts = load(name, download=False), facts_of(name)
    assert data.exact and data.origin.startswith(str(home))
    assert data.X.shape == (facts.n, facts.d) and data.X.dtype == np.float64
    classes, counts = np.unique(data.target, return_counts=True)
    assert dict(zip(map(str, classes), counts, strict=True)) == facts.class_counts
    assert len(data.feature_names) == facts.d
    assert data.licence and facts.title in data.description
    raw = (home / facts.file).read_bytes()
    assert hashlib.sha256(raw).hexdigest() == facts.sha256
    if name in UCI:
        np.testing.assert_allclose(data.X.sum(axis=0), facts.column_sums, rtol=1e-8)
        with pytest.raises(AttributeError, match="is a table"):
            _ = data.images
    else:
        with np.load(home / facts.file) as arrays:
            assert np.array_equal(data.images, arrays["images"])


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


@pytest.mark.parametrize("name", ["wine", "breast_cancer"])
def test_two_sets_come_with_scikit_learn(name):
    data = load(name, download=False)
    assert data.exact and data.origin == "scikit-learn"


def test_umist_tells_its_copies(home):
    data = load("umist", data_home=home)
    assert np.flatnonzero(data.is_repeat).tolist() == list(range(63, 73))
    assert len(np.unique(data.X[~data.is_repeat], axis=0)) == 565
    assert "575" in data.description and "564" in data.description


def edited(home, tmp_path, name, change):
    path = tmp_path / "home" / facts_of(name).file
    path.parent.mkdir(parents=True)
    path.write_bytes(change((home / facts_of(name).file).read_bytes()))
    return tmp_path / "home"


@pytest.mark.parametrize(
    "name, change, message",
    [
        ("seeds", lambda raw: raw[:5000], "rows|cells"),
        (
            "seeds",
            lambda raw: raw[: raw.rindex(b"\n", 0, 5000) + 1],
            "but seeds has 210",
        ),
        ("seeds", lambda raw: b"", "cut off"),
        ("seeds", lambda raw: raw.replace(b"15.26", b"95.26", 1), "area adds up to"),
        ("seeds", lambda raw: raw.replace(b"15.26", b"15.27", 1), "was edited.*sha256"),
        ("seeds", lambda raw: raw.replace(b"5.22,1\n", b"5.22,2\n", 1), r"1 \(69\)"),
        ("seeds", lambda raw: raw.replace(b"15.26", b"nan", 1), "1 cells that are no"),
        ("seeds", lambda raw: raw.replace(b"15.26", b"?", 1), "cannot be read"),
        ("yale", lambda raw: raw[:5000], "cannot be read"),
        ("yale", lambda raw: raw[:5000] + b"x" + raw[5001:], "cannot be read"),
        ("yale", lambda raw: b"no archive", "cannot be read"),
    ],
)
def test_a_damaged_file_is_refused(name, change, message, home, tmp_path):
    place = edited(home, tmp_path, name, change)
    with pytest.raises(ValueError, match=message) as error:
        load(name, data_home=place)
    assert str(place) in str(error.value)


def test_a_file_of_the_same_values_in_other_bytes_is_accepted(home, tmp_path):
    place = edited(home, tmp_path, "seeds", lambda raw: raw.replace(b"\n", b"\r\n"))
    assert load("seeds", data_home=place).exact


# Deng Cai's files


@pytest.mark.parametrize("order", ["columns", "rows"])
@pytest.mark.parametrize("file", ["faces/Yale_32x32.mat", "yale.mat"])
def test_a_matlab_file_does_as_well(order, file, home, cache, tmp_path):
    known = load("yale", data_home=home)
    images = known.images.transpose(0, 2, 1) if order == "columns" else known.images
    path = tmp_path / "home" / file
    path.parent.mkdir(parents=True)
    fea = images.reshape(165, -1).astype(np.uint8)
    savemat(path, {"fea": fea, "gnd": known.target[:, None]})
    data = load("yale", data_home=tmp_path / "home", download=False)
    assert data.exact and data.origin == str(path)
    assert np.array_equal(data.X, known.X) and np.array_equal(data.target, known.target)
    shutil.copytree(tmp_path / "home", cache)
    assert load("yale", download=False).origin.startswith(str(cache))


@pytest.mark.parametrize(
    "arrays, message",
    [
        ({"fea": np.ones((3, 1024))}, "no array 'gnd'"),
        ({"fea": np.ones((3, 900)), "gnd": np.ones(3)}, r"\(3, 900\), expected 165"),
        ({"fea": np.ones((165, 1024)), "gnd": np.ones(165)}, "does not look like"),
    ],
)
def test_another_matlab_file_is_refused(arrays, message, tmp_path):
    savemat(tmp_path / "yale.mat", arrays)
    with pytest.raises(ValueError, match=message):
        load("yale", data_home=tmp_path)


def test_a_damaged_matlab_file_is_refused(tmp_path):
    (tmp_path / "yale.mat").write_bytes(b"x" * 500)
    with pytest.raises(ValueError, match="cannot be read.*-v7"):
        load("yale", data_home=tmp_path)


def test_a_matlab_file_with_other_pixels_is_told_apart(home, tmp_path):
    known = load("yale", data_home=home)
    fea = np.minimum(known.X + 1, 255)
    savemat(tmp_path / "yale.mat", {"fea": fea, "gnd": known.target})
    data = load("yale", data_home=tmp_path)
    assert not data.exact and "not bit for bit" in data.description


# Nowhere to be found


def test_offline_the_message_says_what_to_do(tmp_path, cache):
    with pytest.raises(FileNotFoundError) as error:
        load("seeds", data_home=tmp_path)
    message = str(error.value)
    for part in (
        *("210 rows", "uci/seeds.csv", str(tmp_path), str(cache), "OpenML 1499"),
        *("UCI 236", "no connection", "groove_length, target", "TRUEAXIS_DATA"),
    ):
        assert part in message


def test_faces_without_a_registry_ask_for_a_file():
    with pytest.raises(FileNotFoundError) as error:
        load("yaleb")
    for part in ("no public registry", "YaleB_32x32.mat", "2414 x 1024", "gnd"):
        assert part in str(error.value)


def test_download_can_be_forbidden():
    with pytest.raises(FileNotFoundError, match="download=False"):
        load("glass", download=False)


def test_wrong_names_and_folders_are_refused(tmp_path, monkeypatch):
    with pytest.raises(ValueError, match="'iris' is not.*seeds, ecoli"):
        load("iris")
    with pytest.raises(FileNotFoundError, match="data_home=.*is not a folder"):
        load("seeds", data_home=tmp_path / "none")
    monkeypatch.setenv("TRUEAXIS_DATA", str(tmp_path / "none"))
    with pytest.raises(FileNotFoundError, match="TRUEAXIS_DATA=.*is not a folder"):
        load("seeds")


# From registries, played by a server in this process


class Registry(BaseHTTPRequestHandler):
    def do_GET(self):
        body = self.server.pages.get(self.path)
        self.server.asked.append(self.path)
        if body is None:
            self.send_error(404)
            return
        self.send_response(200)
        # "broken" pages announce more than they send.
        more = 1000 if self.path in self.server.broken else 0
        self.send_header("Content-Length", str(len(body) + more))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


@pytest.fixture
def server(monkeypatch):
    server = ThreadingHTTPServer(("127.0.0.1", 0), Registry)
    server.pages, server.broken, server.asked = {}, set(), []
    address = f"http://127.0.0.1:{server.server_port}"
    monkeypatch.setattr(download, "OPENML", address)
    monkeypatch.setattr(download, "UCI", address)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


def on_openml(server, name, text, md5=None):
    raw = text.encode()
    entry = {"file_id": "77", "md5_checksum": md5 or hashlib.md5(raw).hexdigest()}
    number = facts_of(name).openml["id"]
    body = json.dumps({"data_set_description": entry}).encode()
    server.pages[f"/api/v1/json/data/{number}"] = body
    server.pages["/data/v1/download/77"] = raw


def on_uci(server, name, text, encoding="utf-8"):
    page = f"/static/public/{facts_of(name).uci}/data.csv"
    server.pages[page] = text.encode(encoding)


def arff(rows):
    lines = [f"@ATTRIBUTE a{j} REAL" for j in range(len(rows[0]))]
    data = [",".join(map(str, row)) for row in rows]
    return "\n".join(["% text", "@RELATION x", *lines, "@DATA", "% more", *data, ""])


def rows_of(data, target=None):
    target = data.target.tolist() if target is None else target
    return [[*row, label] for row, label in zip(data.X.tolist(), target, strict=True)]


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
        ConnectionError, match="UCI 109: .*does not fit: it has no rows"
    ):
        download.fetch(facts, **nowhere | {"_uci": address})


@pytest.mark.parametrize(
    "rows, message",
    [
        ([[*range(10), i // 10] for i in range(400)], "10 pixels, expected 64 x 64"),
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


def test_where_openml_fails_uci_is_asked(home, server):
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


def test_a_rounded_copy_is_told_apart(home, server, cache):
    known = load("column", data_home=home)
    rows = [[*np.round(row[:-1], 2), row[-1]] for row in rows_of(known)]
    on_openml(server, "column", arff(rows))
    for data in (load("column"), load("column")):  # the second from the cache
        assert not data.exact and "not bit for bit" in data.description
        assert np.abs(data.X - known.X).max() <= 0.005 + 1e-12
        assert np.array_equal(data.target, known.target)


def test_larger_faces_are_shrunk_and_told_apart(home, server, cache):
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
        (no_description, "no description"),
        (other_data, "none of its columns adds up to 3117.98"),
        (fewer_rows, "none of its columns adds up"),
        (other_classes, "class sizes of seeds"),
        (ragged, "from 2 to 8 cells"),
        (wrong_md5, "announced was 000"),
        (broken_off, "broke off.*1000 more expected"),
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


# Their parts


def test_text_formats():
    text = "@relation x\n@data\n1, 'a b'\n\n% no\n2,c\n"
    assert arff_cells(text) == [["1", "a b"], ["2", "c"]]
    assert arff_cells('@DATA\n1,"a b"\n') == [["1", "a b"]]
    assert csv_cells(decoded("\ufeffa,b\n1,2\n".encode())) == [["1", "2"]]
    with pytest.raises(ValueError, match="no rows"):
        csv_cells("a,b\n")


def test_a_missing_value_makes_a_column_unfit():
    cells = [["?", "1"]] * 210
    with pytest.raises(ValueError, match="adds up"):
        table(facts_of("seeds"), cells)


def test_classes_take_our_names_only_if_there_is_no_doubt():
    assert renamed(["b", "a", "a"], {"x": 2, "y": 1}) == ["y", "x", "x"]
    assert renamed(["0", "1"], {"1": 1, "2": 1}) == ["1", "2"]
    assert renamed(["10", "9"], {"1": 1, "2": 1}) == ["2", "1"]
    assert renamed(["a", "b"], {"x": 1, "y": 1}) is None
    assert renamed(["a", "a"], {"x": 1, "y": 1}) is None


def test_shrinking_averages_over_areas():
    images = np.random.default_rng(0).random((3, 112, 92))
    small = shrunk(images, (32, 32))
    np.testing.assert_allclose(small.mean(axis=(1, 2)), images.mean(axis=(1, 2)))
    # 112 rows are 3.5 per new row: two of these are seven whole rows.
    fine = images.repeat(32, axis=1).repeat(32, axis=2)
    exact = fine.reshape(3, 32, 112, 32, 92).mean(axis=(2, 4))
    np.testing.assert_allclose(small, exact)


@pytest.mark.parametrize("by_columns", [False, True])
def test_faces_of_another_shape_are_put_upright(by_columns, home):
    known = load("umist", data_home=home)
    rows, columns = np.arange(112) * 32 // 112, np.arange(92) * 32 // 92
    large = known.images[:, rows][:, :, columns]
    flat = (large.transpose(0, 2, 1) if by_columns else large).reshape(575, -1)
    images = upright(flat, (112, 92), facts_of("umist"), "here")
    assert np.corrcoef(images.ravel(), known.X.ravel())[0, 1] > 0.98


# Toy data


@pytest.mark.parametrize(
    "kind, place", [("pcs", (10, 0)), ("ocs", (0, 10)), ("both", (5, 5))]
)
def test_toy_outliers_lie_where_they_should(kind, place):
    points = toy(kind, random_state=3)
    assert points.X.shape == (210, 2) and points.is_outlier.sum() == 10
    assert points.is_outlier[200:].all()
    axis = points.components[0]
    off = np.array([-axis[1], axis[0]])
    seen = points.X[200:] @ np.column_stack([axis, off]) - place
    assert np.abs(seen).max() < 5 * 0.05**0.5
    np.testing.assert_allclose(axis, np.sqrt([0.5, 0.5]))
    clean = toy("none", random_state=3)
    assert np.array_equal(clean.X, points.X[:200]) and not clean.is_outlier.any()


def test_toy_points_have_the_papers_covariance():
    X = toy("none", n=100_000).X
    np.testing.assert_allclose(np.cov(X.T), [[1, 0.95], [0.95, 1]], atol=0.02)
    inside = np.einsum("ij,jk,ik->i", X, np.linalg.inv([[1, 0.95], [0.95, 1]]), X)
    assert np.mean(inside < chi2.ppf(0.9, 2)) == pytest.approx(0.9, abs=0.005)


def test_toy_is_seeded_and_scales():
    assert np.array_equal(toy("ocs", random_state=5).X, toy("ocs", random_state=5).X)
    assert not np.array_equal(toy("ocs").X, toy("ocs", random_state=1).X)
    assert toy("ocs", n=50, share=0.2).is_outlier.sum() == 10
    with pytest.raises(ValueError, match="'amp' is not known"):
        toy("amp")
    with pytest.raises(ValueError, match="share=2"):
        toy("ocs", share=2)


# Damage


@pytest.mark.parametrize("n, D", [(178, 13), (100, 8), (7, 1)])
def test_contaminate_multiplies_half_of_the_features_of_a_quarter_of_the_rows(n, D):
    X = np.random.default_rng(1).uniform(1, 2, (n, D))
    before = X.copy()
    damaged, is_outlier = contaminate(X, random_state=2)
    assert np.array_equal(X, before) and is_outlier.sum() == round(n / 4)
    assert np.array_equal(damaged[~is_outlier], X[~is_outlier])
    ratio = damaged[is_outlier] / X[is_outlier]
    hit = ratio > 1.5
    assert (hit.sum(axis=1) == max(1, D // 2)).all()
    np.testing.assert_array_equal(ratio[~hit], 1)
    for row, cells in zip(ratio, hit, strict=True):  # one factor for each row
        assert np.ptp(row[cells]) < 1e-12 and round(row[cells][0]) in (5, 10, 20)


def test_contaminate_draws_rows_features_and_factors_alike():
    damaged, is_outlier = contaminate(np.ones((40_000, 4)), random_state=0)
    ratio = damaged[is_outlier]
    np.testing.assert_allclose((ratio > 1).mean(axis=0), 0.5, atol=0.02)
    for factor in (5, 10, 20):
        assert (ratio.max(axis=1) == factor).mean() == pytest.approx(1 / 3, abs=0.02)
    halves = is_outlier.reshape(2, -1).mean(axis=1)
    np.testing.assert_allclose(halves, 0.25, atol=0.01)


def test_contaminate_obeys_its_parameters_and_seed():
    X = np.ones((100, 100))
    damaged, bad = contaminate(X, share=0.1, features=0.29, factors=[3])
    assert bad.sum() == 10 and (damaged[bad] == 3).sum() == 290
    again, _ = contaminate(X, share=0.1, features=0.29, factors=[3])
    assert np.array_equal(damaged, again)
    other, _ = contaminate(X, share=0.1, features=0.29, factors=[3], random_state=1)
    assert not np.array_equal(damaged, other)
    assert np.array_equal(contaminate(X, features=0)[0], X)
    for wrong, message in (
        ({"share": 1.5}, "share=1.5"),
        ({"features": -1}, "features=-1"),
        ({"factors": ()}, "factors is empty"),
    ):
        with pytest.raises(ValueError, match=message):
            contaminate(X, **wrong)
    with pytest.raises(ValueError, match=r"shape \(3,\)"):
        contaminate(np.ones(3))


@pytest.mark.parametrize(
    "grey, white", [(np.uint8(100), 255), (100.5, 255), (0.5, 1), (np.int64(1), 255)]
)
def test_occlude_covers_a_quarter_of_a_fifth_of_the_images(grey, white):
    images = np.full((55, 32, 32), grey)
    damaged, is_outlier = occlude(images, random_state=4)
    assert (images == grey).all() and damaged.dtype == images.dtype
    assert is_outlier.sum() == 11
    assert (damaged[~is_outlier] == grey).all()
    places = set()
    for picture in damaged[is_outlier]:
        changed = np.argwhere(picture != grey)
        (top, left), (bottom, right) = changed.min(axis=0), changed.max(axis=0)
        assert (bottom - top, right - left) == (15, 15) and len(changed) == 256
        block = picture[top : bottom + 1, left : right + 1]
        assert set(np.unique(block)) == {0, white}
        assert 0.35 < (block == white).mean() < 0.65
        places.add((top, left))
    assert len(places) > 5


def test_occlude_obeys_its_parameters_and_seed():
    images = np.full((10, 20, 40), 9, dtype=np.uint8)
    damaged, bad = occlude(images, share=1, area=0.04)
    assert bad.all() and ((damaged != 9).sum(axis=(1, 2)) == 4 * 8).all()
    assert np.array_equal(damaged, occlude(images, share=1, area=0.04)[0])
    other, _ = occlude(images, share=1, area=0.04, random_state=1)
    assert not np.array_equal(damaged, other)
    whole, _ = occlude(images, share=1, area=1)
    assert (whole != 9).all()
    for wrong, message in (
        (images[0], r"reshape\(len\(X\), height, width\)"),
        (images - 9.5, "from -9.5 to -0.5|from -0.5"),
        (np.full((2, 4, 4), np.nan), "from nan"),
        (images.astype(np.int8), "int8, which cannot hold white"),
    ):
        with pytest.raises(ValueError, match=message):
            occlude(wrong)
