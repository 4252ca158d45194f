"""Make the pictures of the README: the demo's report in a browser, and a run of `detect` in a terminal.

Run with ``python -m docs.pictures``; needs chromium, or a browser that PARETODEPTH_BROWSER names.
"""

from __future__ import annotations

import contextlib
import csv
import os
import re
import shutil
import tempfile
from pathlib import Path

import numpy as np
from playwright.sync_api import sync_playwright

from paretodepth.cli import app
from paretodepth.cli.terminal import console
from paretodepth.reports.demo import run_demo

DOCS = Path(__file__).parent
WIDTH = 112
CRITERIA = """
[[criterion]]
name = "amount"
columns = "amount"
metric = "log_ratio"

[[criterion]]
name = "hour"
columns = "hour"
metric = "cyclic"
params = {period = 24}

[[criterion]]
name = "weight"
columns = "weight"
metric = "log_ratio"
"""
COMMAND = [
    "paretodepth",
    "detect",
    "new.csv",
    "--reference",
    "nominal.csv",
    "--criteria",
    "criteria.toml",
    "--id",
    "invoice",
]


def draw_report(folder: Path) -> None:
    """Take a picture of the demo's report with its strangest pedestrian."""
    page_path = run_demo(folder, 0).page
    with sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=os.environ.get("PARETODEPTH_BROWSER") or shutil.which("chromium"), args=["--no-sandbox"]
        )
        page = browser.new_page(viewport={"width": 1300, "height": 1180})
        page.goto(page_path.resolve().as_uri())
        page.wait_for_selector("html[data-ready=true]")
        page.screenshot(path=DOCS / "report.png")
        browser.close()


def draw_terminal(folder: Path) -> None:
    """Run `detect` on invoices, three of them odd, and draw what it prints."""
    rng = np.random.default_rng(0)
    amounts = rng.lognormal(4, 0.5, 400)
    nominal = np.column_stack([amounts, rng.normal(14, 2, 400), amounts / 20 * rng.lognormal(0, 0.1, 400)])
    odd = [(52.0, 13.2, 2.7), (61.5, 3.1, 3.0), (4100.0, 15.0, 205.0), (30.0, 14.1, 7.5)]
    for name, rows in (("nominal", nominal), ("new", odd)):
        with open(folder / f"{name}.csv", "w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["invoice", "amount", "hour", "weight"])
            writer.writerows([f"{name}-{row}", *values] for row, values in enumerate(rows))
    (folder / "criteria.toml").write_text(CRITERIA)
    # What is recorded has its colors, though it is printed nowhere.
    console.width, console.record = WIDTH, True
    with open(os.devnull, "w") as nowhere, contextlib.chdir(folder):
        console.file = nowhere
        console.print(f"$ {' '.join(COMMAND)}", style="bold")
        app(COMMAND[1:], standalone_mode=False)
    picture = console.export_svg(title="paretodepth")
    # The reader's own font will do; rich would have it fetched from elsewhere.
    (DOCS / "terminal.svg").write_text(re.sub(r"@font-face \{.*?\}\s*", "", picture, flags=re.DOTALL))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        draw_terminal(Path(name))
        draw_report(Path(name))
