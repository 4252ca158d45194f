"""Invoices that are unusual only in combination: each amount, vendor, text and hour is common on its own.

Run with ``python examples/invoices.py``; needs ``pip install "paretodepth[text]"``.
"""

from __future__ import annotations

import argparse
import warnings
from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score

from paretodepth import AdviceWarning, Criterion, ParetoDepthDetector

# A vendor bills its own kind of work, at its own prices, at its own time of the day.
VENDORS = {
    "Nordlicht Energie": ("electricity supply", "site", 900.0, 6.0),
    "Blitz Kurier": ("express delivery of parcels", "order", 40.0, 15.0),
    "Hansa Catering": ("lunch buffet with drinks", "event", 350.0, 11.0),
    "Kontor Reinigung": ("cleaning of office rooms", "building", 120.0, 20.0),
    "Alster Software": ("licence and support, yearly", "contract", 5000.0, 9.0),
}

CRITERIA = [
    Criterion("amount", "amount", "log_ratio"),
    Criterion("vendor", "vendor", "jaro_winkler"),
    Criterion("text", "text", "levenshtein", normalized=True),
    Criterion("time of day", "hour", "cyclic", period=24),
]
# Vendors form clusters; the k that connects them all would be large, so we set it.
N_NEIGHBORS = 5

Invoices = dict[str, Any]


def make_invoices(n: int, n_anomalies: int, rng: np.random.Generator) -> tuple[Invoices, np.ndarray]:
    """Return invoices as a dict of columns, and which are anomalous: the last `n_anomalies`.

    In an anomalous invoice the vendor, the text, the amount or the hour is another vendor's.
    Every value by itself is common.
    """
    names, works = list(VENDORS), list(VENDORS.values())
    source = np.tile(rng.integers(len(names), size=n), (4, 1))
    is_anomaly = np.arange(n) >= n - n_anomalies
    respect = rng.integers(4, size=n)[is_anomaly]
    others = rng.integers(1, len(names), size=n)[is_anomaly]
    source[respect, np.flatnonzero(is_anomaly)] = (source[respect, np.flatnonzero(is_anomaly)] + others) % len(names)
    vendor_of, text_of, amount_of, hour_of = source
    return {
        "vendor": [names[i] for i in vendor_of],
        "text": [f"{works[i][0]}, {works[i][1]} {rng.integers(10_000, 99_999)}" for i in text_of],
        "amount": np.array([works[i][2] * rng.lognormal(0, 0.25) for i in amount_of]).round(2),
        "hour": np.array([(works[i][3] + rng.normal(0, 0.8)) % 24 for i in hour_of]),
    }, is_anomaly


def areas_under_the_curve(seed: int = 0) -> dict[str, float]:
    """Return the area under the ROC curve of all criteria together and of each alone (0.5 is guessing)."""
    rng = np.random.default_rng(seed)
    training, _ = make_invoices(400, 0, rng)
    new, is_anomaly = make_invoices(200, 20, rng)
    choices = {"all criteria": CRITERIA} | {criterion.name: [criterion] for criterion in CRITERIA}
    return {
        name: float(
            roc_auc_score(
                is_anomaly, ParetoDepthDetector(criteria, n_neighbors=N_NEIGHBORS).fit(training).mean_depth(new)
            )
        )
        for name, criteria in choices.items()
    }


def main() -> None:
    """Print the figures and the three most unusual invoices."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    seed = parser.parse_args().seed
    warnings.simplefilter("ignore", AdviceWarning)  # printed below
    for name, area in areas_under_the_curve(seed).items():
        print(f"{name:<12} AUC {area:.3f}")
    rng = np.random.default_rng(seed)
    training, _ = make_invoices(400, 0, rng)
    new, is_anomaly = make_invoices(200, 20, rng)
    detector = ParetoDepthDetector(CRITERIA, n_neighbors=N_NEIGHBORS, alpha=0.02).fit(training)
    labels = detector.predict(new)
    n_found, n_false = np.sum(labels[is_anomaly] < 0), np.sum(labels[~is_anomaly] < 0)
    print(f"{n_found} of {is_anomaly.sum()} anomalous invoices found, {n_false} false alarms")
    for i in np.argsort(detector.score_samples(new))[:3]:
        print(f"  {new['vendor'][i]}, {new['text'][i]}: {new['amount'][i]:.2f} at {int(new['hour'][i])} h")
    for advice in detector.advice_:
        print(f"Advice: {advice}")


if __name__ == "__main__":
    main()
