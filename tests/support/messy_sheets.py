"""Write small Excel and OpenDocument workbooks with nothing but zipfile.

Sheets are dicts of rows; cells are None, numbers, booleans, text, dates, `Formula` or
`Fault`. Only what readers look at is written, so that tests need no library for it.
"""

import datetime
import io
import zipfile
from dataclasses import dataclass
from typing import Any
from xml.sax.saxutils import escape


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

_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_TYPES = "application/vnd.openxmlformats-officedocument.spreadsheetml"
_HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>'
# Styles: 0 general, 1 date, 2 date and time, 3 time of day, 4 percent.
_FORMATS = "".join(
    f'<xf numFmtId="{i}" applyNumberFormat="1"/>' for i in (0, 14, 22, 21, 10)
)
_STYLES = (
    f'{_HEAD}<styleSheet xmlns="{_MAIN}"><fonts count="1"><font/></fonts><fills '
    'count="1"><fill><patternFill patternType="none"/></fill></fills><borders '
    'count="1"><border/></borders><cellStyleXfs count="1"><xf/></cellStyleXfs>'
    f'<cellXfs count="5">{_FORMATS}</cellXfs></styleSheet>'
)
_EPOCH = datetime.datetime(1899, 12, 30)


def xlsx(sheets, merged=()):
    """Bytes of an Excel workbook; `merged` has ranges such as A1:C1 of all sheets."""
    numbers = range(1, len(sheets) + 1)
    overrides = "".join(
        f'<Override PartName="/xl/worksheets/sheet{i}.xml" '
        f'ContentType="{_TYPES}.worksheet+xml"/>'
        for i in numbers
    )
    links = "".join(
        f'<Relationship Id="rId{i}" Type="{_OFFICE}/worksheet" '
        f'Target="worksheets/sheet{i}.xml"/>'
        for i in numbers
    )
    named = "".join(
        f'<sheet name="{escape(name)}" sheetId="{i}" r:id="rId{i}"/>'
        for i, name in enumerate(sheets, 1)
    )
    members = {
        "[Content_Types].xml": (
            f'{_HEAD}<Types xmlns="{_PACKAGE}/content-types"><Default Extension="rels" '
            'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
            '<Default Extension="xml" ContentType="application/xml"/><Override '
            f'PartName="/xl/workbook.xml" ContentType="{_TYPES}.sheet.main+xml"/>'
            f'<Override PartName="/xl/styles.xml" ContentType="{_TYPES}.styles+xml"/>'
            f"{overrides}</Types>"
        ),
        "_rels/.rels": (
            f'{_HEAD}<Relationships xmlns="{_PACKAGE}/relationships"><Relationship '
            f'Id="rId1" Type="{_OFFICE}/officeDocument" Target="xl/workbook.xml"/>'
            "</Relationships>"
        ),
        "xl/workbook.xml": (
            f'{_HEAD}<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}"><sheets>{named}'
            "</sheets></workbook>"
        ),
        "xl/_rels/workbook.xml.rels": (
            f'{_HEAD}<Relationships xmlns="{_PACKAGE}/relationships">{links}'
            f'<Relationship Id="rId{len(sheets) + 1}" Type="{_OFFICE}/styles" '
            'Target="styles.xml"/></Relationships>'
        ),
        "xl/styles.xml": _STYLES,
    }
    ranges = "".join(f'<mergeCell ref="{ref}"/>' for ref in merged)
    merges = (
        f'<mergeCells count="{len(merged)}">{ranges}</mergeCells>' if merged else ""
    )
    for i, rows in enumerate(sheets.values(), 1):
        body = "".join(_excel_row(number, row) for number, row in enumerate(rows, 1))
        members[f"xl/worksheets/sheet{i}.xml"] = (
            f'{_HEAD}<worksheet xmlns="{_MAIN}"><sheetData>{body}</sheetData>{merges}'
            "</worksheet>"
        )
    return zipped(members)


def _excel_row(number, row):
    cells = "".join(
        _excel_cell(f"{_letters(i)}{number}", cell)
        for i, cell in enumerate(row)
        if cell is not None
    )
    return f'<row r="{number}">{cells}</row>' if cells else ""


def _letters(column):
    text = ""
    column += 1
    while column:
        column, rest = divmod(column - 1, 26)
        text = chr(65 + rest) + text
    return text


def _excel_cell(ref, cell, formula=""):
    if isinstance(cell, Formula):
        return _excel_cell(ref, cell.result, f"<f>{escape(cell.text)}</f>")
    if isinstance(cell, bool):
        return f'<c r="{ref}" t="b">{formula}<v>{int(cell)}</v></c>'
    if isinstance(cell, Fault):
        return f'<c r="{ref}" t="e">{formula}<v>{cell.code}</v></c>'
    if isinstance(cell, str) and formula:
        return f'<c r="{ref}" t="str">{formula}<v>{escape(cell)}</v></c>'
    if isinstance(cell, str):
        return f'<c r="{ref}" t="inlineStr"><is><t>{escape(cell)}</t></is></c>'
    style, number = _excel_number(cell)
    return f'<c r="{ref}" s="{style}">{formula}<v>{number!r}</v></c>'


def _excel_number(cell):
    """Style and number of a cell: days since the end of 1899 for dates."""
    if isinstance(cell, datetime.datetime):
        return 2, (cell - _EPOCH) / datetime.timedelta(days=1)
    if isinstance(cell, datetime.date):
        return 1, (cell - _EPOCH.date()).days
    if isinstance(cell, datetime.time):
        return 3, (3600 * cell.hour + 60 * cell.minute + cell.second) / 86400
    return 0, cell


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
