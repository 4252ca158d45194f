"""Pages of experiments: the paper's tables and figures, and what goes beyond it; running them, and writing a page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from paretodepth._checks import check_choice
from studies.accuracy import areas, costs, unseen, validity
from studies.paper import appendix_b, figure1, figure2, table1a, table1b, theorem1, theorem2
from studies.runs import Experiment, finished_runs
from studies.scaling import cluster, large_fits
from studies.tables import Table


@dataclass(frozen=True)
class Page:
    """Experiments that are shown on one page.

    Attributes
    ----------
    name : str
        Of the file and of the folder with its tables and pictures.
    command : str
        The command that makes it.
    introduction : str
    experiments : dict of Experiment
        By name, in the order of the page.
    """

    name: str
    command: str
    introduction: str
    experiments: dict[str, Experiment]


def _by_name(*modules: ModuleType) -> dict[str, Experiment]:
    return {module.EXPERIMENT.name: module.EXPERIMENT for module in modules}


REPRODUCTION = Page(
    "reproduction",
    "reproduce",
    "# The paper, repeated\n\n"
    "Hsiao, Xu, Calder, Hero, *Multi-criteria Anomaly Detection using Pareto Depth Analysis*, NIPS 2012. This page "
    "is written by `python -m studies reproduce`; each section ends with the command that makes it.\n",
    _by_name(figure1, figure2, table1a, table1b, theorem1, theorem2, appendix_b),
)
ACCURACY = Page(
    "accuracy",
    "accuracy",
    "# How accurate, how sure\n\n"
    "PDA, the criteria test and the blend (`method` of `ParetoDepthDetector`) against each other and against "
    "other detectors, and whether p-values hold what they promise. The first section compares them where the blend was "
    "developed, the second on tables that served no choice; each names where the blend loses. This page is written by "
    "`python -m studies accuracy`; each section ends with the command that makes it.\n",
    _by_name(areas, unseen, validity, costs),
)
SCALING = Page(
    "scaling",
    "scaling",
    "# Many samples\n\n"
    "N training samples make N (N − 1) / 2 dyads. By default all of them are held, sorted and indexed, some "
    "32 K + 64 bytes each: 130 MB for 1,500 samples and two criteria, 13 GB for 15,000. `fit` refuses to start if that "
    "is more than `memory_limit`, by default half of what is free, and says how to avoid that.\n\n"
    '**Cap**: `max_depth="auto"`, or a number L. One pass over blocks of pairs keeps fronts 1…L, exactly; what lies '
    'deeper has the depth L + 1. `"auto"` takes an L that some 0.1 % of the nearest dyads of nominal samples exceed, '
    "so that nominal samples are ranked as before and anomalies stay deeper than nearly all of them. Memory: the "
    "dyads kept, the 32 nearest of every sample, and blocks. Choose it for up to four criteria. With more, fronts are "
    "few and large, and capping keeps nearly everything.\n\n"
    "**Spread**: `paretodepth.distributed.fit(detector, X, client)` gives the blocks to the workers of a Dask cluster "
    "and merges their fronts in a tree. The result is that of one machine, bit by bit, whatever the number of workers, "
    "and if some of them die. Each worker holds the samples, a block, and the fronts of its blocks.\n\n"
    "This page is written by `python -m studies scaling`; each section ends with the command that makes it.\n",
    _by_name(large_fits, cluster),
)

PAGES = {page.command: page for page in (REPRODUCTION, ACCURACY, SCALING)}


def chosen_experiments(
    page: Page, names: Sequence[str], folder: Path | None = None, label: str | None = None
) -> list[Experiment]:
    """Return the named experiments in the order of the page.

    "all" names every one that needs no data of others, and a folder of such data the others too;
    `label` is the column of the labels in its tables.
    """
    for name in names:
        check_choice(name, "NAME", [*page.experiments, "all"], page.command)
    check_label_has_folder(label, folder, page.command)
    chosen = []
    for name, experiment in page.experiments.items():
        if experiment.folder_settings is not None and folder is not None:
            chosen.append(experiment.with_folder(folder, label))
        elif name in names or ("all" in names and experiment.folder_settings is None):
            chosen.append(experiment)
    return chosen


def check_label_has_folder(label: str | None, folder: Path | None, command: str) -> None:
    """Refuse the name of a label without tables that have it."""
    if label is not None and folder is None:
        raise ValueError(
            f"The option --label of {command} must come with a folder of tables. Got none instead; name it with --data."
        )


def reproduce_experiment(
    page: Page,
    experiment: Experiment,
    out: Path,
    *,
    runs: int | None,
    full: bool,
    seed: int,
    n_jobs: int | None,
) -> list[Table]:
    """Run an experiment, or what is missing of it, and write its tables, figures and section.

    Parameters
    ----------
    page : Page
    experiment : Experiment
        One of the page's.
    out : Path
        Made if it does not exist; files go to the folder in it that has the page's name.
    runs : int or None
        Number of runs; None for the experiment's own.
    full : bool
        Whether to take the long version's settings and number of runs.
    seed : int
        Seed of the first run; the following ones count up.
    n_jobs : int or None
        How many runs at once.

    Returns
    -------
    tables : list of Table
    """
    folder = out / page.name
    folder.mkdir(parents=True, exist_ok=True)
    settings = experiment.settings(full)
    n_runs = runs or (experiment.n_full_runs if full else experiment.n_runs)
    file = folder / f"{experiment.name}.jsonl"
    values = finished_runs(experiment, settings, range(seed, seed + n_runs), file, n_jobs=n_jobs)
    tables = experiment.tables(values, settings)
    section = [f"## {experiment.title}\n", f"{experiment.summary}\n"]
    for table in tables:
        table.to_csv(folder / f"{experiment.name}_{table.name}.csv")
        section.append(table.to_markdown())
    for name, figure in experiment.figures(values, settings).items():
        picture = f"{experiment.name}_{name}"
        for suffix in ("png", "svg"):
            figure.savefig(folder / f"{picture}.{suffix}", dpi=110)
        section.append(f"![{picture}]({page.name}/{picture}.png)\n")
    # The folder has a name of its own on every machine.
    data = " --data FOLDER" if experiment.folder_settings is not None else ""
    options = f"{data}{' --full' if full else ''}{f' --runs {runs}' if runs else ''}{f' --seed {seed}' if seed else ''}"
    section.append(f"`python -m studies {page.command} {experiment.name}{options}`\n")
    (folder / f"{experiment.name}.md").write_text("\n".join(section), encoding="utf-8")
    return tables


def write_page(page: Page, out: Path) -> Path:
    """Put the sections of a page's experiments done so far together and return the page's path."""
    texts = []
    for name, experiment in page.experiments.items():
        section = out / page.name / f"{name}.md"
        if section.exists():
            texts.append(section.read_text(encoding="utf-8"))
        elif experiment.absent:
            texts.append(f"## {experiment.title}\n\n{experiment.absent}\n")
    path = out / f"{page.name}.md"
    path.write_text("\n".join([page.introduction, *texts]), encoding="utf-8")
    return path
