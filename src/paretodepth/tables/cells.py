"""Cells of text as typed columns: the form of a cell, the type of a column, the conversion of its cells.

A cell has one form, whatever its neighbors are. `Tally` counts the forms of a column, and the counts of blocks add up.
`Tally.settled` is the rule that makes a type of the counts, and `Column.values` converts.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from paretodepth._checks import shortened
from paretodepth.tables.expected_columns import TEXT_OF, Batches, Expected, refuse_kind

EMPTY, BOOLEAN, INTEGER, NUMBER, TEXT = pa.null(), pa.bool_(), pa.int64(), pa.float64(), pa.string()
MOMENT = pa.timestamp("us")
# In a column of numbers, booleans or dates these words are missing values; in a column of text only an empty cell is.
MISSING_WORDS = pa.array(["", "NA", "N/A", "n/a", "#N/A", "null", "NULL", "None"])
BOOLEAN_WORDS = pa.array(["true", "True", "TRUE", "false", "False", "FALSE"])

# All of these have at most 64 bits; of 19 digits that begin with a 9 only some do.
WHOLE = "^-?(0|[1-9][0-9]{0,17}|[1-8][0-9]{18})$"
LONGEST_WHOLE = "^-?9[0-9]{18}$"
DECIMAL = r"^-?(0|[1-9][0-9]*)\.[0-9]+$"
# As a number an identifier would lose a part: its leading zero, its plus sign, or what is beyond 64 bits.
IDENTIFIER = r"^[+-]?0[0-9]+([.,][0-9]*)?$|^\+[0-9]+$|^-?[0-9]{19,}$"
FLOAT = r"(?i)^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]+)?$|^[+-]?(inf|infinity)$"
NAN = "(?i)^[+-]?nan$"
CURRENCY = r"(?:US\$|[€$£¥₹]|EUR|USD|GBP|CHF|JPY|CNY|INR|CAD|AUD)"
BLANK = r"[\s\x{a0}\x{202f}]"
# A number with a currency or a percent sign, or with marks between groups of three digits.
DRESSED = (
    rf"^(?:[-−+]?(?:{CURRENCY}{BLANK}?)?|{CURRENCY}{BLANK}?[-−+])"
    rf"(?:[0-9]{{1,3}}(?:[,'’ \x{{a0}}\x{{202f}}][0-9]{{3}})+|[0-9]+)(?:\.[0-9]+)?(?:{BLANK}?(?:%|{CURRENCY}))?$"
)
# A cell without any letter or digit, one of some words, or a date of the year 0.
MARKER = (
    r"(?i)^[ -/:-@\[-`{-~–—−…]*$|^(n\.a\.?|n/?a|nil|null|none|missing|unknown|unk|undefined|"
    r"not (available|applicable|known)|error|#[a-z/0]+[!?]?)$|"
    r"^(0000[-/][0-9]{1,2}[-/][0-9]{1,2}|[0-9]{1,2}[./-][0-9]{1,2}[./-]0000)([T ][T 0-9:.]*)?$"
)
CODE = "^[0-9A-Za-z._-]*[0-9][0-9A-Za-z._-]*$"
# Python's calendar starts with the year 1. A year 0 is a placeholder, such as 0000-00-00 of MySQL.
_YEAR = "(?P<year>[1-9][0-9]{3}|0[1-9][0-9]{2}|00[1-9][0-9]|000[1-9])"
_MONTH, _DAY = "(?P<month>[0-9]{1,2})", "(?P<day>[0-9]{1,2})"
_CLOCK = r"(?:[01]?[0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9](?:\.[0-9]{1,9})?)?"
_BEHIND = rf"(?:[T ]+(?P<clock>{_CLOCK}) ?(?:Z|UTC|[+-][0-9]{{2}}:?[0-9]{{2}})?)?$"
# Each as a pattern, and as what makes ISO text of it. With points the day comes first wherever such dates are written.
NOTATIONS = {
    "year first": (f"^{_YEAR}[-/]{_MONTH}[-/]{_DAY}{_BEHIND}", r"\1-\2-\3 \4"),
    "day first, with points": (rf"^{_DAY}\.{_MONTH}\.{_YEAR}{_BEHIND}", r"\3-\2-\1 \4"),
    "day first": (f"^{_DAY}[/-]{_MONTH}[/-]{_YEAR}{_BEHIND}", r"\3-\2-\1 \4"),
    "month first": (f"^{_MONTH}[/-]{_DAY}[/-]{_YEAR}{_BEHIND}", r"\3-\1-\2 \4"),
}
"""How dates are written. A clock may follow. A zone behind it is dropped: the hour that the clock shows matters."""

MIN_NUMBERS = 3
MAX_OTHER_SHARE, MAX_CODE_SHARE = 0.1, 0.01
MAX_OTHER_SHARE_EXPECTED = 0.5
SIMPLE = re.compile(f"{WHOLE}|{DECIMAL}")
SWAPPED = str.maketrans(",.", ".,")
NUMBER_FORMS = ("whole", "float", "nan", "dressed")
CELL_TYPES = {"whole": INTEGER, "float": NUMBER, "nan": NUMBER, "dressed": NUMBER, "boolean": BOOLEAN}


# A cell has the form of the first pattern that it matches, or else the form "other". Nearly all numbers match the first
# two.
FORMS = (
    ("whole", WHOLE),
    ("float", DECIMAL),
    ("whole", LONGEST_WHOLE),
    ("identifier", IDENTIFIER),
    ("float", FLOAT),
    ("nan", NAN),
    ("dressed", DRESSED),
    ("boolean", "^(true|True|TRUE|false|False|FALSE)$"),
    ("marker", MARKER),
)


def forms(cells: pa.Array, decimal: str) -> Iterator[tuple[str, pa.Array, pa.Array]]:
    """Yield the cells of each form, without blanks around them, and their rows; missing cells have no form."""
    bare = _bare(cells)
    rows, rest = pc.indices_nonzero(bare.is_valid()), _pointed(bare.drop_null(), decimal)
    for form, pattern in FORMS:
        if form == "boolean":
            # No number: points and commas are as they were.
            rest = _pointed(rest, decimal)
        is_one = pc.match_substring_regex(rest, pattern)
        if pattern == LONGEST_WHOLE:
            # As text, too, numbers of 19 digits are in their order.
            most = pc.if_else(pc.starts_with(rest, "-"), str(-(2**63)), str(2**63 - 1))
            is_one = pc.and_(is_one, pc.less_equal(rest, most))
        if pc.any(is_one).as_py():
            yield form, rows.filter(is_one), rest.filter(is_one)
            is_other = pc.invert(is_one)
            rows, rest = rows.filter(is_other), rest.filter(is_other)
        if not len(rest):
            return
    yield "other", rows, rest


def cell_values(cells: Sequence[str | None], decimal: str) -> list[Any]:
    """Return each cell by itself as a number, a boolean, None where it is missing, or the text that it is."""
    values: list[Any] = [None] * len(cells)
    rest = []
    for place, cell in enumerate(cells):
        number = cell.translate(SWAPPED) if cell and decimal == "," else cell
        # A row is read at once in Python if it holds plain numbers; Arrow takes some 80 microseconds.
        if number and SIMPLE.fullmatch(number):
            values[place] = float(number) if "." in number else int(number)
        elif cell is not None:
            rest.append(place)
    texts = [cells[place] for place in rest]
    for form, rows, found in forms(pa.array(texts, TEXT), decimal) if rest else ():
        if form in CELL_TYPES:
            read = (_undressed(found) if form == "dressed" else found).cast(CELL_TYPES[form]).to_pylist()
        else:
            read = [None if form == "marker" else texts[row] for row in rows.to_pylist()]
        for row, value in zip(rows.to_pylist(), read, strict=True):
            values[rest[row]] = value
    return values


def moments(cells: pa.Array, notation: str) -> pa.Array:
    """Return the moments of cells, missing where a cell is no date in the notation."""
    pattern, iso = NOTATIONS[notation]
    texts = pc.replace_substring_regex(_where(pc.match_substring_regex(cells, pattern), cells), pattern, iso)
    # Months, days and hours of one digit, of which two may be neighbors.
    for _ in range(2):
        texts = pc.replace_substring_regex(texts, "([- ])([0-9])([- :]|$)", r"\10\2\3")
    # Arrow takes microseconds, and no more digits than these have.
    texts = pc.replace_substring_regex(pc.utf8_rtrim_whitespace(texts), r"(\.[0-9]{6})[0-9]+$", r"\1")
    try:
        return texts.cast(MOMENT)
    except pa.ArrowInvalid:
        # One of them is a 30th of February: Arrow does not say which.
        return pa.array([None if cell is None else moment(cell, notation) for cell in cells.to_pylist()], MOMENT)


def moment(cell: str, notation: str) -> datetime | None:
    """Return the moment of a single cell, None if it is no date in the notation."""
    found = re.fullmatch(NOTATIONS[notation][0], cell)
    if found is None:
        return None
    hour, minute, second = [*(found["clock"] or "0:0").split(":"), "0"][:3]
    whole, _, fraction = second.partition(".")
    year, month, day = (int(found[part]) for part in ("year", "month", "day"))
    try:
        return datetime(year, month, day, int(hour), int(minute), int(whole), int(fraction[:6].ljust(6, "0")))
    except ValueError:
        return None


class Column(NamedTuple):
    """How the cells of a column are read: the type, the decimal mark, the notation of dates.

    Numbers are plain if the type holds all cells as they are written.
    """

    type: pa.DataType
    decimal: str = "."
    notation: str = ""
    is_plain: bool = False

    def values(self, cells: pa.Array) -> pa.Array:
        """Return cells as values."""
        if self.type == TEXT:
            return cells
        bare = _bare(cells)
        if self.type == EMPTY or bare.null_count == len(cells):
            return pa.nulls(len(cells), self.type)
        if self.type == MOMENT:
            return moments(bare, self.notation)
        if self.type == BOOLEAN:
            return _where(pc.is_in(bare, BOOLEAN_WORDS), bare).cast(BOOLEAN)
        numbers = _pointed(bare, self.decimal)
        return (numbers if self.is_plain else _undressed(numbers)).cast(self.type)


class Example(NamedTuple):
    """The first cell of a form, and its row."""

    row: int
    cell: str


class Tally:
    """Counts of the forms of a column's cells, of which blocks are added; `expected` is what the column must hold."""

    def __init__(self, decimal: str = ".", expected: str | None = None) -> None:
        self.decimal = decimal
        self.expected = expected if expected in ("numbers", "times", "text") else None
        self.n_rows = self.n_codes = 0
        self.counts: Counter[str] = Counter()
        self.first: dict[str, Example] = {}
        # How many cells of the form "other" are dates. Without a notation for all of them a column holds no dates.
        self.n_dates = dict.fromkeys(NOTATIONS, 0)

    def add(self, cells: pa.Array) -> None:
        """Count more cells."""
        if not self.is_text:
            for form, rows, found in forms(cells, self.decimal):
                self.counts[form] += len(found)
                self._keep_first(form, rows, cells)
                if form == "other":
                    self.n_codes += _count(pc.match_substring_regex(found, CODE))
                    if self.expected != "numbers":
                        self._add_dates(rows, found, cells)
        self.n_rows += len(cells)

    def _add_dates(self, rows: pa.Array, found: pa.Array, cells: pa.Array) -> None:
        """Count dates in each notation. Unless times are expected, a cell that is no date rules a notation out."""
        for notation in list(self.n_dates):
            is_none = moments(found, notation).is_null()
            self.n_dates[notation] += len(found) - _count(is_none)
            self._keep_first(notation, rows.filter(is_none), cells)
            if self.expected != "times" and _count(is_none):
                del self.n_dates[notation]

    def _keep_first(self, form: str, rows: pa.Array, cells: pa.Array) -> None:
        """Keep the first of some rows for messages."""
        row = rows[0].as_py() if len(rows) else None
        if row is not None and (form not in self.first or self.n_rows + row < self.first[form].row):
            self.first[form] = Example(self.n_rows + row, cells[row].as_py().strip())

    @property
    def is_text(self) -> bool:
        """Whether the column is text, whatever the other cells are."""
        return self.expected == "text" or (self.expected != "times" and self.counts["identifier"] > 0)

    @property
    def n_numbers(self) -> int:
        """How many cells are numbers, plain or dressed."""
        return sum(self.counts[form] for form in NUMBER_FORMS)

    @property
    def notations(self) -> list[str]:
        """The notations in which the most cells are dates: none if no cell is a date, several if they tie."""
        most = max(self.n_dates.values(), default=0)
        return [notation for notation, count in self.n_dates.items() if count == most > 0]

    @property
    def is_date(self) -> bool:
        """Whether all cells are dates, except markers and NaN."""
        return bool(self.notations) and self.n_dates[self.notations[0]] == self._n_values

    def missing(self) -> tuple[int, Example | None]:
        """Return how many cells that are no words for nothing are missing in the column, and the first of them.

        In a column that does not hold what it must, the first is the one to show.
        """
        if self.is_text:
            return 0, self.first.get("identifier")
        if self.expected == "times" or self.is_date:
            notation = (self.notations or list(self.n_dates))[0]
            found = [form for form in self.first if form not in ("other", *NOTATIONS)] + [notation]
            n_missing = self.counts.total() - self.n_dates[notation]
        else:
            found = ["marker", "other", *(["boolean"] if self.n_numbers else [])]
            n_missing = sum(self.counts[form] for form in found)
        return n_missing, min((self.first[form] for form in found if form in self.first), default=None)

    def settled(self) -> Column | None:
        """Return how the column is read, or None if it does not hold what it must.

        Cells such as € 12.30, 1,234.50, 1'234 and 12 % are numbers (12 % is 12). Words and marks for nothing, such as
        ?, - and unknown, are missing in a column of numbers, booleans or dates, however many. A column with other cells
        besides holds numbers if at least 3 cells are numbers, at most 10 % are none, and at most 1 % join letters and
        digits as codes do; what is no number is missing. Of a column that must hold numbers or times up to half of the
        cells may be none. An identifier, which as a number would lose a part, makes text of all.
        """
        n_markers, n_booleans, n_numbers = self.counts["marker"], self.counts["boolean"], self.n_numbers
        n_none = n_booleans + self.counts["other"]
        n_all = n_numbers + n_none
        number = INTEGER if n_numbers == self.counts["whole"] else NUMBER
        if self.expected == "times":
            return self._settled_times()
        if self.is_text:
            return Column(TEXT) if self.expected != "numbers" else None
        if self.expected == "numbers":
            if n_all > n_booleans and n_none > MAX_OTHER_SHARE_EXPECTED * n_all:
                return None
            return Column((BOOLEAN if n_all == n_booleans else number) if n_all else EMPTY, self.decimal)
        if self.is_date:
            return Column(MOMENT, notation=self.notations[0]) if len(self.notations) == 1 else Column(TEXT)
        if n_all + n_markers == 0:
            return Column(EMPTY)
        if n_all == n_booleans and (n_all >= MIN_NUMBERS or not n_markers):
            return Column(BOOLEAN)
        if n_numbers == n_all and n_markers == self.counts["dressed"] == 0:
            return Column(number, self.decimal, is_plain=True)
        is_few = n_none <= MAX_OTHER_SHARE * n_all and self.n_codes <= MAX_CODE_SHARE * n_all
        return Column(number, self.decimal) if n_numbers >= MIN_NUMBERS and is_few else Column(TEXT)

    def _settled_times(self) -> Column | None:
        """Return how a column that must hold times is read."""
        notation = (self.notations or list(self.n_dates))[0]
        is_known = len(self.notations) == 1 and self.n_dates[notation] >= self._n_values / 2
        return Column(MOMENT, notation=notation) if is_known or not self._n_values else None

    @property
    def _n_values(self) -> int:
        """How many cells are neither markers nor NaN."""
        return self.counts.total() - self.counts["marker"] - self.counts["nan"]


