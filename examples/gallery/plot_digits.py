"""
Handwritten digits by three views
=================================

An image can be compared in many ways: by how its ink is spread over rows and columns, by its spatial frequencies, by
the directions of its strokes. Each view is one criterion. A detector fitted on one digit recognizes the
others as anomalies.
"""

# %%
# Scikit-learn's digits of 8 by 8 pixels. A column may hold an array per sample, so each view is a column.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.metrics import roc_auc_score

from paretodepth import Criterion, ParetoDepthDetector

pixels, digits = load_digits(return_X_y=True)
images = pixels.reshape(-1, 8, 8)
slope_y, slope_x = np.gradient(images, axis=(1, 2))
direction = np.floor((np.arctan2(slope_y, slope_x) / np.pi + 1) * 4) % 8
strokes = np.hypot(slope_x, slope_y)[..., None] * (direction[..., None] == np.arange(8))
views = {
    "ink": np.concatenate([images.sum(axis=1), images.sum(axis=2)], axis=1),
    "frequencies": np.abs(np.fft.fft2(images))[:, :4, :5].reshape(-1, 20),
    "strokes": strokes.reshape(-1, 2, 4, 2, 4, 8).sum(axis=(2, 4)).reshape(-1, 32),
    "pixels": pixels,
}
criteria = [Criterion(name, name, "euclidean") for name in ("ink", "frequencies", "strokes")]

# %%
# Fit on a hundred fives; score the remaining fives and all other digits. The three views together are better than each
# alone. On images as small and well centered as these, plain pixels are better still: several views help where no
# single view holds all the information.

training = np.flatnonzero(digits == 5)[:100]
new = np.setdiff1d(np.arange(len(digits)), training)
is_other = digits[new] != 5


def rows_of(rows):
    """Return the views of some images."""
    return {name: view[rows] for name, view in views.items()}


pixels_only = Criterion("pixels", "pixels", "euclidean")
choices = {"three views": criteria} | {f"{one.name} alone": [one] for one in [*criteria, pixels_only]}
for name, chosen in choices.items():
    depth = ParetoDepthDetector(chosen).fit(rows_of(training)).mean_depth(rows_of(new))
    print(f"{name:<17} AUC {roc_auc_score(is_other, depth):.3f}")

# %%
# The most typical and the most unusual of the other fives, and the digits most similar to fives.

detector = ParetoDepthDetector(criteria, alpha=0.05).fit(rows_of(training))
depth = detector.mean_depth(rows_of(new))
fives = new[~is_other][np.argsort(depth[~is_other])]
others = new[is_other][np.argsort(depth[is_other])]
picks = {
    "ordinary fives": fives[:10],
    "unusual fives": fives[::-1][:10],
    "others most alike": others[:10],
    "others least alike": others[::-1][:10],
}
figure, axes = plt.subplots(4, 10, figsize=(11, 5), layout="constrained")
for line, (title, rows) in zip(axes, picks.items(), strict=True):
    for ax, row in zip(line, rows, strict=True):
        ax.imshow(images[row], cmap="gray_r")
        ax.set(xticks=[], yticks=[])
        is_called = detector.predict(rows_of([row]))[0] < 0
        for spine in ax.spines.values():
            spine.set(color="tab:red" if is_called else "0.8", linewidth=2 if is_called else 1)
    line[0].set_ylabel(title, rotation=0, ha="right", va="center", fontsize=11)
figure.suptitle("Flagged digits have a red frame; up to one ordinary five in twenty may be flagged", fontsize=11)
plt.show()
