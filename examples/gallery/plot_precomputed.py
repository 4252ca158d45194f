"""
Precomputed matrices: dissimilarities from anywhere
===================================================

Whatever can be compared in pairs can be scored: graphs, molecules, songs. If another library computes the
dissimilarities, pass its matrices. Here a sample is a day of response times, compared by SciPy in two ways.
"""

# %%
# A day is 120 response times. On ordinary days they are skewed, and slow ones follow slow ones. Anomalous days have two
# peaks, or no order.

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import wasserstein_distance

from paretodepth import Criterion, ParetoDepthDetector

rng = np.random.default_rng(0)


def make_day(memory=0.8, second_hump=0.0):
    """Return the response times of one day, in milliseconds."""
    noise = rng.standard_normal(120)
    level = np.empty(120)
    level[0] = noise[0]
    for i in range(1, 120):
        level[i] = memory * level[i - 1] + np.sqrt(1 - memory**2) * noise[i]
    times = 80 * np.exp(0.4 * level + rng.normal(0, 0.1))
    return np.where(rng.random(120) < second_hump, times + 250, times)


training = [make_day() for _ in range(150)]
kinds = ["ordinary"] * 34 + ["two humps"] * 3 + ["no order"] * 3
new = [make_day() for _ in range(34)]
new += [make_day(second_hump=0.3) for _ in range(3)] + [make_day(memory=0.0) for _ in range(3)]

# %%
# Two dissimilarities of two days: the Wasserstein distance of their distributions, which ignores the order, and the
# difference of their autocorrelations, which depends on nothing else.


def autocorrelation(day):
    """Return the correlation of a value with the one after it."""
    return np.corrcoef(np.log(day[:-1]), np.log(day[1:]))[0, 1]


def matrices(days, others):
    """Return the two dissimilarities of each day with each other one."""
    distribution = np.array([[wasserstein_distance(a, b) for b in others] for a in days])
    order = np.abs(np.subtract.outer([autocorrelation(a) for a in days], [autocorrelation(b) for b in others]))
    return [distribution, order]


# %%
# `fit` takes a square matrix per criterion, `predict` one with a column for each training sample.

criteria = [Criterion("distribution", metric="precomputed"), Criterion("order", metric="precomputed")]
detector = ParetoDepthDetector(criteria, alpha=0.05).fit(matrices(training, training))
unlike = matrices(new, training)
called = detector.predict(unlike) < 0
for kind in dict.fromkeys(kinds):
    rows = np.array(kinds) == kind
    print(f"{kind:<10} {called[rows].sum()} of {rows.sum()} called")

# %%
# The matrices of the new days, and their scores.

figure, axes = plt.subplots(1, 3, figsize=(12, 4.6), layout="constrained", width_ratios=(1, 1, 0.8), sharey=True)
for ax, matrix, criterion in zip(axes, unlike, criteria, strict=False):
    picture = ax.imshow(matrix, aspect="auto", cmap="magma_r", vmax=np.quantile(matrix, 0.995))
    figure.colorbar(picture, ax=ax, location="bottom", shrink=0.8)
    ax.set(title=f"unlike in {criterion.name}", xlabel="training day")
axes[0].set_ylabel("new day")
depth = detector.mean_depth(unlike)
axes[2].barh(range(40), depth, color=np.where(called, "tab:red", "0.7"))
axes[2].axvline(-detector.offset_, color="black", linestyle="--", linewidth=1)
axes[2].set(title="mean depth, called in red")
for first, last, name in ((34, 36, "two humps"), (37, 39, "no order")):
    style = {
        "ha": "center",
        "va": "center",
        "color": "white",
        "bbox": {"facecolor": "tab:red", "linewidth": 0, "pad": 1},
    }
    axes[2].text(depth[first] / 2, (first + last) / 2, name, **style)
plt.show()