def settled_columns(
    batches: Batches, names: Sequence[str], expected: Expected, source: str, *, decimal: str = "."
) -> list[Column]:
    """Return how each column of text cells is read, and note which cells are read otherwise than they are written."""
    kinds = expected.known_kinds
    tallies = [Tally(decimal, kinds.get(name)) for name in names]
    for batch in batches:
        for tally, cells in zip(tallies, batch.columns, strict=True):
            tally.add(cells)
    return [check_settled(tally, name, expected, source) for tally, name in zip(tallies, names, strict=True)]


def check_settled(
    tally: Tally, name: str, expected: Expected, source: str, place: str = "row {} below the header"
) -> Column:
    """Return how a column is read, with notes; `place` is how messages name a row, counted from 1."""
    column = tally.settled()
    n_missing, missing = tally.missing()
    if column is None:
        example = f", {shortened(missing.cell)} in {place.format(missing.row + 1)}" if missing else ""
        if len(tally.notations) > 1:
            example = ", dates of which the day or the month may come first; write 2024-12-31"
        refuse_kind("text", str(tally.expected), name, source, example)
    about = f"{source}: the column '{name}'"
    for first, n_cells, action in (
        (tally.first.get("dressed"), tally.counts["dressed"], "read as numbers"),
        (missing, n_missing, "counted as missing"),
    ):
        if first and n_cells and column.type != TEXT:
            cells = "1 cell" if n_cells == 1 else f"{n_cells:,} cells"
            row = place.format(first.row + 1)
            expected.reading.note(f"{about} has {cells} {action}, first {shortened(first.cell)} in {row}.")
    if column.type == TEXT and tally.is_date:
        expected.reading.note(
            f"{about} holds dates of which the day or the month may come first, and is read as text; write 2024-12-31."
        )
    return column


