"""
Pedestrians: unusual in speed, in shape, or in both
===================================================

People cross a square. Two walks differ in how fast they are and in where they lead. The paper's second experiment
does this with people seen by a camera; here they are simulated.
"""

# %%
# A column may hold a trajectory per sample, an array of points (x, y, t). Two metrics read it.

import matplotlib.pyplot as plt
import numpy as np

from paretodepth import Criterion, ParetoDepthDetector
from paretodepth.datasets import make_pedestrians
from paretodepth.plots import plot_fronts, plot_new_dyads

training = make_pedestrians(300, random_state=0)
new = make_pedestrians(90, 21, random_state=1)
criteria = [Criterion("speed", "walk", "speed"), Criterion("shape", "walk", "shape")]
detector = ParetoDepthDetector(criteria, alpha=0.05).fit({"walk": training.trajectories})

# %%
# Flagged walks by the kind that was simulated:

called = detector.predict({"walk": new.trajectories}) < 0
for kind in ("nominal", "speed", "shape", "both"):
    print(f"{kind:<8} {called[new.kinds == kind].sum():3d} of {np.sum(new.kinds == kind)} called")

# %%
# The reason for the most unusual walk:

depth = detector.mean_depth({"walk": new.trajectories})
strangest = int(np.argmax(depth))
walk = {"walk": [new.trajectories[strangest]]}
print(detector.explain(walk).sentences[0])

# %%
# Two flagged walks of each kind over nominal walks, and the dyads of the most unusual one over the fronts of all pairs
# of nominal walks.

figure, (square, dyads) = plt.subplots(1, 2, figsize=(12, 4.6), layout="constrained", width_ratios=(1.2, 1))
for trajectory in training.trajectories[:150]:
    square.plot(*trajectory[:, :2].T, color="0.85", linewidth=0.6)
colors = {"nominal": "black", "speed": "tab:orange", "shape": "tab:blue", "both": "tab:red"}
for kind, color in colors.items():
    for place, row in enumerate(np.flatnonzero(called & (new.kinds == kind))[:2]):
        label = f"called, in truth {kind}" if place == 0 else None
        square.plot(
            *new.trajectories[row][:, :2].T,
            color=color,
            linewidth=1.2,
            marker="o",
            markersize=4,
            markevery=9,
            label=label,
        )
square.set(title="Called, a dot a second", xlabel="meters", ylabel="meters", aspect="equal")
square.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1, 1))
plot_fronts(detector.fronts_, n_lines=12, last=int(depth[strangest]), ax=dyads)
plot_new_dyads(detector.nearest_dyads(walk)[0], ax=dyads, color="tab:red", marker="^", label="dyads of the strangest")
dyads.set(
    title=f"Mean depth {depth[strangest]:.0f} of {detector.n_fronts_} fronts",
    xlabel="unlike in speed",
    ylabel="unlike in shape",
    xscale="log",
    yscale="log",
)
dyads.legend(fontsize=8, loc="lower left")
plt.show()
