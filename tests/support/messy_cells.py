"""Messy cells: ways to write numbers, words for missing, dates, roles of columns."""

from messy_case import (
    ANY,
    NAMES,
    ROWS,
    bad,
    beside,
    changed,
    good,
    holed,
    nan,
    text,
    with_column,
)

NBSP, NARROW, THIN = "\N{NO-BREAK SPACE}", "\N{NARROW NO-BREAK SPACE}", "\N{THIN SPACE}"
MISSING = (
    '"" na n/a n.a. nan null none <na> #n/a #na ? . n.d. nd n.d <lod lod bdl missing '
    "#div/0! #value! #ref! #num! #name? #null!"
).split()
MASS = [12.0, 5, 31, 8, 40, 22]
SITES = ["Bonn", "Kiel", "Bonn", "Ulm", "Kiel", "Bonn"]


def measured(title, cells, numbers, *, name="x", notes=(), sep=",", decimal="."):
    """Return a case in which the cells of a further column are numbers."""
    content = with_column(name, cells, sep, decimal)
    return good(title, content, columns=(*NAMES, name), X=beside(numbers), notes=notes)


def left_out(title, name, cells, *notes):
    """Return a case in which a further column is not analyzed."""
    return good(title, with_column(name, cells), notes=(repr(name), *notes))


