"""Options that several commands share, what is refused about them, and the detector that they ask for."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from paretodepth.scoring.methods import METHODS, MethodName

if TYPE_CHECKING:
    from paretodepth.detector import ParetoDepthDetector


def check_outputs(outputs: Sequence[str], inputs: Sequence[str], criteria: Path | None = None) -> None:
    """Refuse places that cannot be written, before anything is computed, and those of another file."""
    given = [*inputs, *([] if criteria is None else [str(criteria)])]
    for number, place in enumerate(outputs):
        if place in outputs[:number]:
            raise ValueError(f"{place}: each output must have a place of its own. Got this one twice.")
        if place == "-":
            continue
        folder = os.path.dirname(os.path.realpath(place))
        if os.path.isdir(place) or not os.path.isdir(folder) or not os.access(folder, os.W_OK):
            got = "a folder" if os.path.isdir(place) else "none that can be written"
            raise OSError(
                f"{place}: the output must be a file in a folder that can be written. Got {got} instead; choose "
                "another place, or make the folder."
            )
        if any(os.path.exists(name) and os.path.exists(place) and os.path.samefile(place, name) for name in given):
            raise ValueError(f"{place}: the output must not take the place of an input; choose another name.")


def check_single_stream(inputs: Sequence[str]) -> None:
    """Refuse to read standard input twice."""
    if inputs.count("-") > 1:
        raise ValueError("Only one file can be standard input (-). Got two; save one of them as a file.")


Train = Annotated[
    str, typer.Argument(help="Nominal samples: a file of CSV, Parquet, JSON lines and the like; - for stdin.")
]
CriteriaFile = Annotated[Path | None, typer.Option("--criteria", help="TOML file of criteria.")]
ColumnNames = Annotated[str | None, typer.Option("--columns", help="Columns of numbers, a criterion each: a,b,c.")]
IdColumn = Annotated[str | None, typer.Option("--id", help="Column that names the samples; the only one in --out.")]
Alpha = Annotated[float | None, typer.Option(help="Share of nominal samples that may be called; 0.05 if left out.")]
Method = Annotated[
    MethodName, typer.Option(help="; ".join(f"{name}: {method.summary}" for name, method in METHODS.items()) + ".")
]
Format = Annotated[str | None, typer.Option("--format", help="Format of the input, if its name does not tell.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON in place of the table.")]
Dask = Annotated[str | None, typer.Option(help="Fit on a Dask cluster: local, or its address tcp://host:port.")]
FailOnAnomaly = Annotated[bool, typer.Option("--fail-on-anomaly", help="Exit with 3 if an anomaly is found.")]


Label = Annotated[
    str | None, typer.Option(help="Column of two values that tells anomalies: no criterion; scores are judged by it.")
]
TrainRows = Annotated[int | None, typer.Option(min=1, help="Fit on so many random rows; all are scored.")]


class Learning(NamedTuple):
    """What is to be learned from.

    Attributes
    ----------
    training : pyarrow.Table
    detector : ParetoDepthDetector
        Not fitted yet.
    remark : str
        Which criteria were chosen, if nobody else has; otherwise empty.
    """

    training: Any
    detector: ParetoDepthDetector
    remark: str


def read_learning(
    train: str,
    *,
    format: str | None,
    criteria: Path | None,
    columns: str | None,
    id_column: str | None,
    method: MethodName,
    alpha: float | None,
    label: str | None = None,
) -> Learning:
    """Return the training samples of a file, and the detector that the options ask for."""
    from paretodepth.criteria.suggestion import chosen_criteria
    from paretodepth.files.tables import read_table

    training = read_table(train, format=format)
    described = training if columns is not None else without_column(training, label)
    choice = chosen_criteria(
        described, criteria=criteria_of(criteria), columns=column_list(columns), id_column=id_column
    )
    return Learning(training, new_detector(choice.criteria, len(training), method, alpha), choice.remark)


def without_column(table: Any, name: str | None) -> Any:
    """Return a table without a column, if it has it."""
    return table.drop_columns([name]) if name in table.column_names else table


def new_detector(criteria: Any, n_training: int, method: MethodName, alpha: float | None) -> ParetoDepthDetector:
    """Return a detector with the defaults of the command line, for so many training samples."""
    from paretodepth.detector import ParetoDepthDetector
    from paretodepth.reports.budget import max_depth_of

    max_depth = max_depth_of(n_training)
    return ParetoDepthDetector(criteria, method=method, alpha=alpha, max_depth=max_depth, n_jobs=-1)


def column_list(columns: str | None) -> list[str] | None:
    """Return the columns that an argument names, if there is one."""
    return None if columns is None else [name.strip() for name in columns.split(",")]


def criteria_of(path: Path | None) -> Any:
    """Return the criteria of a file, if there is one."""
    from paretodepth.criteria.criterion import Criterion
    from paretodepth.files.source import check_readable

    return None if path is None else Criterion.from_toml(check_readable(str(path)))
