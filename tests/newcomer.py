"""Files as a newcomer has them: nominal invoices, new ones with three planted anomalies, and criteria."""

import csv

import numpy as np
import pyarrow as pa

PLANTED = {17: "amount", 60: "hour", 88: "unusual combination"}
CRITERIA = """
[[criterion]]
name = "amount"
columns = "amount"
metric = "cityblock"

[[criterion]]
name = "hour"
columns = "hour"
metric = "cyclic"
params = {period = 24}

[[criterion]]
name = "weight"
columns = "weight"
metric = "cityblock"
"""


def invoices(seed, n_samples, planted=()):
    """Return rows of invoice, amount, hour and weight; the weight goes with the amount."""
    rng = np.random.default_rng(seed)
    amounts = rng.uniform(10, 20, n_samples)
    hours = rng.normal(14, 2, n_samples)
    weights = amounts + rng.normal(0, 0.2, n_samples)
    for row in planted:
        if planted[row] == "amount":
            amounts[row] = 60
        elif planted[row] == "hour":
            hours[row] = 2
        else:
            # Each usual by itself, but not both at once.
            amounts[row], weights[row] = 11, 19
    return [(f"inv-{row}", *values) for row, values in enumerate(zip(amounts, hours, weights, strict=True))]


def invoice_table(seed, n_samples, planted=()):
    """Return invoices as a table."""
    columns = zip(*invoices(seed, n_samples, planted), strict=True)
    return pa.table(dict(zip(("invoice", "amount", "hour", "weight"), columns, strict=True)))


def write_csv(path, rows, header=("invoice", "amount", "hour", "weight")):
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows(rows)
    return str(path)


def write_files(folder, n_training=200, n_samples=120):
    """Write nominal.csv, new.csv and criteria.toml, and return their paths."""
    (folder / "criteria.toml").write_text(CRITERIA)
    nominal = write_csv(folder / "nominal.csv", invoices(0, n_training))
    new = write_csv(folder / "new.csv", invoices(1, n_samples, PLANTED))
    return nominal, new, str(folder / "criteria.toml")