NUMBERS = [
    measured("1.234,5", ["1.234,5", "2.000", "17,25", "3", "1.000.000", "4,5"],
             [1234.5, 2000, 17.25, 3, 1e6, 4.5], sep=";", decimal=",",
             notes="decimal comma"),
    measured("1 234,5", ["1 234,5", f"2{NBSP}000", f"3{NARROW}500,5", f"4{THIN}000",
             "17,25", "3"], [1234.5, 2000, 3500.5, 4000, 17.25, 3], sep=";",
             decimal=",", notes="decimal comma"),
    measured("1'234.5", ["1'234.5", "2’000", "17.25", "3", "1'000'000", "4"],
             [1234.5, 2000, 17.25, 3, 1e6, 4]),
    measured("1,234.5", ["1,234.5", "2,000", "17.25", "3", "1,000,000", "4"],
             [1234.5, 2000, 17.25, 3, 1e6, 4], sep="\t", notes="tab"),
    measured("quoted thousands", ['"1,234.5"', '"2,000"', "17.25", "3", '"1,000,000"',
             "4"], [1234.5, 2000, 17.25, 3, 1e6, 4]),
    bad("1.234 in two ways", "a;b\n1.234;5\n2.345;7\n3.456;6\n", "--read decimal",
        "line 2", "1.234", "1234"),
    good("1.234 with --decimal .", "a;b\n1.234;5\n2.345;7\n", columns="a b",
         X=[[1.234, 5], [2.345, 7]], decimal=".", notes=ANY),
    good("1.234 with --decimal ,", "a;b\n1.234;5\n2.345;7\n", columns="a b",
         X=[[1234, 5], [2345, 7]], decimal=",", notes=ANY),
    bad("both decimal signs", text(sep=";").replace("4.5", "4,5"), "decimal",
        "line 4", "'flow'"),
    measured("percent", ["12 %", "5%", "31 %", "8 %", "40 %", "22%"], MASS, notes=ANY),
    measured("currency in front", ["$12", "$5", "$31", "$8", "$40", "$22"], MASS,
             notes=ANY),
    measured("currency behind", ["12,50 €", "5 €", "31 €", "8 €", "40 €", "-22,5 €"],
             [12.5, 5, 31, 8, 40, -22.5], sep=";", decimal=",", notes="decimal comma"),
    measured("unit", ["12 kg", "5 kg", "31 kg", "8 kg", "40 kg", "22 kg"], MASS,
             notes=ANY),
    measured("unit without a space", ["12kg", "5kg", "", "8kg", "40kg", "22kg"],
             [12, 5, nan, 8, 40, 22], notes=ANY),
    bad("two units", with_column("x", ["12 kg", "5 g", "31 kg", "8 kg", "4 g", "2 kg"]),
        "line 3", "'x'", "'5 g'", "2 of 6"),
    left_out("two units, half and half", "mass", ["12 kg", "5 g"] * 3),
    measured("unit on all cells but 0", ["12 kg", "5 kg", "0", "8 kg", "40 kg", "2 kg"],
             [12, 5, 0, 8, 40, 2], notes=ANY),
    measured("degrees", ["12 °C", "5 °C", "-3.5 °C", "8 °C", "40 °C", "22 °C"],
             [12, 5, -3.5, 8, 40, 22], notes=ANY),
    measured("below a limit", ["<0.5", "5", "< 0.5", "8", "40", "22"],
             [0.25, 5, 0.25, 8, 40, 22], notes=("<0.5", "half")),
    measured("below a limit, comma", ["<0,5", "5", "3,5", "8", "40", "22"],
             [0.25, 5, 3.5, 8, 40, 22], sep=";", decimal=",", notes=("<0,5", "half")),
    measured("above a limit", [">100", "5", "31", "8", "40", "22"],
             [100, 5, 31, 8, 40, 22], notes=">100"),
    measured("minus signs", ["\N{MINUS SIGN}1.5", "\N{EN DASH}2", "-3", "4", "+5", "6"],
             [-1.5, -2, -3, 4, 5, 6]),
    measured("exponents", ["1e3", "2.5E-1", "1.5e+02", "-4E0", "7", ".5"],
             [1000, 0.25, 150, -4, 7, 0.5]),
    measured("points without digits", ["1.", ".5", "-.25", "+3.", "0.75", "9"],
             [1, 0.5, -0.25, 3, 0.75, 9]),
    measured("huge integers", [str(2**53 + 1), "5", str(10**20), "-7", "3", "9"],
             [2.0**53, 5, 1e20, -7, 3, 9]),
    measured("integers, then decimals", ["1", "2", "4", "3", "7", "5.5"],
             [1, 2, 4, 3, 7, 5.5]),
    measured("empty at first", ["", "", "", "NA", "7", "5.5"],
             [nan, nan, nan, nan, 7, 5.5]),
    bad("unit in one cell", with_column("x", ["12", "5", "31 g", "8", "40", "22"]),
        "line 4", "'x'", "'31 g'"),
    bad("percent sign in one cell", with_column("x", ["12", "5", "31%", "8", "4", "2"]),
        "line 4", "'x'", "'31%'"),
    bad("slip of the finger", text().replace("4.5", "4w.5"), "line 4", "'flow'",
        "'4w.5'"),
    bad("letter behind a number", text().replace("4.5", "4.5x"), "line 4", "'flow'",
        "'4.5x'"),
    bad("hexadecimal among numbers", text().replace("29", "0x29"), "line 4", "'power'",
        "'0x29'"),
    left_out("hexadecimals", "code", ["0x12", "0x5", "0x1F", "0x8", "0x40", "0x22"]),
    left_out("underscores and hexadecimals", "code",
             ["1_000", "0x1F", "2_000", "0x2F", "3_000", "0x3F"]),
    bad("infinite", text().replace("4.5", "inf"), "line 4", "'flow'", "infinite"),
    bad("infinite in words", text().replace("4.5", "-Infinity"), "line 4", "'flow'"),
    bad("beyond the largest number", text().replace("4.5", "1e999"), "line 4",
        "'flow'"),
]  # fmt: skip

