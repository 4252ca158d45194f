"""Writes examples/invoices.csv: a month of invoices of a small town's shops, a few of them anomalous in one respect.

Run with ``python examples/invoices_table.py``; then ``paretodepth detect examples/invoices.csv`` finds them, and
``paretodepth suggest examples/invoices.csv`` shows what it compares.
"""

from __future__ import annotations

import argparse
import csv
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np

HEADER = ("invoice", "time", "shop", "text", "amount", "paid")
# A shop sells its own kind of things, at its own prices.
SHOPS = {
    "Harbour Bakery": (("bread rolls", "rye bread", "apple cake", "coffee"), 8.0),
    "Miller & Sons": (("screws", "paint", "garden hose", "light bulbs"), 25.0),
    "North Books": (("novel", "travel guide", "cookbook", "calendar"), 18.0),
    "Old Pharmacy": (("cough drops", "sun cream", "bandages", "vitamins"), 12.0),
    "Green Grocer": (("apples", "potatoes", "salad", "carrots"), 10.0),
}
WRONG = ("amount", "time", "shop", "text", "paid")
"""Columns with an error in some invoice."""
WRONG_SHOPS = ("Casino Royal", "Diamond Dealer", "Offshore Trust")
WRONG_TEXTS = (
    "URGENT!!! wire transfer, see attachment, do not reply to this address",
    "x9$ kd02 kd02 kd02 %% test test DELETE ME %%",
    "consulting services rendered to the managing director in person, Q3",
)


def invoices(n: int = 400, n_each: int = 3, seed: int = 0) -> tuple[list[tuple[object, ...]], dict[int, str]]:
    """Return rows under `HEADER` in the order of time, and the rows with an error: the column that is wrong.

    Each column of `WRONG` is wrong in `n_each` invoices.
    """
    rng = np.random.default_rng(seed)
    rows_with_errors = rng.choice(n, n_each * len(WRONG), replace=False).tolist()
    wrong = {row: WRONG[number % len(WRONG)] for number, row in enumerate(rows_with_errors)}
    rank = {row: number // len(WRONG) for number, row in enumerate(rows_with_errors)}
    days = np.sort(rng.integers(28, size=n))
    rows = []
    for row, day in enumerate(days.tolist()):
        shop = str(rng.choice(list(SHOPS)))
        things, price = SHOPS[shop]
        text = " and ".join(rng.choice(things, 2, replace=False).tolist()) + f", {rng.integers(1, 9)} pieces"
        amount, hour, paid = price * rng.lognormal(0, 0.4), float(np.clip(rng.normal(13, 2), 8, 18)), "yes"
        if wrong.get(row) == "amount":
            amount *= 25
        elif wrong.get(row) == "time":
            hour = 2.0 + rank[row] / 2
        elif wrong.get(row) == "shop":
            shop = WRONG_SHOPS[rank[row] % len(WRONG_SHOPS)]
        elif wrong.get(row) == "text":
            text = WRONG_TEXTS[rank[row] % len(WRONG_TEXTS)]
        elif wrong.get(row) == "paid":
            paid = "no"
        time = datetime(2024, 7, 1) + timedelta(days=day, minutes=round(60 * hour))
        rows.append((20_001 + row, time.isoformat(sep=" "), shop, text, f"{amount:.2f}", paid))
    return rows, wrong


def main() -> None:
    """Write the file and print which invoices have an error."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path(__file__).with_name("invoices.csv"))
    out = parser.parse_args().out
    rows, wrong = invoices()
    with out.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([HEADER, *rows])
    for row in sorted(wrong):
        print(f"{rows[row][0]}: wrong {wrong[row]}")


if __name__ == "__main__":
    main()
