"""
A batch with few false alarms
=============================

If every sample with a p-value of at most 5 % is flagged, so is one nominal sample in twenty. In a large batch these
false alarms can outnumber the anomalies. `select` keeps their share among the flagged samples low instead.
"""

# %%
# A batch of 1,000 samples, 40 of them anomalous in one of two criteria.

import matplotlib.pyplot as plt
import numpy as np

from paretodepth import ParetoDepthDetector

rng = np.random.default_rng(0)
training = rng.normal(size=(1200, 2))
batch = rng.normal(size=(1000, 2))
is_anomaly = np.arange(1000) >= 960
batch[is_anomaly] += rng.choice([-4.5, 4.5], (40, 1)) * np.eye(2)[rng.integers(2, size=40)]

# %%
# `alpha` bounds the share of nominal samples that are flagged; `fdr` bounds the share of false alarms among all flagged
# samples.

detector = ParetoDepthDetector(alpha=0.05, max_depth="auto").fit(training)
p_values = detector.p_values(batch)
calls = {"p ≤ 0.05": p_values <= 0.05, "fdr = 0.2": detector.select(batch, fdr=0.2)}
for name, flagged in calls.items():
    n_false = np.sum(flagged & ~is_anomaly)
    n_found = np.sum(flagged & is_anomaly)
    print(f"{name:<9} {flagged.sum():3d} flagged, {n_false:2d} of them nominal, {n_found} of 40 found")

# %%
# P-values of nominal samples are uniform, so the sorted values follow the diagonal; anomalies bend the curve in the
# corner. `select` flags all samples up to the last point below the slanted line: the more anomalies a batch holds, the
# more samples it may flag.

figure, (left, right) = plt.subplots(1, 2, figsize=(12, 4.4), layout="constrained")
order = np.argsort(p_values, kind="stable")
rank = np.arange(1, 1001)
left.hist(
    [p_values[~is_anomaly], p_values[is_anomaly]],
    bins=20,
    range=(0, 1),
    stacked=True,
    color=["0.7", "tab:red"],
    label=["nominal", "anomalous"],
)
left.axhline(48, color="black", linestyle="--", linewidth=1, label="even")
left.set(xlabel="p-value", ylabel="samples", title="P-values of the batch")
left.margins(y=0.2)
left.legend(loc="upper center", ncols=3)
colors = np.where(is_anomaly[order], "tab:red", "0.6")
right.scatter(rank[:120], p_values[order][:120], c=colors[:120], s=18)
right.plot(rank[:120], 0.2 * rank[:120] / 1000, color="tab:green", label="fdr = 0.2: 0.2 × rank / 1000")
right.axhline(0.05, color="tab:blue", linestyle="--", label="alpha = 0.05")
right.axvline(calls["fdr = 0.2"].sum() + 0.5, color="tab:green", linewidth=0.8, linestyle=":")
right.set(xlabel="rank of the p-value", ylabel="p-value", title="The smallest 120")
right.legend()
plt.show()
