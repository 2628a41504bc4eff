"""Model files on disk: damage and forgery are found, and no half file is left."""

import hashlib
import io
import json
import zipfile

import numpy as np
import pytest
from saved_models import assert_refused, assert_same, fitted, forge, members, pack, rows
from sklearn.base import clone

import trueaxis
from trueaxis._persistence import archive as archives
from trueaxis._persistence.archive import HEADER, ModelFileError, checksum


def test_arrays_that_could_not_be_read_are_not_written(tmp_path):
    model = clone(fitted("pca")).fit(rows())
    model.mean_ = model.mean_.astype(object)
    with pytest.raises(
        ValueError, match="mean_ is of type object.*fit the model again"
    ):
        trueaxis.save(model, tmp_path / "model")
    with pytest.raises(TypeError, match="mean_ has dtype object"):
        archives.write(tmp_path / "model", {}, {"mean_": model.mean_})
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("error", [OSError("no space left"), KeyboardInterrupt()])
@pytest.mark.parametrize("after", [0, 1, 5])
def test_a_save_that_fails_half_way_keeps_the_old_file(
    error, after, tmp_path, monkeypatch
):
    path = tmp_path / "model"
    trueaxis.save(fitted("pca"), path)
    old, count = path.read_bytes(), iter(range(100))
    real = archives._write_npy

    def failing(file, array):
        if isinstance(file, archives._Digest) or next(count) < after:
            return real(file, array)
        file.write(b"half")
        raise error

    monkeypatch.setattr(archives, "_write_npy", failing)
    with pytest.raises(type(error)):
        trueaxis.save(fitted("dswl"), path)
    with pytest.raises(type(error)):
        trueaxis.save(fitted("dswl"), tmp_path / "new")
    assert [each.name for each in tmp_path.iterdir()] == ["model"]
    assert path.read_bytes() == old


def test_repacking_alone_does_no_harm(path):
    forge(path)
    assert_same(trueaxis.load(path).components_, fitted("dswl", named=True).components_)


def test_other_files_are_refused(tmp_path):
    path = tmp_path / "other"
    path.write_bytes(b"")
    assert_refused(path, "not a trueaxis model file, but an empty file")
    path.write_text("a,b\n1,2\n")
    assert_refused(path, "not a trueaxis model file.*another kind.*trueaxis.save")
    with path.open("wb") as file:
        np.savez(file, components_=np.eye(3), mean_=np.zeros(3))
    assert_refused(path, "archive of 2 members without a header")
    with path.open("wb") as file:
        np.savez(file, objects=np.array([{}, None], dtype=object))
    assert_refused(path, "without a header")
    pack(path, {})
    assert_refused(path, "not a trueaxis model file|damaged")
    pack(path, {f"a{i}": b"" for i in range(3000)})
    assert_refused(path, "archive of 3000 members")
    pack(path, {HEADER: "{}"})
    assert_refused(path, "does not say 'trueaxis model'")
    pack(path, {HEADER: "[" * 100_000})
    assert_refused(path, "not valid JSON")
    pack(path, {HEADER: b"\xff\xfe\x00"})
    assert_refused(path, "not valid JSON")
    pack(path, {HEADER: b"0" * 10**7}, zipfile.ZIP_DEFLATED)
    assert_refused(path, "compressed")
    assert_refused(tmp_path, "folder")


