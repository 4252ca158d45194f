"""Writes examples/invoices.csv: a month of invoices of a small town's shops, a few of them odd in one respect.

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
ODD = ("amount", "time", "shop", "text", "paid")
"""Columns that are odd in some invoice."""
ODD_SHOPS = ("Casino Royal", "Diamond Dealer", "Offshore Trust")
ODD_TEXTS = (
    "URGENT!!! wire transfer, see attachment, do not reply to this address",
    "x9$ kd02 kd02 kd02 %% test test DELETE ME %%",
    "consulting services rendered to the managing director in person, Q3",
)


def invoices(n: int = 400, n_each: int = 3, seed: int = 0) -> tuple[list[tuple[object, ...]], dict[int, str]]:
    """Return rows under `HEADER` in the order of time, and the odd ones by row: the column that is odd.

    Each column of `ODD` is odd in `n_each` invoices.
    """
    rng = np.random.default_rng(seed)
    odd_rows = rng.choice(n, n_each * len(ODD), replace=False).tolist()
    odd = {row: ODD[number % len(ODD)] for number, row in enumerate(odd_rows)}
    rank = {row: number // len(ODD) for number, row in enumerate(odd_rows)}
    days = np.sort(rng.integers(28, size=n))
    rows = []
    for row, day in enumerate(days.tolist()):
        shop = str(rng.choice(list(SHOPS)))
        things, price = SHOPS[shop]
        text = " and ".join(rng.choice(things, 2, replace=False).tolist()) + f", {rng.integers(1, 9)} pieces"
        amount, hour, paid = price * rng.lognormal(0, 0.4), float(np.clip(rng.normal(13, 2), 8, 18)), "yes"
        if odd.get(row) == "amount":
            amount *= 25
        elif odd.get(row) == "time":
            hour = 2.0 + rank[row] / 2
        elif odd.get(row) == "shop":
            shop = ODD_SHOPS[rank[row] % len(ODD_SHOPS)]
        elif odd.get(row) == "text":
            text = ODD_TEXTS[rank[row] % len(ODD_TEXTS)]
        elif odd.get(row) == "paid":
            paid = "no"
        time = datetime(2024, 7, 1) + timedelta(days=day, minutes=round(60 * hour))
        rows.append((20_001 + row, time.isoformat(sep=" "), shop, text, f"{amount:.2f}", paid))
    return rows, odd


def main() -> None:
    """Write the file and say which invoices are odd."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path(__file__).with_name("invoices.csv"))
    out = parser.parse_args().out
    rows, odd = invoices()
    with out.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([HEADER, *rows])
    for row in sorted(odd):
        print(f"{rows[row][0]}: odd {odd[row]}")


if __name__ == "__main__":
    main()
