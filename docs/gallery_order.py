"""The order of the gallery's examples: from what a detector does to what engineers may take from it."""

from __future__ import annotations

STORY = [
    "plot_fronts_and_depths.py",
    "plot_weights_that_fail.py",
    "plot_pedestrians.py",
    "plot_invoices.py",
    "plot_mixed_table.py",
    "plot_digits.py",
    "plot_text.py",
    "plot_load_curves.py",
    "plot_precomputed.py",
    "plot_false_discoveries.py",
    "plot_stream.py",
    "plot_dask.py",
    "plot_designs.py",
]


def by_story(name: str) -> int:
    """Return an example's place."""
    return STORY.index(name)