WORDS = [
    good("all words for missing", columns="a b",
         content="a,b\n" + "".join(f"{i * i}.5,{w}\n{w.upper()},{i}.25\n"
                                   for i, w in enumerate(MISSING)) + "7,8\n9,1\n",
         X=[row for i in range(len(MISSING))
            for row in ([i * i + 0.5, nan], [nan, i + 0.25])] + [[7, 8], [9, 1]]),
    good("#N/A in the first column", changed(4, "#N/A,29,6.75\n"), X=holed((2, 0))),
    good("dashes", changed(4, "-,29,\N{EN DASH}\n"), X=holed((2, 0), (2, 2)),
         notes=("'-'", "line 4", "'flow'", "missing")),
    good("empty cells", changed(4, ",29, \n"), X=holed((2, 0), (2, 2))),
    good("missing in a file with decimal commas",
         text(sep=";", decimal=",").replace("4,5", "n.a."), X=holed((2, 0)),
         notes="decimal comma"),
    good("--na", text().replace("4.5", "err").replace("6.75", "Off"),
         X=holed((2, 0), (2, 2)), na=["err", "off"], notes=ANY),
    good("--na -999", text().replace("4.5", "-999"), X=holed((2, 0)), na=["-999"],
         notes=ANY),
    good("--na -999 for -999.00", text().replace("4.5", "-999.00"), X=holed((2, 0)),
         na=["-999"], notes=ANY),
    good("--na 0 leaves 0.5", text().replace("4.5", "0"), X=holed((2, 0)), na=["0"],
         notes=ANY),
    good("--missing drop", changed(4, ",29,6.75\n"), X=ROWS[:2] + ROWS[3:],
         ids=list("01345"), missing="drop", notes="1 of 6 rows"),
    bad("--missing error", changed(4, ",29,6.75\n"), "line 4", "'flow'", "missing",
        missing="error"),
    bad("bad cell", text().replace("4.5", "err"), "line 4", "'flow'", "'err'",
        "--na", "--drop flow"),
    bad("two bad cells", text().replace("4.5", "err").replace("6.5", "off"),
        "line 4", "'flow'", "'err'", "2 of 6"),
    bad("bad cells with decimal commas",
        text(sep=";", decimal=",").replace("4,5", "err"), "line 4", "'flow'", "'err'"),
    bad("number and remark", text().replace("4.5", "4.5 (checked)"), "line 4", "'flow'",
        "4.5 (checked)"),
    good("bad cell in a column that is dropped", text().replace("4.5", "err"),
         drop=["flow"], columns="power temp", X=[row[1:] for row in ROWS], notes=ANY),
]  # fmt: skip

DATES = {
    "ISO dates": [f"2024-01-{d}" for d in (31, 30, 29, 27, 26, 25)],
    "German dates": [f"{d}.01.2024" for d in (31, 30, 29, 27, 26, 25)],
    "American dates": [f"01/{d}/2024" for d in (31, 30, 29, 27, 26, 25)],
    "short dates": [f"{d}.1.24" for d in (31, 30, 9, 7, 26, 25)],
    "times": [f"12:{d}:00" for d in (31, 30, 29, 27, 26, 25)],
    "short times": [f"12:{d}" for d in (31, 30, 29, 27, 26, 25)],
    "dates and times": [f"2024-01-31 12:{d}:00" for d in (31, 30, 29, 27, 26, 25)],
    "ISO with T and zone": [f"2024-01-31T12:{d}:00Z" for d in (31, 30, 29, 27, 26, 25)],
    "dates with holes": ["2024-01-31", "", "2024-01-29", "NA", "2024-01-26", ""],
}
DOUBLED = [[2 * x for x in row] for row in ROWS]
CODES = [93, 12, 55, 78, 31, 64]

ROLES = [
    *(left_out(title, "when", cells, "calendar") for title, cells in DATES.items()),
    left_out("text", "site", SITES, "text"),
    left_out("true and false", "ok", ["true", "false", "true", "True", "FALSE", "true"],
             "text"),
    left_out("yes and no", "ok", ["yes", "no", "Yes", "yes", "NO", "no"], "text"),
    left_out("y and n", "ok", ["y", "n", "y", "y", "n", "n"], "text"),
    left_out("mostly text", "kind", ["A", "B", "7", "C", "A", "9"], "text"),
    left_out("column without any cell", "spare", [""] * 6),
    left_out("counts from 1", "nr", map(str, range(1, 7)), "counts the rows"),
    left_out("counts from 0", "row", map(str, range(6)), "counts the rows"),
    good("several left out", notes=("'site', 'operator' (text)", "'date' (calendar)"),
         content=text(beside(SITES, list("ABCABC"), DATES["ISO dates"]),
                      [*NAMES, "site", "operator", "date"])),
    left_out("distinct numbers named id", "id", map(str, CODES), "name the rows"),
    measured("few rows that happen to count", map(str, range(1, 7)), range(1, 7),
             notes=ANY),
    good("many rows that count", notes=("'x'", "counts the rows"), X=ROWS + DOUBLED,
         content=text([[*row, i] for i, row in enumerate(ROWS + DOUBLED, 1)],
                      (*NAMES, "x"))),
    measured("constant", ["3"] * 6, [3.0] * 6, notes="'x'"),
    measured("the same as another column", [f"{row[0]}" for row in ROWS],
             [row[0] for row in ROWS], notes=("'x'", "'flow'")),
    measured("year", ["1999", "2003", "2001", "2010", "2007", "1995"],
             [1999.0, 2003, 2001, 2010, 2007, 1995], notes="'year'", name="year"),
    bad("text only", "site,kind\nBonn,A\nKiel,B\nBonn,C\n", "'site'", "text"),
    good("--id", with_column("code", ["007", "012", "009", "101", "000", "003"]),
         id="code", ids=["007", "012", "009", "101", "000", "003"]),
    good("--label", with_column("site", SITES), label="site", labels=SITES),
    good("--id of numbers and --label", id="code", label="site",
         ids=[str(c) for c in CODES], labels=SITES,
         content=text(beside(CODES, SITES), [*NAMES, "code", "site"])),
    good("--columns", with_column("site", SITES), chosen=["temp", "flow"],
         columns="temp flow", notes=ANY,
         X=[[row[2], row[0]] for row in ROWS]),
    bad("--columns with text", with_column("site", SITES), "'site'", "line 2", "text",
        chosen=["flow", "site"]),
    bad("--columns unknown", text(), "no column 'z'", "'flow', 'power', 'temp'",
        chosen=["z"]),
    bad("--drop everything", text(), "no column is left", drop=list(NAMES)),
]  # fmt: skip


