"""What tests read from an open report."""

import re


def n_called(page):
    return int(page.inner_text("#n-called").replace(",", ""))


def column(page, name):
    """Return the cells in sight of a column."""
    headings = [re.sub(" [▾▴]$", "", text) for text in page.locator("#headings th").all_inner_texts()]
    return page.locator(f"#rows tr.sample td:nth-child({headings.index(name) + 1})").all_inner_texts()
