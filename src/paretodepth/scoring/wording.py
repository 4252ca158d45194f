"""The words of an explanation: its sentences, printed form and table."""

from __future__ import annotations

import html
from collections.abc import Sequence


def _shown(p_value: float) -> str:
    """Return a p-value with the digits that matter."""
    return f"{p_value:.2f}" if p_value >= 0.1 else f"{p_value:.1g}"


def _enumerated(words: Sequence[str]) -> str:
    """Return 'a', 'a and b' or 'a, b and c'."""
    return " and ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else words[0]


def _html_row(tag: str, cells: Sequence[str]) -> str:
    """Return a row of a table, its text escaped."""
    return f"<tr>{''.join(f'<{tag}>{html.escape(cell)}</{tag}>' for cell in cells)}</tr>"