def chosen(title, names, which, expected, **options):
    """Return a case of `--columns` or `--drop` with ranges or patterns."""
    at = [names.index(name) for name in expected]
    X = [[row[j] for j in at] for row in WIDER]
    given = {"chosen": which} | options
    return good(title, text(WIDER, names), columns=expected, X=X, notes=ANY, **given)


WIDER = [[*row, 10 * row[0] - row[2], row[1] / 8 + row[0]] for row in ROWS]
FIVE = ["flow", "temp1", "temp2", "power", "t"]

SELECTION = [
    chosen("range of columns", FIVE, ["temp1:power"], ["temp1", "temp2", "power"]),
    chosen("range from the start", FIVE, [":temp1"], ["flow", "temp1"]),
    chosen("range to the end", FIVE, ["power:"], ["power", "t"]),
    chosen("pattern with *", FIVE, ["temp*"], ["temp1", "temp2"]),
    chosen("pattern with ?", FIVE, ["?", "flow"], ["t", "flow"]),
    chosen("range and pattern dropped", FIVE, None, ["power", "t"],
           drop=["flow", "temp?"]),
    chosen("pattern that is a name", ["a*", "ab", "ac", "b", "c"], ["a*"], ["a*"]),
    chosen("range that is a name", ["a:b", "a", "x", "b", "c"], ["a:b"], ["a:b"]),
    bad("range to an unknown column", text(), "'z'", chosen=["flow:z"]),
    bad("pattern without a match", text(), "'q*'", chosen=["q*"]),
    good("range in a file without names", text(names=()), columns="x0 x1",
         X=[row[:2] for row in ROWS], chosen=["x0:x1"], notes=ANY),
]  # fmt: skip

# What only the last of many rows shows: guesses are made from the first ones, and
# pyarrow reads blocks of 1 MB, which long remarks fill.
MANY, REMARK = 6000, "long " * 40
ABOVE = [[i % 97, i % 89] for i in range(MANY)]
EARLY = [[*row, REMARK] for row in ABOVE]
THREE = ("a", "b", "remark")


def late(title, *cells, X):
    """Return a case with a last row unlike those above."""
    content = text([*EARLY, [*cells, "x"]], THREE, sep=";")
    return good(title, content, columns="a b", X=[*ABOVE, X], notes="'remark'")


LATE = [
    late("late decimal comma", "1,5", "7", X=[1.5, 7]),
    late("late decimal point", "1.5", "7", X=[1.5, 7]),
    late("late quotes", '"1"', '"7"', X=[1, 7]),
    late("late word for missing", "n.d.", "7", X=[nan, 7]),
    bad("late bad cell", text([*EARLY, ["err", "7", "x"]], THREE), "'a'", "'err'",
        f"line {MANY + 2}"),
    bad("late short line", text([*EARLY, ["1", "7"], ["2", "3", "x"]], THREE),
        f"line {MANY + 2}", "2 cells"),
]  # fmt: skip

CELL_CASES = [*NUMBERS, *WORDS, *ROLES, *SELECTION, *LATE]
