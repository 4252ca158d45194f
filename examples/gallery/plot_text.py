"""
Text: messages by words and by characters
=========================================

Log lines of a server. Two lines are compared by common words and by characters; a third criterion is how long the
request took. Strings need no preparation.
"""

# %%
# Lines of four kinds, and six anomalies at the end.

import matplotlib.pyplot as plt
import numpy as np

from paretodepth import Criterion, ParetoDepthDetector

rng = np.random.default_rng(0)
KINDS = [
    ("user {} logged in from office", 40.0),
    ("report {} written to archive folder", 900.0),
    ("payment {} accepted by bank", 250.0),
    ("cache of shop {} refreshed", 90.0),
]


def make_lines(n):
    """Return n ordinary lines and their times in milliseconds."""
    kinds = rng.integers(len(KINDS), size=n)
    return {
        "line": [KINDS[kind][0].format(rng.integers(100, 999)) for kind in kinds],
        "time": np.array([KINDS[kind][1] for kind in kinds]) * rng.lognormal(0, 0.3, n),
    }


training, new = make_lines(400), make_lines(94)
strange = [
    ("user 211 logged in from unknown host after 40 attempts", 45.0),
    ("payment 317 rejected by bank: signature differs", 240.0),
    ("segmentation fault in worker 3", 60.0),
    ("user 407 logged in from office", 1500.0),
    ("paymnet 555 acepted by bnak", 260.0),
    ("report 128 written to archive folder", 12.0),
]
new["line"] += [line for line, _ in strange]
new["time"] = np.append(new["time"], [time for _, time in strange])

# %%
# `token_set` counts common words in any order; `levenshtein` is the edit distance.

criteria = [
    Criterion("words", "line", "token_set"),
    Criterion("letters", "line", "levenshtein", normalized=True),
    Criterion("time", "time", "log_ratio"),
]
detector = ParetoDepthDetector(criteria, n_neighbors=5, alpha=0.01).fit(training)
p_values = detector.p_values(new)
explanation = detector.explain(new)
for row in np.argsort(detector.score_samples(new))[:8]:
    print(f"p = {p_values[row]:.3f}  {new['line'][row]}, {new['time'][row]:.0f} ms")

# %%
# How far each line is from the ordinary ones in characters and in time; 1 is typical. A login line that takes very long
# is typical in each of the two; only the combination is unusual.

_, letters, time = explanation.distances.T
is_called = explanation.is_anomaly
figure, ax = plt.subplots(figsize=(11, 5), layout="constrained")
ax.scatter(letters[~is_called], time[~is_called], color="0.7", s=20, label="not called")
ax.scatter(letters[is_called], time[is_called], color="tab:red", marker="^", s=60, edgecolors="black", label="called")
for row in np.flatnonzero(is_called):
    on_the_right = letters[row] > 3
    ax.annotate(
        new["line"][row],
        (letters[row], time[row]),
        xytext=(-8 if on_the_right else 8, 6),
        fontsize=9,
        textcoords="offset points",
        ha="right" if on_the_right else "left",
    )
ax.set(
    xlabel="distance to the nearest ordinary lines, in letters",
    ylabel="in time",
    title="Lines of the log, 1 is usual",
    yscale="log",
)
ax.margins(y=0.1)
ax.legend()
plt.show()
