"""
Invoices that are unusual only in combination
=============================================

Each vendor bills its own kind of work, at its own prices and at its own time of day. In an anomalous invoice, one of
these is another vendor's: every single value is common, so no single column shows the anomaly.
"""

# %%
# Five vendors, and invoices as a dict of columns.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import roc_auc_score

from paretodepth import Criterion, ParetoDepthDetector

VENDORS = {
    "Nordlicht Energie": ("electricity supply, site", 900.0, 6.0),
    "Blitz Kurier": ("express delivery of parcels, order", 40.0, 15.0),
    "Hansa Catering": ("lunch buffet with drinks, event", 350.0, 11.0),
    "Kontor Reinigung": ("cleaning of office rooms, building", 120.0, 20.0),
    "Alster Software": ("license and support, contract", 5000.0, 9.0),
}
rng = np.random.default_rng(0)


def make_invoices(n, n_anomalies):
    """Return invoices, the last of them anomalous: one of vendor, text, amount and hour is another vendor's."""
    names, works = list(VENDORS), list(VENDORS.values())
    source = np.tile(rng.integers(5, size=n), (4, 1))
    for row in range(n - n_anomalies, n):
        source[row % 4, row] = (source[row % 4, row] + rng.integers(1, 5)) % 5
    return {
        "vendor": [names[i] for i in source[0]],
        "text": [f"{works[i][0]} {rng.integers(10_000, 99_999)}" for i in source[1]],
        "amount": np.array([works[i][1] * rng.lognormal(0, 0.25) for i in source[2]]),
        "hour": np.array([(works[i][2] + rng.normal(0, 0.8)) % 24 for i in source[3]]),
    }


training, new = make_invoices(400, 0), make_invoices(200, 20)
is_anomaly = np.arange(200) >= 180

# %%
# One criterion for each respect. Vendors form clusters, and the number of neighbors that connects them all would be
# large, so we set it.

criteria = [
    Criterion("vendor", "vendor", "jaro_winkler"),
    Criterion("text", "text", "levenshtein", normalized=True),
    Criterion("amount", "amount", "log_ratio"),
    Criterion("time of day", "hour", "cyclic", period=24),
]


def area(chosen):
    """Return the area under the ROC curve of anomalous invoices; 0.5 is guessing."""
    detector = ParetoDepthDetector(chosen, n_neighbors=5).fit(training)
    return roc_auc_score(is_anomaly, detector.mean_depth(new))


import warnings

from paretodepth import AdviceWarning

# fit warns about many ties in the vendor's name, which is right: there are only five vendors.
warnings.simplefilter("ignore", AdviceWarning)
areas = {"all four": area(criteria)} | {f"{criterion.name} alone": area([criterion]) for criterion in criteria}

# %%
# Left: no criterion alone is better than guessing. Right: amounts and hours of the invoices. The anomalies lie among
# the others; only their combination with vendor and text reveals them.

detector = ParetoDepthDetector(criteria, n_neighbors=5, alpha=0.02).fit(training)
flagged = detector.predict(new) < 0
n_found, n_false = np.sum(flagged & is_anomaly), np.sum(flagged & ~is_anomaly)
print(f"{n_found} of {is_anomaly.sum()} anomalous invoices flagged, {n_false} of 180 others")

figure, (left, right) = plt.subplots(1, 2, figsize=(12, 4.4), layout="constrained", width_ratios=(1, 1.3))
colors = ["tab:green", *["0.7"] * 4]
left.barh(list(areas), list(areas.values()), color=colors)
left.axvline(0.5, color="black", linestyle="--", linewidth=1)
left.text(0.51, 4.1, "guessing", fontsize=9)
left.invert_yaxis()
left.set(xlim=(0, 1), xlabel="area under the ROC curve")
for number, vendor in enumerate(VENDORS):
    rows = np.array([name == vendor for name in new["vendor"]])
    right.scatter(new["hour"][rows], new["amount"][rows], s=16, color=f"C{number}", label=vendor)
right.scatter(
    new["hour"][flagged], new["amount"][flagged], s=90, facecolors="none", edgecolors="black", label="flagged"
)
right.set(yscale="log", xlabel="hour of the day", ylabel="amount", title="New invoices by the vendor they name")
right.legend(fontsize=8, ncols=3, loc="upper center", bbox_to_anchor=(0.5, -0.13))
plt.show()
