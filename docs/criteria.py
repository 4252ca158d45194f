"""Make docs/criteria.md: the prose of criteria.in.md, and the tables of metrics in place of its marks.

Run with ``python -m docs.criteria``.
"""

from __future__ import annotations

import re
from pathlib import Path

from paretodepth.criteria.catalogue import metrics_section

DOCS = Path(__file__).parent
MARK = re.compile(r"^<!-- metrics: (\w+) -->\n", flags=re.MULTILINE)


def criteria_page() -> str:
    """Return the page."""
    return MARK.sub(lambda mark: metrics_section(mark[1]), (DOCS / "criteria.in.md").read_text(encoding="utf-8"))


if __name__ == "__main__":
    (DOCS / "criteria.md").write_text(criteria_page(), encoding="utf-8")
