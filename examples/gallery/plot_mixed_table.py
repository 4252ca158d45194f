"""
A mixed table: flats with numbers, categories and places
========================================================

A table of flats to let has sizes, rents, coordinates, years and kinds of heating. Columns that belong together form one
criterion, whatever they hold, and no column needs scaling or encoding.
"""

# %%
# A town with an expensive center. Old houses stand in the center and are heated with gas; new ones are not. Four
# anomalies come last.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from paretodepth import Criterion, ParetoDepthDetector

rng = np.random.default_rng(1)


def make_flats(n):
    """Return n ordinary flats."""
    east, north = rng.normal(0, 2.5, (2, n))
    away = np.hypot(east, north)
    rooms = rng.integers(1, 6, n)
    area = rooms * rng.normal(24, 2, n) + 12
    year = np.where(rng.random(n) < np.exp(-away / 3), rng.integers(1880, 1915, n), rng.integers(1955, 2020, n))
    return pd.DataFrame(
        {
            "latitude": 53.55 + north / 111,
            "longitude": 10.0 + east / 66,
            "rooms": rooms,
            "area": area,
            "rent": area * (9 + 13 * np.exp(-away / 2)) * rng.lognormal(0, 0.07, n),
            "year": year,
            "heating": np.where(year < 1920, "gas", np.where(year < 1995, "district", "heat pump")),
        }
    )


anomalies = pd.DataFrame(
    {
        "latitude": [53.575, 53.594, 53.53, 53.555],
        "longitude": [9.99, 10.05, 10.02, 9.94],
        "rooms": [3, 3, 1, 2],
        "area": [84.0, 85.0, 125.0, 60.0],
        "rent": [290.0, 1900.0, 1500.0, 800.0],
        "year": [1975, 1970, 1980, 1890],
        "heating": ["district", "district", "district", "heat pump"],
    },
    index=["cheap for its size", "expensive at the edge", "one huge room", "old with a heat pump"],
)
training, new = make_flats(400), pd.concat([make_flats(80), anomalies])

# %%
# Rooms, area and rent are correlated: `mahalanobis` removes the correlation, so that a large flat may cost more.
# `haversine` reads coordinates, and `gower` compares numbers and categories together.

criteria = [
    Criterion("flat", ["rooms", "area", "rent"], "mahalanobis"),
    Criterion("place", ["latitude", "longitude"], "haversine"),
    Criterion("house", ["year", "heating"], "gower"),
]
detector = ParetoDepthDetector(criteria, alpha=0.03, n_neighbors=8).fit(training)
flagged = detector.predict(new) < 0
explanation = detector.explain(new)
for row in range(80, 84):
    print(f"{new.index[row]}: {explanation.sentences[row]}\n")
print(f"{flagged[:80].sum()} of 80 ordinary flats flagged")

# %%
# The old house with a heat pump is not flagged. The mean depth ranks its dissimilarities among all pairs of flats, and
# half of these pairs are an old house and a new one. Each criterion alone asks how far the nearest flats are:

for row in range(80, 84):
    print(f"{new.index[row]}: p = {explanation.criterion_p_values[row].min():.3f} in its most unusual criterion")

# %%
# Rents for the size over the town, with the flagged flats circled, and the reason for one of them.

figure, (town, why) = plt.subplots(1, 2, figsize=(13, 4.6), layout="constrained", width_ratios=(1.1, 1))
table = pd.concat([training, new])
dots = town.scatter(
    table["longitude"], table["latitude"], c=table["rent"] / table["area"], s=14, cmap="viridis", vmin=8
)
figure.colorbar(dots, ax=town, label="rent per square meter")
town.scatter(
    new["longitude"][flagged], new["latitude"][flagged], s=110, facecolors="none", edgecolors="tab:red", linewidths=1.8
)
for name, row in anomalies.iterrows():
    label = town.annotate(name, (row["longitude"], row["latitude"]), xytext=(9, 7), textcoords="offset points")
    label.set_bbox({"boxstyle": "round,pad=0.15", "facecolor": "white", "edgecolor": "none", "alpha": 0.8})
town.set(title="Flats, those called in red circles", xlabel="longitude", ylabel="latitude")
explanation.plot(81, ax=why)
why.set_title("expensive at the edge", fontsize=11)
plt.show()
