"""
The weights that fail
=====================

Adding up several dissimilarities requires weights. No weights reach every pair of samples that is a fair trade-off:
this is the paper's argument for fronts, with its Figure 2 computed here.
"""

# %%
# A pair lies on the first Pareto front if no other pair beats it in every criterion. A weighted sum picks the pair
# where a sloping line first touches the cloud, so it only finds pairs on the convex hull. The pairs in the hollows are
# equally good, and no weights find them.

import matplotlib.pyplot as plt
import numpy as np

from scipy.spatial import ConvexHull

from paretodepth import Fronts, ParetoDepthDetector

rng = np.random.default_rng(0)
dyads = rng.random((600, 2))
dyads = dyads[np.hypot(*dyads.T) > 0.6]
front = Fronts.from_dyads(dyads).front(1)
# A line of negative slope first touches the hull at its lower left, where the outward normal has no positive part.
hull = ConvexHull(front)
faces = hull.simplices[(hull.equations[:, :2] <= 0).all(axis=1)]
is_reached = np.isin(np.arange(len(front)), faces) | (front == front.min(axis=0)).any(axis=1)
print(f"{is_reached.sum()} of {len(front)} dyads of the first front minimize some weighted sum")

# %%
# The cost: nominal samples fill a square, and an anomaly lies outside it in one coordinate only. Whether a weighted sum
# finds the anomalies depends on the weights; we try 101 choices. Only labels show which one is best, and in practice
# there are no labels.

from sklearn.metrics import roc_auc_score
from sklearn.neighbors import NearestNeighbors

from paretodepth.datasets import make_hypercube

data = make_hypercube(300, 400, n_criteria=2, class_probability=0.1, width=0.15, random_state=0)
shares = np.linspace(0, 1, 101)
areas = []
for share in shares:
    # The criteria are the absolute differences of the columns, so their weighted sum is a city-block distance.
    weights = [1 - share, share]
    rival = NearestNeighbors(n_neighbors=6, metric="manhattan").fit(data.X_train * weights)
    distances, _ = rival.kneighbors(data.X_test * weights)
    areas.append(roc_auc_score(data.is_anomaly, distances[:, -1]))
depth = ParetoDepthDetector(data.criteria).fit(data.X_train).mean_depth(data.X_test)
area = roc_auc_score(data.is_anomaly, depth)
print(f"weights: {min(areas):.3f} to {max(areas):.3f}; Pareto depth, without any: {area:.3f}")

# %%
# Left: a front and the part of it that weights can reach. Right: the area under the ROC curve for each weight.

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
left.scatter(*dyads.T, s=8, color="0.8")
left.plot(*front.T, color="tab:green", linewidth=1, label="first front")
reached = front[is_reached]
left.plot(*reached[np.argsort(reached[:, 0])].T, color="tab:blue", linestyle="--", linewidth=1)
left.scatter(*reached.T, color="tab:blue", s=45, edgecolors="black", zorder=3, label="found by some weights")
left.scatter(
    *front[~is_reached].T, color="tab:red", marker="^", s=50, edgecolors="black", zorder=3, label="found by none"
)
left.set(title="Dyads on the first front", xlabel="dissimilarity 1", ylabel="dissimilarity 2")
left.legend(fontsize=8)
right.plot(shares, areas, color="tab:blue", label="weighted sum of both, k-NN")
right.axhline(area, color="tab:green", label="Pareto depth, no weights")
right.set(title="Anomalies found", xlabel="weight of the second criterion", ylabel="area under the ROC curve")
right.legend(fontsize=8)
plt.show()
