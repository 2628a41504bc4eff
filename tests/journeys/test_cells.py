"""Tables with missing cells and single wrong cells: nobody wants to lose whole rows."""

import numpy as np
import pandas as pd
import pytest
from command_line import run

from trueaxis import DSWL


@pytest.fixture
def slips(pumps):
    """Pumps of which 12 have one wrong cell each, and 20 a hole."""
    rng = np.random.default_rng(8)
    truth = pumps.healthy
    table, rows = truth.copy(), rng.permutation(150)
    wrong = {}
    for i, row in enumerate(rows[:12]):
        column = truth.columns[i % 6]
        table.iloc[row, i % 6] += 6 * truth[column].std() * (1 if i % 2 else -1)
        wrong[truth.index[row]] = column
    holes = [(truth.index[row], truth.columns[row % 6]) for row in rows[12:32]]
    for row, column in holes:
        table.loc[row, column] = np.nan
    return truth, table, wrong, holes


def test_wrong_cells_are_found_and_repaired(slips):
    """One slip of the keyboard should cost one cell, not a row."""
    truth, table, wrong, holes = slips
    model = DSWL(2, cells=True).fit(table)
    found = model.wrong_cells(table)
    pairs = set(zip(found["row"], found["column"], strict=True))
    assert pairs >= set(wrong.items()) and len(pairs) <= len(wrong) + 3
    repaired = pd.DataFrame(model.repair(table), table.index, table.columns)
    for row, column in [*wrong.items(), *holes]:
        assert repaired.loc[row, column] == pytest.approx(
            truth.loc[row, column], abs=2.5
        )
    touched = pd.DataFrame(False, table.index, table.columns)
    for row, column in pairs | set(holes):
        touched.loc[row, column] = True
    same = repaired.to_numpy() == table.to_numpy()
    assert same[~touched.to_numpy()].all()  # all other cells are as they were
    filled, seen = model.repair(table, wrong=False), table.notna().to_numpy()
    assert (filled[seen] == table.to_numpy()[seen]).all()  # holes, and nothing else
    assert (filled[~seen] == repaired.to_numpy()[~seen]).all()
    labels = pd.Series(model.predict(table), table.index)
    assert (labels[list(wrong)] == 1).all()  # the rows are good
    by_rows = pd.Series(DSWL(2).fit(table).predict(table), table.index)
    assert (by_rows[list(wrong)] == -1).mean() > 0.8  # they would have been lost


def test_a_file_is_repaired_with_a_list_of_changes(slips, tmp_path):
    """A clerk wants the file back, complete, and a list of what was changed."""
    truth, table, wrong, holes = slips
    path, out, changes = (tmp_path / name for name in ("in.csv", "out.csv", "list.csv"))
    table.assign(site="north").to_csv(path, float_format="%.2f", lineterminator="\n")
    run("repair", path, "--id", "serial", "-o", out, "--changes", changes)
    listed = pd.read_csv(changes)
    pairs = {kind: set(zip(part["row"], part["column"], strict=True))
             for kind, part in listed.groupby("kind")}  # fmt: skip
    assert pairs["missing"] == set(holes)
    assert pairs["wrong"] >= set(wrong.items()) and len(pairs["wrong"]) <= 15
    old, new = (pd.read_csv(p, index_col="serial") for p in (path, out))
    assert list(new) == list(old) and list(new.index) == list(old.index)
    for change in listed.itertuples():
        assert new.loc[change.row, change.column] == pytest.approx(
            change.fitted, abs=0.01
        )
        assert new.loc[change.row, change.column] == pytest.approx(
            truth.loc[change.row, change.column], abs=2.5
        ) or (change.row, change.column) not in {*wrong.items(), *holes}
    kept = set(path.read_text().splitlines()) & set(out.read_text().splitlines())
    assert len(kept) == 151 - len(set(listed["row"]))  # the other lines are the same


def test_rows_with_missing_cells_are_transformed_and_judged(pumps, new_pumps):
    """A sensor is off today. Its pump is still placed, and judged by the others."""
    model = DSWL(2).fit(pumps.table)
    whole, holed = new_pumps.table, new_pumps.table.copy()
    for i in range(12):
        holed.iloc[i, i % 2] = np.nan  # inlet or outlet
    scores = model.transform(holed)
    assert np.isfinite(scores).all()
    spread = model.transform(pumps.healthy).std(axis=0)
    assert (np.abs(scores - model.transform(whole)) / spread)[:10].max() < 0.6
    labels = pd.Series(model.predict(holed), holed.index)
    assert set(labels.index[labels == -1]) == new_pumps.bad.keys()
    filled = pd.DataFrame(model.repair(holed, wrong=False), holed.index, holed.columns)
    for i, serial in enumerate(holed.index[:10]):
        column = holed.columns[i % 2]
        right = new_pumps.healthy.loc[serial, column]
        assert filled.loc[serial, column] == pytest.approx(right, abs=2.5)
    known = holed.notna().to_numpy()
    assert (filled.to_numpy() == whole.to_numpy())[known].all()
