"""
A Dask cluster on one machine
=============================

The same fit and the same scores, bit by bit, computed by the workers of a cluster. This cluster has two workers on this
machine; pass a scheduler's address to use a large one.
"""

# %%
# The samples may be distributed too: a Dask array in chunks of rows.

import dask.array as da
import matplotlib.pyplot as plt
import numpy as np
from dask.distributed import Client, LocalCluster

from paretodepth import ParetoDepthDetector, distributed

rng = np.random.default_rng(0)
angle = rng.uniform(0, 2 * np.pi, 2500)
training = np.column_stack([np.cos(angle), np.sin(angle)]) * rng.normal(1, 0.08, (2500, 1))
grid = np.stack(np.meshgrid(np.linspace(-1.8, 1.8, 60), np.linspace(-1.8, 1.8, 60)), axis=-1).reshape(-1, 2)

# %%
# `max_depth="auto"` keeps the fronts that matter, so that memory does not grow with the number of pairs.

detector = ParetoDepthDetector(n_neighbors=8, max_depth="auto")
workers = LocalCluster(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None)
with workers as cluster, Client(cluster) as client:
    distributed.fit(detector, da.from_array(training, chunks=(500, 2)), client)
    scores = distributed.score_samples(detector, da.from_array(grid, chunks=(600, 2)), client)

# %%
# One machine without a cluster gives the same numbers, to the last bit.

alone = ParetoDepthDetector(n_neighbors=8, max_depth="auto").fit(training)
print("equal:", np.array_equal(scores, alone.score_samples(grid)))

# %%
# The mean depth over the plane. The ring is nominal. A point inside it has nominal neighbors in x and others in y, but
# none that is close in both, so it lies deep.

figure, ax = plt.subplots(figsize=(6.6, 5.4), layout="constrained")
depth = -scores.reshape(60, 60)
x, y = grid.reshape(60, 60, 2).transpose(2, 0, 1)
shades = ax.contourf(x, y, depth, levels=np.geomspace(depth.min(), depth.max(), 20), norm="log", cmap="viridis")
ax.contour(x, y, depth, levels=[-detector.offset_], colors="white")
ax.scatter(*training[:400].T, s=3, color="black")
figure.colorbar(shades, ax=ax, label="mean depth", ticks=[50, 100, 200, 400], format="%g")
ax.set(title="2,500 samples on two workers; the line is the threshold", xlabel="x", ylabel="y", aspect="equal")
plt.show()
