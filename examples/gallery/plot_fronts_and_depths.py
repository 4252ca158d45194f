"""
Fronts and depths in pictures
=============================

What a detector does with forty samples: pairs become dyads, dyads are peeled into fronts, and the depth of a new dyad
is the number of fronts in front of it. This is Figure 1 of the paper.
"""

# %%
# Forty nominal samples lie in the plane. Two samples are new: one among them, one apart. The criteria are the
# differences in x and in y, a detector's default.

import matplotlib.pyplot as plt
import numpy as np

from paretodepth import ParetoDepthDetector
from paretodepth.plots import plot_fronts, plot_new_dyads

nominal = np.random.default_rng(0).standard_normal((40, 2))
ordinary, apart = [0.2, 0.1], [2.6, 1.6]
detector = ParetoDepthDetector(alpha=0.05).fit(nominal)

# %%
# Forty samples make 780 pairs. The two differences of a pair are its *dyad*. The number of fronts:

print(f"{len(detector.fronts_.dyads)} dyads on {detector.n_fronts_} fronts")

# %%
# A new sample is joined to its nearest nominal samples under each criterion. Each of these pairs is a new dyad, and the
# mean of their depths is the score.

print("mean depths:", detector.mean_depth([ordinary, apart]).round(1))

# %%
# The sample apart has dyads far from the lower left corner, behind many fronts.

figure, (samples, *panels) = plt.subplots(1, 3, figsize=(12, 4), layout="constrained")
samples.scatter(*nominal.T, marker="x", color="0.5", label="nominal samples")
for ax, sample, name, color, marker in (
    (panels[0], ordinary, "ordinary", "tab:blue", "o"),
    (panels[1], apart, "apart", "tab:red", "^"),
):
    samples.scatter(*sample, s=70, color=color, marker=marker, edgecolors="black", label=name)
    plot_fronts(detector.fronts_, n_lines=20, last=20, ax=ax)
    dyads = detector.nearest_dyads([sample])[0]
    plot_new_dyads(dyads, ax=ax, color=color, marker=marker, label=f"dyads of '{name}'")
    ax.set(title=f"Mean depth {detector.mean_depth([sample])[0]:.1f}", xlabel="|Δx|", ylabel="|Δy|")
    ax.legend(fontsize=8)
samples.set(title="Samples", xlabel="x", ylabel="y", aspect="equal")
samples.legend(fontsize=8)
plt.show()
