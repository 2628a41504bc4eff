"""Files that are written together, and standard output."""

import pytest

from trueaxis._tables.output.targets import written_together


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
