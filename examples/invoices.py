"""Invoices that are odd only in combination: each amount, vendor, text and hour is ordinary by itself.

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
# Vendors form clusters; the k that joins them all would be large, so it is set.
N_NEIGHBORS = 5

Invoices = dict[str, Any]


def make_invoices(n: int, n_odd: int, rng: np.random.Generator) -> tuple[Invoices, np.ndarray]:
    """Return invoices as a dict of columns, and which are odd: the last `n_odd`.

    In an odd invoice the vendor, the text, the amount or the hour is another vendor's.
    Every value by itself is common.
    """
    names, works = list(VENDORS), list(VENDORS.values())
    source = np.tile(rng.integers(len(names), size=n), (4, 1))
    odd = np.arange(n) >= n - n_odd
    respect = rng.integers(4, size=n)[odd]
    others = rng.integers(1, len(names), size=n)[odd]
    source[respect, np.flatnonzero(odd)] = (source[respect, np.flatnonzero(odd)] + others) % len(names)
    vendor_of, text_of, amount_of, hour_of = source
    return {
        "vendor": [names[i] for i in vendor_of],
        "text": [f"{works[i][0]}, {works[i][1]} {rng.integers(10_000, 99_999)}" for i in text_of],
        "amount": np.array([works[i][2] * rng.lognormal(0, 0.25) for i in amount_of]).round(2),
        "hour": np.array([(works[i][3] + rng.normal(0, 0.8)) % 24 for i in hour_of]),
    }, odd


def areas_under_the_curve(seed: int = 0) -> dict[str, float]:
    """Return how well odd invoices are ranked, by all criteria together and by each alone (0.5 is guessing)."""
    rng = np.random.default_rng(seed)
    training, _ = make_invoices(400, 0, rng)
    new, odd = make_invoices(200, 20, rng)
    choices = {"all criteria": CRITERIA} | {criterion.name: [criterion] for criterion in CRITERIA}
    return {
        name: float(
            roc_auc_score(odd, ParetoDepthDetector(criteria, n_neighbors=N_NEIGHBORS).fit(training).mean_depth(new))
        )
        for name, criteria in choices.items()
    }


def main() -> None:
    """Print the figures and the three strangest invoices."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    seed = parser.parse_args().seed
    warnings.simplefilter("ignore", AdviceWarning)  # printed below
    for name, area in areas_under_the_curve(seed).items():
        print(f"{name:<12} AUC {area:.3f}")
    rng = np.random.default_rng(seed)
    training, _ = make_invoices(400, 0, rng)
    new, odd = make_invoices(200, 20, rng)
    detector = ParetoDepthDetector(CRITERIA, n_neighbors=N_NEIGHBORS, alpha=0.02).fit(training)
    labels = detector.predict(new)
    print(f"{np.sum(labels[odd] < 0)} of {odd.sum()} odd invoices found, {np.sum(labels[~odd] < 0)} false alarms")
    for i in np.argsort(detector.score_samples(new))[:3]:
        print(f"  {new['vendor'][i]}, {new['text'][i]}: {new['amount'][i]:.2f} at {int(new['hour'][i])} h")
    for advice in detector.advice_:
        print(f"Advice: {advice}")


if __name__ == "__main__":
    main()
