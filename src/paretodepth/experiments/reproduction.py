"""The paper's tables and figures: which there are, running them, and the page that shows them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from paretodepth.experiments import dyads, figure1, figure2, pedestrians, simulation, theorem1, theorem2
from paretodepth.experiments.runs import Experiment, finished_runs
from paretodepth.experiments.tables import Table
from paretodepth.validation import check_choice

EXPERIMENTS = {
    module.EXPERIMENT.name: module.EXPERIMENT
    for module in (figure1, figure2, simulation, pedestrians, theorem1, theorem2, dyads)
}
FOLDER = "reproduction"
PAGE = "reproduction.md"


def chosen_experiments(names: Sequence[str]) -> list[Experiment]:
    """Return the named experiments in the order of the page; "all" names every one."""
    for name in names:
        check_choice(name, "NAME", [*EXPERIMENTS, "all"], "reproduce")
    return [experiment for name, experiment in EXPERIMENTS.items() if name in names or "all" in names]


def reproduce_experiment(
    experiment: Experiment,
    out: Path,
    *,
    runs: int | None,
    full: bool,
    seed: int,
    n_jobs: int | None,
    report: Callable[[int, int], None],
) -> list[Table]:
    """Run an experiment, or what is missing of it, and write its tables, figures and section.

    Parameters
    ----------
    experiment : Experiment
    out : Path
        Made if it does not exist; files go to the folder ``reproduction`` in it.
    runs : int or None
        Number of runs; None for the experiment's own.
    full : bool
        Whether to take the long version's settings and number of runs.
    seed : int
        Seed of the first run; the following ones count up.
    n_jobs : int or None
        How many runs at once.
    report : callable
        Told the number of finished runs and of all runs.

    Returns
    -------
    tables : list of Table
    """
    folder = out / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    settings = experiment.settings(full)
    n_runs = runs or (experiment.n_full_runs if full else experiment.n_runs)
    values = finished_runs(
        experiment,
        settings,
        range(seed, seed + n_runs),
        folder / f"{experiment.name}.jsonl",
        n_jobs=n_jobs,
        report=lambda n_finished: report(n_finished, n_runs),
    )
    tables = experiment.tables(values, settings)
    section = [f"## {experiment.title}\n", f"{experiment.summary}\n"]
    for table in tables:
        table.to_csv(folder / f"{experiment.name}_{table.name}.csv")
        section.append(table.to_markdown())
    for name, figure in experiment.figures(values, settings).items():
        picture = f"{experiment.name}_{name}"
        for suffix in ("png", "svg"):
            figure.savefig(folder / f"{picture}.{suffix}", dpi=110)
        section.append(f"![{picture}]({FOLDER}/{picture}.png)\n")
    options = f"{' --full' if full else ''}{f' --runs {runs}' if runs else ''}{f' --seed {seed}' if seed else ''}"
    section.append(f"`paretodepth reproduce {experiment.name}{options}`\n")
    (folder / f"{experiment.name}.md").write_text("\n".join(section), encoding="utf-8")
    return tables


def write_page(out: Path) -> Path:
    """Put the sections of all experiments done so far on one page and return its path."""
    sections = [out / FOLDER / f"{name}.md" for name in EXPERIMENTS]
    texts = [section.read_text(encoding="utf-8") for section in sections if section.exists()]
    introduction = (
        "# The paper, repeated\n\n"
        "Hsiao, Xu, Calder, Hero, *Multi-criteria Anomaly Detection using Pareto Depth Analysis*, NIPS 2012. This page "
        "is written by `paretodepth reproduce`; each section ends with the command that makes it.\n"
    )
    page = out / PAGE
    page.write_text("\n".join([introduction, *texts]), encoding="utf-8")
    return page
