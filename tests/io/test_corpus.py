"""A corpus of messy files: each gives the right table, or a sentence that helps."""

import io
import json
import sys

import numpy as np
import pytest
from click.testing import CliRunner
from messy_files import CASES

from trueaxis.cli.main import READING, main
from trueaxis.data.text import TextRows
from trueaxis.io import Choice, TableError, read_table

TEXTS = [case for case in CASES if case.is_text]


# Rows of a stream cannot be left out.
STREAMED = [
    case
    for case in TEXTS
    if case.file.endswith((".csv", ".tsv", ".txt", ".gz", ".xz"))
    and not case.error
    and case.options.get("missing") != "drop"
]


def parameters(cases):
    """Return cases under their names; those with large files are marked as slow."""
    return [
        pytest.param(case, id=case.name, marks=[pytest.mark.slow] * case.is_large)
        for case in cases
    ]


def read(case, folder, monkeypatch):
    """Read the file of a case, from standard input if that is its name."""
    path = case.write(folder)
    if case.file == "-":
        stdin = io.TextIOWrapper(io.BytesIO(path.read_bytes()))
        monkeypatch.setattr(sys, "stdin", stdin)
        path = "-"
    return read_table(path, Choice(**case.options))


def outcome(case, folder, monkeypatch):
    """Return all of a table as plain values, or the sentence that refuses the file."""
    try:
        table = read(case, folder, monkeypatch)
    except TableError as error:
        return str(error)
    names = (table.ids, table.labels)
    return {
        "columns": table.columns,
        "X": np.nan_to_num(table.X, nan=-1e300).tolist(),  # missing cells compare equal
        "names": [None if each is None else each.tolist() for each in names],
        "notes": table.notes,
    }


def flags(options):
    """Return the options of `fit` for fields of `Choice`; labels it has not."""
    given = []
    for name, value in options.items():
        for each in [value] if isinstance(value, str | int) else value or ():
            if name in READING:
                given += ["--read", f"{name}={each}"]
            elif name == "categories":
                given += ["--encode", f"categories={each}"]
            elif name != "label":
                given += [f"--{name}", str(each)]
    return given


def test_the_corpus_is_large_and_its_names_are_distinct():
    assert len({case.name for case in CASES}) == len(CASES) >= 80


@pytest.mark.parametrize("case", parameters(CASES))
def test_messy_files(case, tmp_path, monkeypatch):
    if case.error:
        with pytest.raises(TableError) as caught:
            read(case, tmp_path, monkeypatch)
        # The folder has the name of the case, and could say what the sentence does not.
        sentence = str(caught.value).replace(str(tmp_path), "")
        missing = [part for part in case.error if part.lower() not in sentence.lower()]
        assert not missing, sentence
        return
    table = read(case, tmp_path, monkeypatch)
    assert tuple(table.columns) == case.columns
    np.testing.assert_array_equal(table.X, np.array(case.X, dtype=float))
    assert table.X.dtype == np.float64
    for found, expected in ((table.ids, case.ids), (table.labels, case.labels)):
        assert (None if found is None else found.tolist()) == expected
    said = " ".join(table.notes)
    assert case.notes or not said, said
    missing = [part for part in case.notes if part.lower() not in said.lower()]
    assert not missing, said


@pytest.mark.slow
@pytest.mark.parametrize("case", parameters(TEXTS))
def test_text_is_read_alike_without_pyarrow(case, tmp_path, monkeypatch):
    with_pyarrow = outcome(case, tmp_path, monkeypatch)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert outcome(case, tmp_path, monkeypatch) == with_pyarrow


@pytest.mark.slow
@pytest.mark.parametrize("case", parameters(CASES))
def test_the_command_line_never_breaks(case, tmp_path):
    path = case.write(tmp_path)
    stdin = path.read_bytes() if case.file == "-" else None
    file = "-" if stdin is not None else str(path)
    options = {k: x for k, x in case.options.items() if k != "label"}
    command = ["fit", file, "-k", "1", *flags(options), "--json"]
    done = CliRunner().invoke(main, command, input=stdin)
    assert done.exception is None or isinstance(done.exception, SystemExit)
    assert "Traceback" not in done.output
    refused = case.options.get("skip", 0) < 0  # by click, as wrong usage
    assert done.exit_code == 2 if refused else done.exit_code in (0, 1)
    if case.error:
        assert done.exit_code and not done.stdout
    elif done.exit_code == 0:
        assert json.loads(done.stdout)["rows"] == len(case.X)


@pytest.mark.slow
@pytest.mark.parametrize("case", STREAMED, ids=[case.name for case in STREAMED])
def test_streamed_text_is_read_alike(case, tmp_path, monkeypatch):
    """Text that is decoded block by block has the numbers of text in memory."""
    table = read(case, tmp_path, monkeypatch)
    path = tmp_path / case.file
    rows = TextRows(path, Choice(**case.options), table.columns).read()
    # Lines of only empty cells count as rows of a stream.
    kept = ~np.isnan(rows).all(axis=1) if len(rows) > len(table.X) else slice(None)
    np.testing.assert_array_equal(rows[kept], table.X)
