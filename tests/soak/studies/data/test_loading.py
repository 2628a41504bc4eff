"""Where data sets are looked for, and messages if they are not found."""

import pytest

from studies.data import load


@pytest.mark.parametrize("name", ["wine", "breast_cancer"])
def test_two_data_sets_come_with_scikit_learn(name):
    data = load(name, download=False)
    assert data.exact and data.origin == "scikit-learn"


def test_offline_the_message_says_what_to_do(tmp_path, cache):
    with pytest.raises(FileNotFoundError) as error:
        load("seeds", data_home=tmp_path)
    message = str(error.value)
    for part in (
        *("210 rows", "uci/seeds.csv", str(tmp_path), str(cache), "OpenML 1499"),
        *("UCI 236", "no connection", "groove_length, target", "TRUEAXIS_DATA"),
    ):
        assert part in message


def test_wrong_names_and_folders_are_refused(tmp_path, monkeypatch):
    with pytest.raises(ValueError, match="'iris' is not.*seeds, ecoli"):
        load("iris")
    with pytest.raises(FileNotFoundError, match="data_home=.*is not a folder"):
        load("seeds", data_home=tmp_path / "none")
    monkeypatch.setenv("TRUEAXIS_DATA", str(tmp_path / "none"))
    with pytest.raises(FileNotFoundError, match="TRUEAXIS_DATA=.*is not a folder"):
        load("seeds")
