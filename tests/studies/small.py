"""Small settings and few runs of every experiment, to be tested."""

from paretodepth.studies.accuracy import validity
from paretodepth.studies.pages import PAGES
from paretodepth.studies.paper import table1b

EXPERIMENTS = {name: experiment for page in PAGES.values() for name, experiment in page.experiments.items()}
SMALL = {
    "figure1": ({"n_samples": 40}, 1),
    "figure2": ({"n_points": {"non-convex domain": 300, "square": 300}}, 1),
    "simulation": ({"n_values": 3, "fixed_k": [5, 10], "every": 4}, 6),
    "pedestrians": ({"source": table1b.SIMULATED}, 1),
    "theorem1": ({"counts": [10**3, 10**4, 10**5]}, 8),
    "theorem2": ({"counts": [10**2, 10**3, 10**4]}, 300),
    "dyads": ({"n_dyads": 10**6, "step": 10**5}, 30),
    "accuracy": ({"regimes": ["cube, K = 4", "joint band, K = 2", "categories, K = 6"]}, 2),
    "validity": ({"alphas": list(validity.ALPHAS)}, 12),
    "speed": ({"n_criteria": [2]}, 3),
    "fits": ({"fits": [[2, 120, {"max_depth": "auto"}], [2, 60, {"max_depth": 5}], [3, 100, {"max_dyads": 900}]]}, 1),
    "subsets": ({"n_samples": 120, "n_criteria": [2, 4], "shares": [1.0, 0.1, 0.01]}, 6),
    "cluster": ({"n_samples": 100, "n_workers": 2}, 1),
}


def cells(tables, name):
    """The rows of the table of a name, each as a dict by column."""
    (table,) = (table for table in tables if table.name == name)
    return [dict(zip(table.columns, row, strict=True)) for row in table.rows]
