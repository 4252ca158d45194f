"""Cells of text as values: which type a column has, which cells are odd, and what they are read as.

A column has the narrowest type that holds all its cells: booleans, integers, floats, times, otherwise text. A few odd
cells do not make text of numbers; `Tally.settled` has the rule.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from paretodepth._checks import shortened
from paretodepth.files.dates import MOMENT, DateTally, moments
from paretodepth.files.schema import Batches, Expected, refuse_kind

# In a column of numbers or booleans these words mean a missing value; in a column of text only an empty cell does.
MISSING_WORDS = ("", "NA", "N/A", "n/a", "#N/A", "null", "NULL", "None")
BOOLEAN_WORDS = ("true", "True", "TRUE", "false", "False", "FALSE")
EMPTY, BOOLEAN, INTEGER, NUMBER, TEXT = pa.null(), pa.bool_(), pa.int64(), pa.float64(), pa.string()

# As a number an identifier would lose a part: its leading zero, its plus sign, or what is beyond 64 bits.
IDENTIFIER = r"^[+-]?0[0-9]+([.,][0-9]*)?$|^\+[0-9]+$"
WHOLE = "^-?[0-9]+$"
PLAIN = r"(?i)^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]+)?$|^[+-]?(inf|infinity|nan)$"
CURRENCY = r"(?:US\$|[€$£¥₹]|EUR|USD|GBP|CHF|JPY|CNY|INR|CAD|AUD)"
BLANK = r"[\s\x{a0}\x{202f}]"
# A number with a currency or a percent sign, or with marks between groups of three digits.
DRESSED = (
    rf"^[-−+]?(?:{CURRENCY}{BLANK}?)?[-−+]?(?:[0-9]{{1,3}}(?:[,'’ \x{{a0}}\x{{202f}}][0-9]{{3}})+|[0-9]+)(?:\.[0-9]+)?"
    rf"(?:{BLANK}?(?:%|{CURRENCY}))?$"
)
# A cell for nothing: no letter and no digit at all, or one of some words.
MARKER = (
    r"(?i)^[ -/:-@\[-`{-~–—−…]*$|^(n\.a\.?|n/?a|nan|nil|null|none|missing|unknown|unk|undefined|"
    r"not (available|applicable|known)|error|#[a-z/0]+[!?]?)$"
)
MIN_NUMBERS = 3
MAX_ODD_SHARE, MAX_CODE_SHARE = 0.1, 0.01
MAX_ODD_SHARE_EXPECTED = 0.5


class Column(NamedTuple):
    """How the cells of a column are read: as which type, whether some are odd, in which notation of dates."""

    type: pa.DataType
    decimal: str = "."
    has_odd: bool = False
    notation: str = ""

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
            return _where(_is_boolean(bare), bare).cast(BOOLEAN)
        numbers = _pointed(bare, self.decimal)
        return (_undressed(numbers) if self.has_odd else numbers).cast(self.type)


class Odd(NamedTuple):
    """The first odd cell of a sort, and its row."""

    cell: str
    row: int


class Tally:
    """Counts of what the cells of a column look like, taken block by block.

    Parameters
    ----------
    decimal : str, default="."
    expected : str, default=None
        What the column must hold: 'numbers', 'times' or 'text'. None if it may hold anything.
    """

    def __init__(self, decimal: str = ".", expected: str | None = None) -> None:
        self.decimal = decimal
        self.expected = expected if expected in ("numbers", "times", "text") else None
        self.is_text = expected == "text"
        self.dates = DateTally(is_strict=expected != "times")
        self.n_rows = self.n_booleans = self.n_integers = self.n_floats = self.n_dressed = 0
        self.n_markers = self.n_others = self.n_codes = 0
        self.first: dict[str, Odd] = {}

    @property
    def n_numbers(self) -> int:
        """How many cells are numbers, plain or dressed."""
        return self.n_integers + self.n_floats + self.n_dressed

    @property
    def n_missing(self) -> int:
        """How many cells are missing in a column of numbers or times, for which they are odd."""
        if self.expected == "times" or self.is_date:
            return self.dates.n_values - max(self.dates.counts.values()) + self.n_markers
        return self.n_markers + self.n_others + (self.n_booleans if self.n_numbers else 0)

    @property
    def first_missing(self) -> Odd | None:
        """The first of these cells."""
        sorts = ("none", "boolean") if self.n_numbers else ("none",)
        return min((self.first[sort] for sort in sorts if sort in self.first), key=lambda odd: odd.row, default=None)

    @property
    def is_date(self) -> bool:
        """Whether all cells up to now are dates, but for markers."""
        return bool(self.dates.n_values and self.dates.best and not self.n_numbers + self.n_booleans)

    def add(self, cells: pa.Array) -> None:
        """Count more cells."""
        first_row = self.n_rows
        self.n_rows += len(cells)
        bare = _bare(cells)
        if self.is_text or bare.null_count == len(cells):
            return
        type = _cell_type(_pointed(bare.drop_null(), self.decimal))
        if self.expected == "times":
            self._add_moments(bare, first_row)
        elif type in (BOOLEAN, INTEGER, NUMBER):
            self._add_clean(type, bare, first_row)
        elif self.expected == "numbers" or not self._add_moments(bare, first_row):
            self._add_odd(bare, _pointed(bare, self.decimal), first_row)

    def add_numbers(self, n_integers: int, n_floats: int) -> None:
        """Count numbers that stand beside the cells."""
        self.n_integers += n_integers
        self.n_floats += n_floats

    def _add_clean(self, type: pa.DataType, bare: pa.Array, first_row: int) -> None:
        """Count cells that are all booleans, or all plain numbers."""
        self._end_dates(0)
        n_values = len(bare) - bare.null_count
        if type == BOOLEAN:
            self.n_booleans += n_values
            self._keep_first("boolean", bare, bare.is_valid(), first_row)
        else:
            self.add_numbers(n_values * (type == INTEGER), n_values * (type == NUMBER))

    def _add_moments(self, bare: pa.Array, first_row: int) -> bool:
        """Count dates, and tell whether there may be one notation of all."""
        if not self.dates.counts:
            return False
        is_marker = pc.match_substring_regex(bare, MARKER)
        values = bare.filter(pc.invert(is_marker))
        self.dates.add(values)
        if not self.dates.counts:
            self._end_dates(len(values))
            return False
        self.n_markers += _count(is_marker)
        is_date = moments(bare, (self.dates.best or list(self.dates.counts))[0]).is_valid()
        self._keep_first("none", bare, pc.and_(bare.is_valid(), pc.invert(is_date)), first_row)
        return True

    def _end_dates(self, n_new: int) -> None:
        """Give up dates, of which those counted before some new cells were no numbers either."""
        self.n_others += self.dates.n_values - n_new
        self.dates = DateTally(is_strict=True)
        self.dates.counts.clear()

    def _add_odd(self, bare: pa.Array, numbers: pa.Array, first_row: int) -> None:
        """Count cells of which some are no plain numbers."""
        is_identifier = pc.match_substring_regex(numbers, IDENTIFIER)
        is_whole = pc.match_substring_regex(numbers, WHOLE)
        if _count(is_identifier) or not _are_64_bits(numbers.filter(is_whole)):
            self.is_text = True
            self._keep_first("none", bare, is_identifier if _count(is_identifier) else is_whole, first_row)
            return
        is_plain = pc.match_substring_regex(numbers, PLAIN)
        is_dressed = pc.and_not(pc.match_substring_regex(numbers, DRESSED), is_plain)
        is_odd = pc.invert(pc.or_(is_plain, is_dressed))
        odd = bare.filter(is_odd)
        n_markers, n_booleans = _count(pc.match_substring_regex(odd, MARKER)), _count(_is_boolean(odd))
        self.add_numbers(_count(is_whole), _count(is_plain) - _count(is_whole))
        self.n_dressed += _count(is_dressed)
        self.n_markers += n_markers
        self.n_booleans += n_booleans
        self.n_others += len(odd) - n_markers - n_booleans
        is_code = pc.and_(pc.match_substring_regex(odd, "^[0-9A-Za-z._-]+$"), pc.match_substring_regex(odd, "[0-9]"))
        self.n_codes += _count(is_code)
        is_boolean = _is_boolean(bare)
        self._keep_first("dressed", bare, is_dressed, first_row)
        self._keep_first("boolean", bare, is_boolean, first_row)
        self._keep_first("none", bare, pc.and_not(is_odd, is_boolean), first_row)

    def _keep_first(self, sort: str, bare: pa.Array, is_one: pa.Array, first_row: int) -> None:
        """Keep the first cell of a sort, to be shown."""
        row = -1 if sort in self.first else pc.index(is_one, True).as_py()
        if row >= 0:
            self.first[sort] = Odd(bare[row].as_py(), first_row + row)

    def settled(self) -> Column | None:
        """Return how the column is read, or None if it does not hold what it must.

        Cells such as € 12.30, 1,234.50, 1'234 and 12 % are numbers (12 % is 12). Words and marks for nothing, such as
        ?, - and unknown, are missing in a column of numbers, booleans or dates, however many. A column that holds
        other things besides is one of numbers if at least 3 cells are numbers, at most 10 % are none, and at most 1 %
        join letters and digits as codes do; what is no number is missing. Of a column that must hold numbers or times
        up to half of the cells may be none. An identifier, which as a number would lose a part, makes text of all.
        """
        n_none = self.n_booleans + self.n_others
        n_all = self.n_numbers + n_none
        number = INTEGER if self.n_floats + self.n_dressed == 0 else NUMBER
        if self.expected == "times":
            is_told = len(self.dates.best) == 1 and self.n_missing - self.n_markers <= self.dates.n_values / 2
            notation = (self.dates.best or list(self.dates.counts))[0]
            return Column(MOMENT, notation=notation) if is_told or not self.dates.n_values else None
        if self.expected == "numbers":
            if self.is_text or (n_all > self.n_booleans and n_none > MAX_ODD_SHARE_EXPECTED * n_all):
                return None
            return Column((BOOLEAN if n_all == self.n_booleans else number) if n_all else EMPTY, self.decimal, True)
        if self.is_text:
            return Column(TEXT)
        if self.is_date:
            return Column(MOMENT, notation=self.dates.best[0]) if len(self.dates.best) == 1 else Column(TEXT)
        if n_all + self.n_markers == 0:
            return Column(EMPTY)
        if n_all == self.n_booleans and (n_all >= MIN_NUMBERS or not self.n_markers):
            return Column(BOOLEAN)
        if self.n_numbers == n_all and self.n_markers == self.n_dressed == 0:
            return Column(number, self.decimal)
        is_few = n_none <= MAX_ODD_SHARE * n_all and self.n_codes <= MAX_CODE_SHARE * n_all
        return Column(number, self.decimal, True) if self.n_numbers >= MIN_NUMBERS and is_few else Column(TEXT)


def settled_columns(
    batches: Batches, names: Sequence[str], expected: Expected, source: str, *, decimal: str = "."
) -> list[Column]:
    """Return how each column of text cells is read; and note which cells are odd."""
    kinds = expected.known_kinds
    tallies = [Tally(decimal, kinds.get(name)) for name in names]
    for batch in batches:
        for tally, cells in zip(tallies, batch.columns, strict=True):
            tally.add(cells)
    return [settled_column(tally, name, expected, source) for tally, name in zip(tallies, names, strict=True)]


def settled_column(
    tally: Tally, name: str, expected: Expected, source: str, place: str = "row {} below the header"
) -> Column:
    """Return how a column is read, and note which cells are odd; `place` says how a row is named, counted from 1."""
    column = check_settled(tally, name, source, place)
    about = f"{source}: the column '{name}'"
    for odd, told in ((tally.first.get("dressed"), "read as numbers"), (tally.first_missing, "counted as missing")):
        n_odd = tally.n_dressed if told == "read as numbers" else tally.n_missing
        if odd and n_odd and column.type in (BOOLEAN, INTEGER, NUMBER, MOMENT, EMPTY):
            cells = "1 cell" if n_odd == 1 else f"{n_odd:,} cells"
            expected.reading.note(
                f"{about} has {cells} {told}, first {shortened(odd.cell)} in {place.format(odd.row + 1)}."
            )
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
    for cells in batches:
        # A column without any value takes the type that is expected.
        values = [known[field.name]._replace(type=field.type).values(cells[places[field.name]]) for field in schema]
        yield pa.record_batch(values, schema=schema)


def _cell_type(values: pa.Array) -> pa.DataType:
    """Return the narrowest type that holds all cells, of which none is missing: a boolean, a number or text."""
    if pc.all(_is_boolean(values)).as_py():
        return BOOLEAN
    if pc.any(pc.match_substring_regex(values, "^[+-]?0[0-9]")).as_py():
        return TEXT
    are_integers = pc.match_substring_regex(values, "^[+-]?[0-9]+$")
    try:
        values.filter(are_integers).cast(INTEGER)
        if pc.all(are_integers).as_py():
            return INTEGER
        values.cast(NUMBER)
    except pa.ArrowInvalid:
        return TEXT
    return NUMBER


def _bare(cells: pa.Array) -> pa.Array:
    """Return cells without blanks around them, missing where a word says so."""
    bare = pc.utf8_trim_whitespace(cells)
    return _where(pc.invert(pc.is_in(bare, pa.array(MISSING_WORDS))), bare)


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


def _are_64_bits(wholes: pa.Array) -> bool:
    try:
        wholes.cast(INTEGER)
    except pa.ArrowInvalid:
        return False
    return True


def _is_boolean(cells: pa.Array) -> pa.Array:
    return pc.is_in(cells, pa.array(BOOLEAN_WORDS))


def _count(is_one: pa.Array) -> int:
    return pc.sum(is_one).as_py() or 0


def check_settled(tally: Tally, name: str, source: str, place: str) -> Column:
    """Return how a column is read that holds what it must."""
    column = tally.settled()
    if column is not None:
        return column
    first = tally.first_missing
    example = f", {shortened(first.cell)} in {place.format(first.row + 1)}" if first else ""
    if len(tally.dates.best) > 1:
        example = ", dates of which the day or the month may come first; write 2024-12-31"
    refuse_kind("text", str(tally.expected), name, source, example)
