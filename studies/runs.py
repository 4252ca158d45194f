"""Experiments made of seeded runs, kept on disk so that an interrupted one resumes."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from joblib import effective_n_jobs

from paretodepth import __version__
from paretodepth._blocks import report_progress
from paretodepth.scoring.advice import AdviceWarning
from paretodepth.tables.atomic import replaced
from studies.tables import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Settings = Mapping[str, Any]
Values = Mapping[str, Any]


@dataclass(frozen=True)
class Experiment:
    """A table or figure of the paper: what one run does, and what is shown of all runs.

    Attributes
    ----------
    name, title : str
    summary : str
        A paragraph for the page: what is done, and what of the paper it repeats.
    run : callable
        Takes a seed and the settings; returns numbers, lists and dicts of them by name.
    tables : callable
        Takes the values of all runs and the settings; returns the tables.
    settings : callable
        Takes whether the long version is wanted; returns what a run depends on apart from its seed.
    n_runs, n_full_runs : int
    figures : callable
        Takes what `tables` does; returns the figures by name. None by default.
    folder_settings : callable or None
        Where data must be given: takes their folder and the name of their label; returns the settings.
    absent : str
        What the page says in its place as long as it has not been run; nothing if empty.
    """

    name: str
    title: str
    summary: str
    run: Callable[[int, Settings], Values]
    tables: Callable[[Sequence[Values], Settings], list[Table]]
    settings: Callable[[bool], Settings]
    n_runs: int
    n_full_runs: int
    figures: Callable[[Sequence[Values], Settings], dict[str, Figure]] = lambda runs, settings: {}
    folder_settings: Callable[[Path, str | None], Settings] | None = None
    absent: str = ""

    def with_folder(self, folder: Path, label: str | None) -> Experiment:
        """Return the experiment on the data of a folder, itself if it takes none."""
        of_folder = self.folder_settings
        return self if of_folder is None else replace(self, settings=lambda full: of_folder(folder, label))


def finished_runs(
    experiment: Experiment,
    settings: Settings,
    seeds: Sequence[int],
    path: Path,
    *,
    n_jobs: int | None = None,
) -> list[Values]:
    """Return the values of all runs in the order of the seeds, computing those not in the file yet.

    Every run is appended to the file when it ends. A file of other settings, or of another
    version of the package, is replaced. Progress counts finished runs.

    Parameters
    ----------
    experiment : Experiment
    settings : mapping
    seeds : sequence of int
    path : Path
        A file of one JSON object a line.
    n_jobs : int or None, default=None
        How many runs at once, as in scikit-learn. Changes no value.
    """
    header = {"experiment": experiment.name, "version": __version__, "settings": dict(settings)}
    values = _read_runs(path, header)
    missing = [seed for seed in seeds if seed not in values]
    n_finished = len(seeds) - len(missing)
    report_progress(experiment.name, n_finished, len(seeds))
    # Rewritten whole first: an interrupted run may have left half a line.
    lines = [header] + [{"seed": seed, "values": run} for seed, run in values.items()]
    with replaced(str(path)) as whole:
        whole.writelines(f"{json.dumps(line)}\n".encode() for line in lines)
    pool = ThreadPoolExecutor(effective_n_jobs(n_jobs))
    try:
        # Advice about simulated data helps nobody. Threads share the filters: they are set once, around all runs.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", AdviceWarning)
            seed_of = {pool.submit(experiment.run, seed, settings): seed for seed in missing}
            with path.open("a", encoding="utf-8") as file:
                for n_done, future in enumerate(as_completed(seed_of), start=n_finished + 1):
                    values[seed_of[future]] = future.result()
                    file.write(json.dumps({"seed": seed_of[future], "values": future.result()}) + "\n")
                    file.flush()
                    report_progress(experiment.name, n_done, len(seeds))
    finally:
        pool.shutdown(cancel_futures=True)
    return [values[seed] for seed in seeds]


def _read_runs(path: Path, header: Mapping[str, Any]) -> dict[int, Values]:
    """Return the runs of a file by seed; none if there is no such file or it has another header."""
    if not path.exists():
        return {}
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    whole = [json.loads(line) for line in lines if line.endswith("\n")]
    # Through JSON, so that tuples equal the lists they are written as.
    if not whole or whole[0] != json.loads(json.dumps(header)):
        return {}
    return {line["seed"]: line["values"] for line in whole[1:]}
