"""Cells of text as values: the form of a cell, the type of a column, and how its cells are read.

A cell has one form, whatever its neighbors are. `Tally` counts the forms of a column, and counts add up however the
column is divided into blocks. `Tally.settled` has the rule that makes a type of the counts.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from paretodepth._checks import shortened
from paretodepth.tables.dates import MOMENT, NOTATIONS, YEAR_ZERO, moments
from paretodepth.tables.expected_columns import TEXT_OF, Batches, Expected, refuse_kind

EMPTY, BOOLEAN, INTEGER, NUMBER, TEXT = pa.null(), pa.bool_(), pa.int64(), pa.float64(), pa.string()
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
PLAIN = f"{FLOAT}|{NAN}"
CURRENCY = r"(?:US\$|[€$£¥₹]|EUR|USD|GBP|CHF|JPY|CNY|INR|CAD|AUD)"
BLANK = r"[\s\x{a0}\x{202f}]"
# A number with a currency or a percent sign, or with marks between groups of three digits.
DRESSED = (
    rf"^(?:[-−+]?(?:{CURRENCY}{BLANK}?)?|{CURRENCY}{BLANK}?[-−+])"
    rf"(?:[0-9]{{1,3}}(?:[,'’ \x{{a0}}\x{{202f}}][0-9]{{3}})+|[0-9]+)(?:\.[0-9]+)?(?:{BLANK}?(?:%|{CURRENCY}))?$"
)
# A cell for nothing: no letter and no digit at all, one of some words, or a date of the year 0.
MARKER = (
    r"(?i)^[ -/:-@\[-`{-~–—−…]*$|^(n\.a\.?|n/?a|nil|null|none|missing|unknown|unk|undefined|"
    rf"not (available|applicable|known)|error|#[a-z/0]+[!?]?)$|{YEAR_ZERO}"
)
CODE = "^[0-9A-Za-z._-]*[0-9][0-9A-Za-z._-]*$"
MIN_NUMBERS = 3
MAX_OTHER_SHARE, MAX_CODE_SHARE = 0.1, 0.01
MAX_OTHER_SHARE_EXPECTED = 0.5


def _matching(pattern: str) -> Callable[[pa.Array], pa.Array]:
    return partial(pc.match_substring_regex, pattern=pattern)


def _is_longest_whole(cells: pa.Array) -> pa.Array:
    """Return which cells are whole numbers of 19 digits within 64 bits; as text they are in the order of numbers."""
    most = pc.if_else(pc.starts_with(cells, "-"), str(-(2**63)), str(2**63 - 1))
    return pc.and_(pc.match_substring_regex(cells, LONGEST_WHOLE), pc.less_equal(cells, most))


# A cell has the form of the first test that it passes, or else the form "other". Nearly all numbers pass the first two.
FORMS = (
    ("whole", _matching(WHOLE)),
    ("float", _matching(DECIMAL)),
    ("whole", _is_longest_whole),
    ("identifier", _matching(IDENTIFIER)),
    ("float", _matching(FLOAT)),
    ("nan", _matching(NAN)),
    ("dressed", _matching(DRESSED)),
    ("boolean", partial(pc.is_in, value_set=BOOLEAN_WORDS)),
    ("marker", _matching(MARKER)),
)
SIMPLE = re.compile(f"{WHOLE}|{DECIMAL}")
SWAPPED = str.maketrans(",.", ".,")
NUMBER_FORMS = ("whole", "float", "nan", "dressed")
CELL_TYPES = {"whole": INTEGER, "float": NUMBER, "nan": NUMBER, "dressed": NUMBER, "boolean": BOOLEAN}


def forms(cells: pa.Array, decimal: str) -> Iterator[tuple[str, pa.Array, pa.Array]]:
    """Yield the cells of each form, without blanks around them, and their rows; missing cells have no form."""
    bare = _bare(cells)
    rows, rest = pc.indices_nonzero(bare.is_valid()), _pointed(bare.drop_null(), decimal)
    for form, test in FORMS:
        if not len(rest):
            return
        if form == "boolean":
            # No number: points and commas are as they were.
            rest = _pointed(rest, decimal)
        is_one = test(rest)
        if pc.any(is_one).as_py():
            yield form, rows.filter(is_one), rest.filter(is_one)
            is_other = pc.invert(is_one)
            rows, rest = rows.filter(is_other), rest.filter(is_other)
    if len(rest):
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

    cell: str
    row: int


class Tally:
    """Counts of the forms of a column's cells, taken block by block.

    Parameters
    ----------
    decimal : str, default="."
    expected : str, default=None
        What the column must hold: 'numbers', 'times' or 'text'. None if it may hold anything.
    """

    def __init__(self, decimal: str = ".", expected: str | None = None) -> None:
        self.decimal = decimal
        self.expected = expected if expected in ("numbers", "times", "text") else None
        self.n_rows = self.n_codes = 0
        self.counts: Counter[str] = Counter()
        self.first: dict[str, Example] = {}
        # How many cells of the form "other" are dates. Without a notation for all of them a column holds no dates.
        self.n_dates = dict.fromkeys(NOTATIONS, 0)

    @property
    def n_numbers(self) -> int:
        """How many cells are numbers, plain or dressed."""
        return sum(self.counts[form] for form in NUMBER_FORMS)

    @property
    def is_text(self) -> bool:
        """Whether a cell makes text of the column, whatever the other cells are."""
        return self.expected == "text" or (self.expected != "times" and self.counts["identifier"] > 0)

    @property
    def is_date(self) -> bool:
        """Whether all cells are dates, except markers and NaN."""
        n_others = self.counts.total() - self.counts["marker"] - self.counts["nan"]
        return bool(self.best) and self.n_dates[self.best[0]] == n_others

    @property
    def best(self) -> list[str]:
        """The notations in which the most cells are dates: none if no cell is a date, several if they tie."""
        most = max(self.n_dates.values(), default=0)
        return [notation for notation, count in self.n_dates.items() if count == most > 0]

    @property
    def n_missing(self) -> int:
        """How many cells with a value are missing in the column of numbers, booleans or times."""
        if self.expected == "times" or self.is_date:
            return self.counts.total() - max(self.n_dates.values())
        return sum(self.counts[form] for form in self._missing_forms)

    @property
    def first_missing(self) -> Example | None:
        """The first of these cells, or the first that makes text of the column."""
        if self.is_text:
            return self.first.get("identifier")
        if self.expected == "times" or self.is_date:
            notation = (self.best or list(self.n_dates))[0]
            found = [example for form, example in self.first.items() if form not in ("other", *NOTATIONS)]
            found += [self.first[notation]] if notation in self.first else []
        else:
            found = [self.first[form] for form in self._missing_forms if form in self.first]
        return min(found, key=lambda example: example.row, default=None)

    @property
    def _missing_forms(self) -> tuple[str, ...]:
        return ("marker", "other", "boolean") if self.n_numbers else ("marker", "other")

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

    def add_numbers(self, n_integers: int, n_floats: int) -> None:
        """Count numbers that are no text cells, as JSON has them."""
        self.counts["whole"] += n_integers
        self.counts["float"] += n_floats

    def _add_dates(self, rows: pa.Array, found: pa.Array, cells: pa.Array) -> None:
        """Count dates in each notation. Unless times are expected, a cell that is no date rules a notation out."""
        for notation in list(self.n_dates):
            # The first cell rules out most notations.
            is_possible = pc.match_substring_regex(found[:1], NOTATIONS[notation][0])[0].as_py()
            is_read = self.expected == "times" or is_possible
            is_none = moments(found, notation).is_null() if is_read else pa.repeat(True, len(found))
            self.n_dates[notation] += len(found) - _count(is_none)
            self._keep_first(notation, rows.filter(is_none), cells)
            if self.expected != "times" and _count(is_none):
                del self.n_dates[notation]

    def _keep_first(self, form: str, rows: pa.Array, cells: pa.Array) -> None:
        """Keep the first of some rows for messages."""
        row = rows[0].as_py() if len(rows) else None
        if row is not None and (form not in self.first or self.n_rows + row < self.first[form].row):
            self.first[form] = Example(cells[row].as_py().strip(), self.n_rows + row)

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
            return Column(MOMENT, notation=self.best[0]) if len(self.best) == 1 else Column(TEXT)
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
        n_values = self.counts.total() - self.counts["marker"] - self.counts["nan"]
        is_known = len(self.best) == 1 and self.n_dates[self.best[0]] >= n_values / 2
        notation = (self.best or list(self.n_dates))[0]
        return Column(MOMENT, notation=notation) if is_known or not n_values else None


def settled_columns(
    batches: Batches, names: Sequence[str], expected: Expected, source: str, *, decimal: str = "."
) -> list[Column]:
    """Return how each column of text cells is read, and note which cells are read otherwise than they are written."""
    kinds = expected.known_kinds
    tallies = [Tally(decimal, kinds.get(name)) for name in names]
    for batch in batches:
        for tally, cells in zip(tallies, batch.columns, strict=True):
            tally.add(cells)
    return [settled_column(tally, name, expected, source) for tally, name in zip(tallies, names, strict=True)]


def settled_column(
    tally: Tally, name: str, expected: Expected, source: str, place: str = "row {} below the header"
) -> Column:
    """Return how a column is read, with notes; `place` is how messages name a row, counted from 1."""
    column = check_settled(tally, name, source, place)
    about = f"{source}: the column '{name}'"
    for first, n_cells, action in (
        (tally.first.get("dressed"), tally.counts["dressed"], "read as numbers"),
        (tally.first_missing, tally.n_missing, "counted as missing"),
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
    for name in kept:
        schema = schema.append(pa.field(TEXT_OF + name, TEXT))
    for cells in batches:
        # A column without any value takes the type that is expected.
        values = [
            known[field.name]._replace(type=field.type).values(cells[places[field.name]])
            for field in schema
            if field.name in places
        ]
        yield pa.record_batch([*values, *(cells[places[name]] for name in kept)], schema=schema)


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
    is_plain = pc.match_substring_regex(numbers, PLAIN)
    is_dressed = pc.match_substring_regex(numbers, DRESSED)
    return pc.if_else(is_plain, numbers, _where(is_dressed, bare_digits))


def _count(is_one: pa.Array) -> int:
    return pc.sum(is_one).as_py() or 0


def check_settled(tally: Tally, name: str, source: str, place: str) -> Column:
    """Return how a column is read that holds what it must."""
    column = tally.settled()
    if column is not None:
        return column
    first = tally.first_missing
    example = f", {shortened(first.cell)} in {place.format(first.row + 1)}" if first else ""
    if len(tally.best) > 1:
        example = ", dates of which the day or the month may come first; write 2024-12-31"
    refuse_kind("text", str(tally.expected), name, source, example)
