"""How far the cells of a spreadsheet of OpenDocument reach, and how much text they hold, told without taking memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple
from xml.parsers import expat

# As the library that reads them knows them: by the prefixes that are usual, whatever these stand for.
CELLS = ("table:table-cell", "table:covered-table-cell")
VALUES = ("office:", "table:formula")


class Tables(NamedTuple):
    """The tables of a document: the largest one's rows and columns, the cells of all, and their text."""

    height: int
    width: int
    n_values: int
    n_text: int


class Reader:
    """Counts cells as a parser tells of tags; rows and cells may say that they stand for many."""

    def __init__(self) -> None:
        self.largest = (0, 0)
        self.n_values = self.n_text = self.n_tables = 0
        self.n_rows = self.height = self.width = 0
        self.row_times = self.n_cells = self.n_filled = self.row_text = 0
        self.cell_times = self.length = 0
        self.is_filled = False

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """Begin a table, a row, a cell, or what is in a cell."""
        if name == "table:table":
            check_not_nested(self.n_tables)
            self.n_tables = 1
            self.n_rows = self.height = self.width = 0
        elif name == "table:table-row":
            self.row_times = int(attributes.get("table:number-rows-repeated", 1))
            self.n_cells = self.n_filled = self.row_text = 0
        elif name in CELLS:
            self.cell_times = int(attributes.get("table:number-columns-repeated", 1))
            self.is_filled = any(key.startswith(VALUES) for key in attributes)
            self.length = sum(map(len, attributes.values()))
        else:
            self.is_filled = True
            self.length += int(attributes.get("text:c", 1)) if name == "text:s" else 0

    def text(self, text: str) -> None:
        """Take the text of a cell."""
        self.is_filled = True
        self.length += len(text.encode())

    def end(self, name: str) -> None:
        """Count a cell, a row or a table that ends."""
        if name in CELLS:
            self.n_cells += max(self.cell_times, 0)
            if self.is_filled:
                self.n_filled = self.n_cells
                self.row_text += max(self.cell_times, 0) * self.length
        elif name == "table:table-row":
            self.n_rows += max(self.row_times, 0)
            if self.n_filled:
                self.height, self.width = self.n_rows, max(self.width, self.n_filled)
                self.n_text += max(self.row_times, 1) * self.row_text
        elif name == "table:table":
            self.n_tables = 0
            self.n_values += self.height * self.width
            self.largest = max(self.largest, (self.height, self.width), key=lambda table: table[0] * table[1])


def tables(blocks: Iterator[bytes]) -> Tables:
    """Return how far the tables of a document reach."""
    reader = Reader()
    parser = expat.ParserCreate()
    parser.StartElementHandler, parser.EndElementHandler = reader.start, reader.end
    parser.CharacterDataHandler = reader.text
    parser.StartDoctypeDeclHandler = refuse_declarations
    for block in blocks:
        parser.Parse(block)
    parser.Parse(b"", True)
    return Tables(*reader.largest, reader.n_values, reader.n_text)


def check_not_nested(n_tables: int) -> None:
    """Refuse a table within a cell of another."""
    if n_tables:
        raise ValueError("a table within a table")


def refuse_declarations(name: str, *_: object) -> None:
    """Refuse a document with declarations, which could stand for more than they are long."""
    raise ValueError(f"a declaration of the document type {name}")
