"""Files that are written together, and standard output."""

import sys

import pytest

from trueaxis._tables.output.targets import written_together
from trueaxis.io.write import write_table


def test_standard_output_is_written_when_the_files_are_there(tmp_path, capsysbinary):
    path = tmp_path / "a.csv"
    seen = []

    def to_stdout(file):
        seen.append(path.exists())
        file.write(b"rows")
        raise BrokenPipeError

    writers = {"-": to_stdout, str(path): lambda file: file.write(b"a")}
    with pytest.raises(BrokenPipeError), written_together(writers):
        assert not path.exists()
    assert seen == [True] and path.read_bytes() == b"a"


def test_files_appear_only_if_all_of_them_can_be_written(tmp_path):
    def fail(file):
        raise OSError(28, "No space left on device")

    writers = {str(tmp_path / "a"): lambda file: file.write(b"a")}
    both = writers | {str(tmp_path / "b"): fail}
    with pytest.raises(OSError, match="No space"), written_together(both):
        pass
    with pytest.raises(ValueError, match="other"), written_together(writers):
        raise ValueError("other")
    assert not list(tmp_path.iterdir())


def test_a_terminal_gets_no_control_characters(monkeypatch, capsysbinary):
    fields = {"row": ["a\x1b[2J", "b\x9b1m"], "value": [1.5, 2.5]}
    write_table("-", fields)
    raw = capsysbinary.readouterr().out
    assert b"a\x1b[2J,1.5\n" in raw
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    write_table("-", fields)
    shown = capsysbinary.readouterr().out.decode()
    assert shown == "row,value\na\N{REPLACEMENT CHARACTER}[2J,1.5\n" + (
        "b\N{REPLACEMENT CHARACTER}1m,2.5\n"
    )
