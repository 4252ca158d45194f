"""
A day on the square: a stream with a change at noon
===================================================

People cross the simulated square from six in the morning to eight in the evening. Each walk is compared with the last
300 before it is learnt. Occasionally somebody runs, stops or strays. At noon it begins to rain, and from then on
everybody walks a third faster.
"""

# %%
# The day: 1,400 walks, one in forty anomalous.

import matplotlib.pyplot as plt
import numpy as np

from paretodepth import Criterion
from paretodepth.datasets import make_pedestrians
from paretodepth.streaming import StreamingDetector

N_WALKS, N_ODD = 1400, 35
people = make_pedestrians(N_WALKS - N_ODD, N_ODD, random_state=0)
order = np.random.default_rng(0).permutation(N_WALKS)
hours = np.linspace(6, 20, N_WALKS)
walks = []
for hour, row in zip(hours, order, strict=True):
    walk = people.trajectories[row].copy()
    if hour >= 12:
        walk[:, 2] /= 4 / 3
    walks.append(walk)
is_odd = people.is_anomaly[order]

# %%
# The stream does not learn anomalies while they are at most one in twenty of the last 300, so it learns the rain in the
# end. Speed bins are estimated from the window and move with it.

criteria = [Criterion("speed", "walk", "speed"), Criterion("shape", "walk", "shape")]
stream = StreamingDetector(criteria, window=300, method="blend", alpha=0.02, max_unlearnt=0.05)
found = [stream.update_one({"walk": walk}) for walk in walks]

# %%
# Findings in the morning, in the first half hour of rain, and in the rest of the afternoon:

is_called = np.array([observation.is_anomaly for observation in found])
is_scored = ~np.isnan([observation.score for observation in found])
for title, start, end in (("morning", 6, 12), ("first half hour of rain", 12, 12.5), ("afternoon", 12.5, 20)):
    within = is_scored & (hours >= start) & (hours < end)
    n_odd, n_others = np.sum(within & is_odd), np.sum(within & ~is_odd)
    n_found, n_false = np.sum(is_called & within & is_odd), np.sum(is_called & within & ~is_odd)
    print(f"{title:<24} {n_found:2d} of {n_odd} odd ones called, {n_false:2d} of {n_others} others")
for number in stream.drifts_:
    print(f"drift at {int(hours[number])}:{int(hours[number] % 1 * 60):02d}")

# %%
# P-values through the day. Those of nominal samples are uniform between 0 and 1. When it begins to rain all are small,
# drift is reported, and within the hour walks in the rain have become typical.

figure, (above, below) = plt.subplots(2, 1, figsize=(11, 6), sharex=True, layout="constrained", height_ratios=(2, 1))
p_values = np.array([observation.p_value for observation in found])
above.semilogy(hours[~is_odd], p_values[~is_odd], ".", color="0.6", markersize=4, label="nominal")
above.semilogy(hours[is_odd], p_values[is_odd], "D", color="tab:blue", markersize=5, label="runs, stops or strays")
above.semilogy(
    hours[is_called], p_values[is_called], "o", color="tab:red", markersize=10, fillstyle="none", label="flagged"
)
above.axhline(stream.alpha, color="0.3", linewidth=0.8, linestyle=":", label="alpha")
speeds = [np.hypot(*np.diff(walk[:, :2], axis=0).T).sum() / np.ptp(walk[:, 2]) for walk in walks]
below.plot(hours, speeds, ".", color="0.6", markersize=3)
below.set(xlabel="hour", ylabel="meters a second", ylim=(0, 3), xticks=range(6, 21, 2))
for ax in (above, below):
    ax.axvline(12, color="tab:cyan", linewidth=1.5, label="rain")
    for place, number in enumerate(stream.drifts_):
        ax.axvline(hours[number], color="tab:orange", linestyle="--", label="drift" if place == 0 else None)
above.set(ylabel="p-value", title="Each walk against the last 300")
figure.legend(*above.get_legend_handles_labels(), fontsize=8, loc="outside right upper")
plt.show()