def typed_batches(
    batches: Batches, names: Sequence[str], columns: Sequence[Column], expected: Expected, source: str
) -> Batches:
    """Yield batches of text cells as values."""
    found = pa.schema([(name, column.type) for name, column in zip(names, columns, strict=True)])
    schema = expected.resolved(found, source)
    known = dict(zip(names, columns, strict=True))
    places = {name: place for place, name in enumerate(names)}
    kept = [field.name for field in schema if field.type != TEXT] if expected.keeps_text else []
    whole = pa.schema([*schema, *(pa.field(TEXT_OF + name, TEXT) for name in kept)])
    for cells in batches:
        # A column without any value takes the type that is expected.
        values = [known[field.name]._replace(type=field.type).values(cells[places[field.name]]) for field in schema]
        yield pa.record_batch([*values, *(cells[places[name]] for name in kept)], schema=whole)


def _bare(cells: pa.Array) -> pa.Array:
    """Return cells without blanks around them, missing where a word says so."""
    bare = pc.utf8_trim_whitespace(cells)
    return _where(pc.invert(pc.is_in(bare, MISSING_WORDS)), bare)


def _where(is_kept: pa.Array, cells: pa.Array) -> pa.Array:
    """Return some cells, and missing ones in the place of others."""
    return pc.if_else(is_kept, cells, pa.scalar(None, TEXT))


def _pointed(cells: pa.Array, decimal: str) -> pa.Array:
    """Return cells with a decimal point, and commas between groups of digits, where it was the other way round."""
    if decimal == ".":
        return cells
    for old, new in ((",", "\0"), (".", ","), ("\0", ".")):
        cells = pc.replace_substring(cells, old, new)
    return cells


def _undressed(numbers: pa.Array) -> pa.Array:
    """Return the numbers among cells as plain ones, and missing ones in the place of what is no number."""
    bare_digits = pc.replace_substring_regex(pc.replace_substring(numbers, "−", "-"), "[^0-9.-]", "")
    is_plain = pc.match_substring_regex(numbers, f"{FLOAT}|{NAN}")
    is_dressed = pc.match_substring_regex(numbers, DRESSED)
    return pc.if_else(is_plain, numbers, _where(is_dressed, bare_digits))


def _count(is_one: pa.Array) -> int:
    return pc.sum(is_one).as_py() or 0
