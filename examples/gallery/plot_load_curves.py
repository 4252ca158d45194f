"""
Daily load curves as series
===========================

The power that households use through the day, a curve of 48 half hours each. Two days differ in level and in
shape; a shape that comes an hour later is still the same shape.
"""

# %%
# Ordinary days have a peak in the morning and one in the evening, at varying times. Four days are anomalous.

import matplotlib.pyplot as plt
import numpy as np

from paretodepth import Criterion, ParetoDepthDetector

rng = np.random.default_rng(0)
hours = np.arange(48) / 2


def peak(hour, width):
    """Return a bump around an hour of the day, which goes round the clock."""
    distance = np.abs((hours - hour + 12) % 24 - 12)
    return np.exp(-((distance / width) ** 2))


def make_day(morning=1.0, evening=1.6, night=0.3, noon=0.0, level=1.0):
    """Return one day's curve in kilowatts."""
    shift = rng.normal(0, 0.7)
    curve = night + morning * peak(7.5 + shift, 1.5) + evening * peak(19 + shift, 2.5) + noon * peak(13, 2)
    return level * rng.lognormal(0, 0.15) * curve + rng.normal(0, 0.04, 48)


training = [make_day() for _ in range(250)]
anomalies = {
    "away": make_day(morning=0.05, evening=0.05),
    "up at night": np.roll(make_day(), 20),
    "twice the level": make_day(level=2.2),
    "at home at noon": make_day(morning=0.1, evening=0.3, noon=1.8),
}
new = [make_day() for _ in range(46)] + list(anomalies.values())

# %%
# `shape_based` compares shapes independently of level, scale and start; `dtw` compares levels after stretching time.

criteria = [
    Criterion("shape", "day", "shape_based"),
    Criterion("level", "day", "dtw", window=3),
]
detector = ParetoDepthDetector(criteria, alpha=0.02, n_neighbors=6).fit({"day": training})
explanation = detector.explain({"day": new})
for name, sentence in zip(anomalies, explanation.sentences[-4:], strict=True):
    print(f"{name}: {sentence}")

# %%
# Ordinary days in gray, and the flagged days.

figure, (curves, plane) = plt.subplots(1, 2, figsize=(12, 4.4), layout="constrained", width_ratios=(1.3, 1))
for day in training:
    curves.plot(hours, day, color="0.85", linewidth=0.5)
shape, level = explanation.distances.T
flagged = np.flatnonzero(explanation.is_anomaly)
plane.scatter(shape, level, color="0.7", s=20, label="not flagged")
for number, row in enumerate(flagged):
    name = list(anomalies)[row - 46] if row >= 46 else "false alarm"
    curves.plot(hours, new[row], linewidth=2, color=f"C{number}", label=name)
    plane.scatter(shape[row], level[row], s=70, color=f"C{number}", edgecolors="black", zorder=3)
    plane.annotate(
        name,
        (shape[row], level[row]),
        xytext=(-8, 6),
        textcoords="offset points",
        ha=("right" if shape[row] > 5 else "left"),
    )
curves.set(title="Flagged days", xlabel="hour", ylabel="kilowatts", xticks=range(0, 25, 4))
curves.legend(fontsize=8)
plane.margins(0.15)
plane.set(
    title="Distance to the nearest ordinary days; 1 is typical",
    xlabel="in shape",
    ylabel="in level",
    xscale="log",
    yscale="log",
)
plt.show()
