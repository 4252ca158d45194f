"""
Pareto sorting of designs, for engineers
========================================

`front_numbers` is the detector's exact non-dominated sort. It sorts any vectors whose entries should be small: here
beams by weight, deflection and cost.
"""

# %%
# A steel or aluminum beam of two meters carries a load in its middle. We try 20,000 random hollow boxes.

import time

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import LogNorm

from paretodepth import front_numbers

rng = np.random.default_rng(0)
n = 20_000
width, height = rng.uniform(0.03, 0.15, (2, n))
wall = rng.uniform(0.002, 0.012, n)
is_steel = rng.random(n) < 0.5
density, stiffness, price = (
    np.where(is_steel, steel, aluminum) for steel, aluminum in ((7850, 2700), (210e9, 70e9), (1.2, 3.5))
)

length, load = 2.0, 5000.0
section = width * height - (width - 2 * wall) * (height - 2 * wall)
inertia = (width * height**3 - (width - 2 * wall) * (height - 2 * wall) ** 3) / 12
kilograms = section * length * density
millimeters = 1000 * load * length**3 / (48 * stiffness * inertia)
euros = kilograms * price + 2 * np.where(is_steel, 1.0, 1.5)
designs = np.column_stack([kilograms, millimeters, euros])

# %%
# Front 1 holds the designs that no other beats in weight, deflection and cost at once; front 2 holds those that only
# designs of front 1 beat; and so on. To maximize a quantity, pass its negative.

front_numbers(designs[:10])  # compiles on first use
start = time.perf_counter()
numbers = front_numbers(designs)
elapsed = time.perf_counter() - start
print(f"{n:,} designs on {numbers.max()} fronts in {1000 * elapsed:.0f} ms; {np.sum(numbers == 1)} on the first")

# %%
# The first front by weight and deflection, its cost in color.

best = numbers == 1
figure, (ax, fronts) = plt.subplots(1, 2, figsize=(12, 4.6), layout="constrained", width_ratios=(1.3, 1))
ax.scatter(kilograms, millimeters, s=2, color="0.85", label="all designs")
for material, marker in ((True, "s"), (False, "o")):
    rows = best & (is_steel == material)
    dots = ax.scatter(
        kilograms[rows],
        millimeters[rows],
        c=euros[rows],
        s=24,
        marker=marker,
        cmap="plasma",
        edgecolors="black",
        linewidths=0.4,
        norm=LogNorm(euros[best].min(), euros[best].max()),
        label="steel" if material else "aluminum",
    )
figure.colorbar(dots, ax=ax, label="cost in euros, of those on front 1")
ax.set(xscale="log", yscale="log", xlabel="weight, kg", ylabel="deflection, mm", title="Designs on the first front")
ax.legend(fontsize=8)
fronts.hist(
    [numbers[is_steel], numbers[~is_steel]],
    bins=np.arange(0.5, numbers.max() + 1),
    stacked=True,
    color=["tab:blue", "tab:orange"],
    label=["steel", "aluminum"],
)
fronts.set(xlabel="front", ylabel="designs", title="How many designs each front holds")
fronts.legend(fontsize=8)
plt.show()
