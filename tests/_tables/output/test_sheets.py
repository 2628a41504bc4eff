"""Values in sheets of Excel."""

import datetime
import io

import pytest

from trueaxis._tables.output.sheets import write_sheet_rows
from trueaxis.io import Choice, read_columns

EAST = datetime.timezone(datetime.timedelta(hours=2))


def test_dates_with_a_time_zone_are_text(tmp_path):
    calamine = pytest.importorskip("python_calamine")
    day = datetime.datetime(2024, 1, 2, 3, 4, 5)
    rows = [
        ["plain", "zone", "time", "zone of time", "x"],
        [day, day.replace(tzinfo=EAST), day.time(), day.time().replace(tzinfo=EAST), 1],
        [day, day.replace(tzinfo=datetime.UTC), day.time(), None, 2],
    ]
    out = io.BytesIO()
    write_sheet_rows(out, "o.xlsx", iter(rows), len(rows))
    path = tmp_path / "o.xlsx"
    path.write_bytes(out.getvalue())
    book = calamine.CalamineWorkbook.from_path(str(path))
    found = book.get_sheet_by_index(0).to_python()
    assert found[1][:3] == [day, "2024-01-02T03:04:05+02:00", day.time()]
    assert found[1][3] == "03:04:05+02:00"
    assert found[2][1] == "2024-01-02T03:04:05+00:00"
    kinds = {
        column.name: column.kind for column in read_columns(path, Choice()).columns
    }
    assert {*kinds.values()} == {"calendar", "number"} and kinds["x"] == "number"
