"""Files as they arrive: exports, spreadsheets, typing errors, empty ones."""

import json

import pandas as pd
import pytest
from command_line import invoke, run
from messy_sheets import ods

from trueaxis import DSWL
from trueaxis.io import Choice, read_table


def german(x):
    """1234.5 as German programs write it: 1.234,50."""
    return f"{x:,.2f}".translate(str.maketrans(",.", ".,"))


def test_a_german_export_is_read_as_it_is(pumps, tmp_path):
    """A plant in Bochum sends an export: title, semicolons, decimal commas, a footer.

    Nothing has to be said about it. The numbers are those that a German would read, and
    the files that come back are written as the export was.
    """
    pumps.table *= 100  # so that there are thousands
    lines = [
        ";".join([serial, *("" if pd.isna(x) else german(x) for x in row)])
        for serial, row in zip(pumps.table.index, pumps.table.to_numpy(), strict=True)
    ]
    head = ["Pumpenprüfung Werk 3", "Stand: Mai", ";".join(["Nr", *pumps.table])]
    path, good = tmp_path / "export.csv", tmp_path / "gut.csv"
    text = "\r\n".join([*head, *lines, "Ende der Liste", ""])
    path.write_bytes(text.encode("cp1252"))

    table = read_table(path, Choice(id="Nr"))
    assert list(table.columns) == list(pumps.table)
    pd.testing.assert_frame_equal(
        pd.DataFrame(table.X, table.ids, table.columns),
        pumps.table.round(2),
        check_names=False,
    )
    result = invoke("fit", path, "--id", "Nr", "--json", "--clean", good)
    found = json.loads(result.stdout)
    assert "decimal commas" in " ".join(found["notes"])
    blamed = {record["row"]: record["column"] for record in found["worst_first"]}
    assert {serial: blamed[serial] for serial in pumps.bad} == pumps.bad
    kept = good.read_bytes().decode("cp1252").split("\r\n")
    assert kept[:3] == head
    assert [line for line in kept[3:] if line] == [
        line for line in lines if line.split(";")[0] not in blamed
    ]


def test_a_word_among_numbers_is_named_with_its_line_and_a_remedy(pumps, tmp_path):
    """A logger wrote `Err` where it failed. The message says where, and what to do.

    Doing what it says works: the cell is then missing, and all else is as before.
    """
    lines = pumps.text.splitlines()
    assert lines[10].startswith("P-010,")
    cells = lines[10].split(",")
    cells[list(pumps.frame).index("power")] = "Err"
    lines[10] = ",".join(cells)
    path = tmp_path / "logger.csv"
    path.write_text("\n".join(lines) + "\n")

    sentence = run("fit", path, "--id", "serial", code=1)
    for part in ("'power'", "'Err'", "line 11", "--na Err", "--drop power"):
        assert part in sentence
    found = json.loads(run("fit", path, "--id", "serial", "--json", "--na", "Err"))
    assert found["missing"]["by_column"] == {"pressure": 1, "power": 1}
    blamed = {record["row"]: record["column"] for record in found["worst_first"]}
    assert {serial: blamed[serial] for serial in pumps.bad} == pumps.bad


def test_every_format_gives_the_same_answer(pumps, tmp_path):
    """The same readings come as text, spreadsheets and files of data tools."""
    frame = pumps.frame
    paths = [pumps.save(tmp_path)]
    for ending, write in {
        "tsv": lambda path: frame.to_csv(path, sep="\t", index=False),
        "csv.gz": lambda path: frame.to_csv(path, index=False),
        "jsonl": lambda path: frame.to_json(path, orient="records", lines=True),
        "parquet": frame.to_parquet,
        "feather": frame.to_feather,
        "xlsx": lambda path: frame.to_excel(path, index=False),
    }.items():
        paths.append(tmp_path / f"pumps.{ending}")
        write(paths[-1])
    cells = frame.astype(object).where(frame.notna(), None).values.tolist()
    paths.append(tmp_path / "pumps.ods")
    paths[-1].write_bytes(ods({"May": [list(frame), *cells]}))

    def answer(path):
        found = json.loads(run("fit", path, "--id", "serial", "--json"))
        worst = found["worst_first"]
        reasons = {r["row"]: r["reason"] for r in worst}
        return found["columns"], reasons, [r["p_value"] for r in worst]

    columns, reasons, p = answer(paths[0])
    assert columns == list(pumps.table) and reasons.keys() >= pumps.bad.keys()
    for path in paths[1:]:
        others = answer(path)
        assert others[:2] == (columns, reasons), path.name
        assert others[2] == pytest.approx(p, rel=1e-6, abs=1e-100), path.name


FLAWS = {  # file, options, exit code, what the sentence must say
    "empty file": ("", [], 1, ["table.csv", "empty"]),
    "header only": ("a,b\n", [], 1, ["table.csv", "no rows"]),
    "one row": ("a,b\n1,2\n", [], 1, ["1 row", "more rows"]),
    "only text": ("a,b\nx,y\nu,v\n", [], 1, ["no column of numbers", "'a'", "'b'"]),
    "short line": ("a,b,c\n1,2,3\n2,3\n4,5,7\n", [], 1, ["Line 3", "2 cells", "3"]),
    "typo": (None, ["--columns", "inlet,flwo"], 1, ["'flwo'", "'flow'"]),
    "unknown name": (None, ["--id", "serail"], 1, ["'serail'", "'serial'"]),
    "many components": (None, ["-k", "9"], 1, ["9", "6 columns", "1 to 6"]),
    "infinite": ("a,b\n1,2\n2,inf\n3,5\n4,4\n", [], 1, ["'b'", "line 3", "inf"]),
    "unknown method": (None, ["--method", "dswll"], 2, ["'dswll'", "dswl", "t-rpca"]),
    "level": (None, ["--level", "2"], 2, ["--level", "2.0"]),
}


@pytest.mark.parametrize("flaw", FLAWS)
def test_errors_are_one_sentence_and_name_what_to_change(flaw, pumps, tmp_path):
    """Whatever is wrong with a file or an option, a person can read what, and act."""
    text, options, code, parts = FLAWS[flaw]
    path = tmp_path / "table.csv"
    path.write_text(pumps.text if text is None else text)
    result = invoke("fit", path, *options, code=code)
    message = " ".join(result.stderr.split())
    assert message.count("Error: ") == 1 and result.stdout == ""
    for part in parts:
        assert part in message


def test_a_missing_file_is_named(tmp_path):
    """The name was misspelled."""
    assert "nowhere.csv" in run("fit", tmp_path / "nowhere.csv", code=1)


def test_a_column_without_a_value_is_left_out_or_refused(pumps, tmp_path):
    """A sensor was never connected: its column is empty.

    The command line leaves it out and says so; in Python it is an error that names it.
    """
    table = pumps.frame.assign(spare=float("nan"))
    path = tmp_path / "pumps.csv"
    table.to_csv(path, index=False)
    found = json.loads(run("fit", path, "--id", "serial", "--json"))
    assert found["left_out_columns"]["spare"] == "empty"
    assert found["columns"] == list(pumps.table)
    with pytest.raises(ValueError, match="spare"):
        DSWL(2).fit(pumps.table.assign(spare=float("nan")))
