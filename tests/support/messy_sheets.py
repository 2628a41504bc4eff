"""Write small Excel and OpenDocument workbooks.

Sheets are dicts of rows; cells are None, numbers, booleans, text, dates, `Formula` or
`Fault`.
"""

import datetime
import io
import zipfile
from dataclasses import dataclass
from typing import Any
from xml.sax.saxutils import escape

import xlsxwriter


@dataclass(frozen=True)
class Formula:
    """A formula with the result that the spreadsheet stored beside it."""

    text: str
    result: Any


@dataclass(frozen=True)
class Fault:
    """A cell that shows an error, such as #N/A."""

    code: str


def zipped(members, stored=()):
    """Bytes of a zip archive; members named in `stored` are not compressed."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in members.items():
            how = zipfile.ZIP_STORED if name in stored else zipfile.ZIP_DEFLATED
            archive.writestr(name, content, compress_type=how)
    return buffer.getvalue()


# ---------------------------------------------------------------- Excel


def xlsx(sheets, merged=()):
    """Bytes of an Excel workbook; `merged` has ranges such as A1:C1 of all sheets."""
    buffer = io.BytesIO()
    with xlsxwriter.Workbook(buffer, {"in_memory": True}) as book:
        formats = {
            datetime.datetime: book.add_format({"num_format": "yyyy-mm-dd hh:mm"}),
            datetime.date: book.add_format({"num_format": "yyyy-mm-dd"}),
            datetime.time: book.add_format({"num_format": "hh:mm:ss"}),
        }
        for name, rows in sheets.items():
            sheet = book.add_worksheet(name)
            for each in merged:
                sheet.merge_range(each, "")
            for i, row in enumerate(rows):
                for j, cell in enumerate(row):
                    if isinstance(cell, Formula):
                        result = getattr(cell.result, "code", cell.result)
                        sheet.write_formula(i, j, f"={cell.text}", None, result)
                    elif cell is not None:
                        sheet.write(i, j, cell, formats.get(type(cell)))
    return buffer.getvalue()


# ---------------------------------------------------------------- OpenDocument

_ODF = "urn:oasis:names:tc:opendocument:xmlns"
_SHEET = "application/vnd.oasis.opendocument.spreadsheet"


def ods(sheets):
    """Bytes of an OpenDocument spreadsheet."""
    tables = "".join(
        f'<table:table table:name="{escape(name)}">'
        + "".join(
            f"<table:table-row>{''.join(map(_open_cell, row)) or _open_cell(None)}"
            "</table:table-row>"
            for row in rows
        )
        + "</table:table>"
        for name, rows in sheets.items()
    )
    content = (
        '<?xml version="1.0" encoding="UTF-8"?><office:document-content '
        f'xmlns:office="{_ODF}:office:1.0" xmlns:table="{_ODF}:table:1.0" '
        f'xmlns:text="{_ODF}:text:1.0" office:version="1.2"><office:body>'
        f"<office:spreadsheet>{tables}</office:spreadsheet></office:body>"
        "</office:document-content>"
    )
    manifest = (
        '<?xml version="1.0" encoding="UTF-8"?><manifest:manifest '
        f'xmlns:manifest="{_ODF}:manifest:1.0"><manifest:file-entry '
        f'manifest:full-path="/" manifest:media-type="{_SHEET}"/><manifest:file-entry '
        'manifest:full-path="content.xml" manifest:media-type="text/xml"/>'
        "</manifest:manifest>"
    )
    members = {
        "mimetype": _SHEET,
        "META-INF/manifest.xml": manifest,
        "content.xml": content,
    }
    return zipped(members, stored=["mimetype"])


def _open_cell(cell):
    if cell is None:
        return "<table:table-cell/>"
    kind, value = _open_value(cell)
    return (
        f'<table:table-cell office:value-type="{kind}"{value}>'
        f"<text:p>{escape(str(cell))}</text:p></table:table-cell>"
    )


def _open_value(cell):
    if isinstance(cell, bool):
        return "boolean", f' office:boolean-value="{str(cell).lower()}"'
    if isinstance(cell, datetime.date):
        return "date", f' office:date-value="{cell.isoformat()}"'
    if isinstance(cell, str):
        return "string", ""
    return "float", f' office:value="{cell!r}"'
