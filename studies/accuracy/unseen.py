"""How well methods do on labelled tables that served no choice: a folder of anybody's."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from studies.accuracy.comparison import Comparison
from studies.accuracy.labelled import labelled_task, read_labelled, table_files
from studies.accuracy.regimes import table_name
from studies.accuracy.scores import installed_pyod, label_free_scores
from studies.baselines import areas_under_curves
from studies.runs import Experiment, Settings, Values
from studies.tables import Table

DEVELOPMENT = frozenset(
    {
        "annthyroid",
        "breastw",
        "cardio",
        "glass",
        "ionosphere",
        "mammography",
        "optdigits",
        "pima",
        "satellite",
        "shuttle",
        "thyroid",
        "vowels",
        "wbc",
        "wine",
    }
)
"""Tables of ADBench that the blend was chosen by, in small letters: none of them may stand here."""


def folder_settings(folder: Path, label: str | None = None) -> dict[str, Any]:
    """Return the tables of a folder that can be used, and why others are left out; `label` names their label."""
    tables, left_out = [], {}
    for name, path in table_files(folder).items():
        if table_name(path).casefold() in DEVELOPMENT:
            left_out[name] = "served development"
            continue
        try:
            labelled_task(read_labelled(path, label), 0, path.name)
        except (ValueError, OSError) as error:
            left_out[name] = " ".join(str(error).replace(f"{folder}/", "").split())
            continue
        tables.append(name)
    return {
        "folder": str(folder),
        "label": label,
        "tables": check_some_tables(tables, left_out),
        "left_out": left_out,
        "pyod": installed_pyod(),
    }


def run(seed: int, settings: Settings) -> Values:
    """Return each method's area under the ROC curve on each table."""
    files = table_files(Path(settings["folder"]))
    values = {}
    for name in settings["tables"]:
        task = labelled_task(read_labelled(files[name], settings["label"]), seed, name)
        found = label_free_scores(task, seed, settings["pyod"])
        values[name] = {
            method: float(areas_under_curves(task.is_anomaly, score[None])[0]) for method, score in found.items()
        }
    return values


def tables(runs: Sequence[Values], settings: Settings) -> list[Table]:
    """Return the summary over all tables, the means of all, and what was left out."""
    found = Comparison.of(runs, "table", settings["tables"]).tables()
    if settings["left_out"]:
        rows = [[name, reason] for name, reason in settings["left_out"].items()]
        found.append(Table("left_out", "Tables of the folder that are left out.", ["table", "why"], rows))
    return found


def figures(runs: Sequence[Values], settings: Settings) -> dict[str, Figure]:
    """Draw each method's loss to the best label-free one on each table."""
    return {"losses": Comparison.of(runs, "table", settings["tables"]).figure()}


def refuse_no_folder(full: bool) -> Settings:
    """Ask for the folder without which there are no tables."""
    raise ValueError(
        "The experiment 'tables' of accuracy must be given a folder of labelled tables. Got none instead; name it with "
        "--data."
    )


def check_some_tables(tables: list[str], left_out: dict[str, str]) -> list[str]:
    """Return the tables that can be used, of which there must be one."""
    if not tables:
        got = "; ".join(f"{name} ({reason})" for name, reason in left_out.items())
        raise ValueError(f"The folder given with --data must hold a table that can be used. Got {got} instead.")
    return tables


EXPERIMENT = Experiment(
    name="tables",
    title="Areas under the ROC curve on tables that served no choice",
    summary=(
        "**These tables served no choice**: neither the blend nor its constants nor the rules for criteria were chosen "
        "by a score on them, which is up to whoever gives the folder; tables named as those of development, the 14 of "
        "the section before, are left out.\n\n"
        "Labelled tables, NPZ files of X and y or CSV files with a column of labels. At most 400 nominal samples "
        "train, and suggest the criteria as `suggest_criteria` does, at most four; at most 300 others and 100 "
        "anomalies test. Samples with missing values are skipped. k-NN sum takes these criteria, each in units of its "
        "median nominal dyad. LOF, IsolationForest and PyOD's methods, with their own defaults, take the same columns "
        "standardised, one column a category."
    ),
    run=run,
    tables=tables,
    figures=figures,
    settings=refuse_no_folder,
    n_runs=10,
    n_full_runs=10,
    folder_settings=folder_settings,
    absent=(
        "Left out: no folder of tables was given. The section before shows regimes that served development, and these "
        "flatter the blend. `python -m studies accuracy tables --data FOLDER` adds labelled tables of your own."
    ),
)