def test_a_truncated_file_is_refused(path):
    data = path.read_bytes()
    lengths = {*range(1, 60), *range(60, len(data), 97), len(data) - 1}
    for length in sorted(lengths):
        path.write_bytes(data[:length])
        assert_refused(path, "damaged|not a trueaxis model file")
    path.write_bytes(data[: len(data) // 2])
    assert_refused(path, "damaged.*truncated.*save the model again")


@pytest.mark.slow
def test_a_changed_byte_is_found_or_harmless(path):
    data, model = path.read_bytes(), fitted("dswl", named=True)
    rng, found = np.random.default_rng(0), 0
    for at in rng.choice(len(data), 300, replace=False):
        changed = bytearray(data)
        changed[at] ^= int(rng.integers(1, 256))
        path.write_bytes(changed)
        try:
            loaded = trueaxis.load(path)
        except ModelFileError as error:
            found += 1
            assert str(path) in str(error)
        else:  # dates and the like of the archive
            for key, value in vars(model).items():
                assert_same(getattr(loaded, key), value)
    assert found > 200


def test_a_changed_array(path):
    contents = members(path)
    for at in (-1, -9, 40, 128):
        data = bytearray(contents["components_.npy"])
        data[at] ^= 1
        pack(path, contents | {"components_.npy": bytes(data)})
        assert_refused(path, "damaged: the checksum of components_ does not match")
    # In place, so that the archive's own checksum does not match either.
    pack(path, contents)
    whole = bytearray(path.read_bytes())
    whole[whole.index(contents["mean_.npy"]) + 130] ^= 1
    path.write_bytes(whole)
    assert_refused(path, "damaged: mean_.npy cannot be read")


def test_arrays_that_changed_places(path):
    contents = members(path)
    pair = "explained_variance_.npy", "explained_variance_ratio_.npy"
    swapped = {pair[0]: contents[pair[1]], pair[1]: contents[pair[0]]}
    pack(path, contents | swapped)
    assert_refused(path, "checksum of explained_variance_ does not match")


def test_members_too_many_or_too_few(path):
    contents = members(path)
    pack(path, contents | {"more.npy": b""})
    assert_refused(path, "'more.npy' is in only one of them")
    pack(path, {k: v for k, v in contents.items() if k != "mean_.npy"})
    assert_refused(path, "'mean_.npy' is in only one of them")
    pack(path, contents)
    with zipfile.ZipFile(path, "a") as archive, pytest.warns(UserWarning, match="Dup"):
        archive.writestr("mean_.npy", contents["mean_.npy"])
    assert_refused(path, "one of them is stored twice")
    pack(path, contents, zipfile.ZIP_DEFLATED)
    assert_refused(path, "compressed")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"dswl"', '"pca"'),
        ('"b"', '"B"'),
        ('"n_components": 2', '"n_components": 3'),
        ('"trust": 0.5', '"trust": NaN'),
        ('"offset_": -1.6', '"offset_": -2.6'),
        ('"checksum": "', '"checksum": "0'),
        ('"checksum"', '"sum"'),
    ],
)
def test_an_edited_header(path, old, new):
    contents = members(path)
    text = contents[HEADER].decode()
    assert text.count(old) == 1
    pack(path, contents | {HEADER: text.replace(old, new)})
    assert_refused(
        path, "damaged: (the checksum of its header|its header is not valid JSON)"
    )


def test_another_format(path):
    contents = members(path)
    header = json.loads(contents[HEADER])
    for version, remedy in ((99, "upgrade trueaxis"), (3, "upgrade"), (1, "fit again")):
        header |= {"format_version": version, "library_version": "9.8"}
        pack(path, {HEADER: json.dumps(header)})  # all else may be different, too
        assert_refused(
            path,
            rf"has format {version}, written by trueaxis 9\.8, but .* reads format 2 "
            rf"only: {remedy}",
        )
    for version in (0, -1, "1", None, True, 1.0):
        header["format_version"] = version
        pack(path, {HEADER: json.dumps(header)})
        assert_refused(path, "format version is")


@pytest.mark.parametrize("shape", ["(1000000000000000,)", "(-6,)", "(7,)"])
def test_an_array_that_claims_to_be_huge(path, shape):
    file = io.BytesIO()
    text = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}"
    text = text.ljust(117) + "\n"
    file.write(b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode())
    file.write(bytes(48))
    contents = members(path)
    header = json.loads(contents[HEADER])
    header["arrays"]["mean_"] = hashlib.sha256(file.getvalue()).hexdigest()
    header["checksum"] = checksum(header)
    contents |= {"mean_.npy": file.getvalue(), HEADER: json.dumps(header)}
    pack(path, contents)
    assert_refused(path, "mean_ has 48 bytes of numbers, but an array of shape")
