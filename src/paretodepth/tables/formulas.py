"""Text that a spreadsheet would take for a formula."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

FORMULA = r"^[=+\-@\t\r]"
MARK = "'"


def without_formulas(table: pa.Table) -> pa.Table:
    """Return a table with an apostrophe before every text, names of columns too, that may begin a formula.

    Examples
    --------
    >>> without_formulas(pa.table({"name": ["=1+1", "a=b", None], "-x": [-1, 2, 3]})).to_pydict()
    {'name': ["'=1+1", 'a=b', None], "'-x": [-1, 2, 3]}
    """
    names = [f"{MARK}{name}" if name[0] in "=+-@\t\r" else name for name in table.column_names]
    return pa.table([_marked(column) for column in table.columns], names=names)


def _marked(column: pa.ChunkedArray) -> pa.ChunkedArray:
    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        return column
    marked = pc.binary_join_element_wise(pa.scalar(MARK, column.type), column, pa.scalar("", column.type))
    return pc.if_else(pc.match_substring_regex(column, FORMULA), marked, column)
