"""Small settings and few runs of every experiment, to be tested."""

from dataclasses import replace

import numpy as np

from paretodepth._blocks import progress_to
from studies.accuracy import validity
from studies.pages import PAGES, reproduce_experiment, write_page
from studies.paper import table1b
from studies.runs import finished_runs

EXPERIMENTS = {name: experiment for page in PAGES.values() for name, experiment in page.experiments.items()}
SMALL = {
    "figure1": ({"n_samples": 40}, 1),
    "figure2": ({"n_points": {"non-convex domain": 300, "square": 300}}, 1),
    "simulation": ({"n_values": 3, "fixed_k": [5, 10], "every": 4}, 6),
    "pedestrians": ({"source": table1b.SIMULATED}, 1),
    "theorem1": ({"counts": [10**3, 10**4, 10**5]}, 8),
    "theorem2": ({"counts": [10**2, 10**3, 10**4]}, 300),
    "dyads": ({"n_dyads": 10**6, "step": 10**5}, 30),
    "accuracy": ({"regimes": ["cube, K = 4", "joint band, K = 2", "categories, K = 6"], "pyod": []}, 2),
    # The folder is the session's.
    "tables": ({"folder": "", "label": None, "tables": ["small"], "left_out": {"glass": "why"}, "pyod": []}, 2),
    "validity": ({"alphas": list(validity.ALPHAS)}, 12),
    "speed": ({"n_criteria": [2]}, 3),
    "fits": ({"fits": [[2, 120, {"max_depth": "auto"}], [2, 60, {"max_depth": 5}]]}, 1),
    "cluster": ({"n_samples": 100, "n_workers": 2}, 1),
}


def write_table(folder):
    """Write a labelled table of four columns, of which two and two vary together, and anomalies that do not."""
    folder.mkdir()
    rng = np.random.default_rng(0)
    base, anomalies = rng.normal(size=(120, 2)), rng.normal(0, 3, size=(20, 4))
    nominal = np.column_stack([base, base + 0.1 * rng.normal(size=(120, 2))])
    np.savez(folder / "7_small.npz", X=np.concatenate([nominal, anomalies]), y=np.arange(140) >= 120)


def cells(tables, name):
    """The rows of the table of a name, each as a dict by column."""
    (table,) = (table for table in tables if table.name == name)
    return [dict(zip(table.columns, row, strict=True)) for row in table.rows]


def assert_section_is_written(page, name, values, folder):
    """Run an experiment whose runs are known and in its file; look at what is written of it."""
    settings, n_runs = SMALL[name]
    known = {"settings": lambda full: settings, "run": lambda seed, settings: values[seed]}
    experiment = replace(page.experiments[name], **known)
    files = folder / page.name
    files.mkdir()
    finished_runs(experiment, settings, range(n_runs), files / f"{name}.jsonl")
    told = []
    with progress_to(lambda *state: told.append(state)):
        tables = reproduce_experiment(page, experiment, folder, runs=n_runs, full=False, seed=0, n_jobs=1)
    assert [state for state in told if state[0] == name] == [(name, n_runs, n_runs)]
    text = write_page(page, folder).read_text()
    assert experiment.title in text
    assert all(table.to_markdown() in text for table in tables)
    pictures = sorted(path.name for path in files.glob("*.png"))
    assert pictures or name in ("speed", "cluster")
    for picture in pictures:
        assert f"{page.name}/{picture}" in text
        assert (files / picture).with_suffix(".svg").exists()
    assert len(list(files.glob("*.csv"))) == len(tables)
