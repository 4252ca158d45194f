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

MAX_UNCAPPED = 5000
"""Training samples of which all fronts are kept; of more the deepest are counted as one."""


def check_outputs(outputs: Sequence[str], inputs: Sequence[str], criteria: Path | None = None) -> None:
    """Refuse places that cannot be written, before anything is computed, and those of another file."""
    given = [*inputs, *([] if criteria is None else [str(criteria)])]
    for number, place in enumerate(outputs):
        if any(_is_same_place(place, other) for other in outputs[:number]):
            raise ValueError(f"{place}: each output must have a place of its own. Got this one twice.")
        if place == "-" or _is_stream(place):
            continue
        folder = os.path.dirname(os.path.realpath(place))
        if os.path.isdir(place) or not os.path.isdir(folder) or not os.access(folder, os.W_OK):
            got = "a folder" if os.path.isdir(place) else "none that can be written"
            raise OSError(
                f"{place}: the output must be a file in a folder that can be written. Got {got} instead; choose "
                "another place, or make the folder."
            )
        if any(_is_same_place(place, name) for name in given):
            raise ValueError(f"{place}: the output must not take the place of an input; choose another name.")


def _is_stream(place: str) -> bool:
    """Tell whether a place is a pipe or a device, which have no folder that matters."""
    return os.path.exists(place) and not os.path.isfile(place) and not os.path.isdir(place)


def _is_same_place(place: str, other: str) -> bool:
    """Tell whether two names lead to one file, by any spelling or link; a device such as /dev/null can take more."""
    if "-" in (place, other) or _is_stream(place):
        return place == other == "-"
    if os.path.exists(place) and os.path.exists(other):
        return os.path.samefile(place, other)
    return os.path.realpath(place) == os.path.realpath(other)


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
) -> Learning:
    """Return the training samples of a file, and the detector that the options ask for."""
    from paretodepth.criteria.suggestion import chosen_criteria
    from paretodepth.files.tables import read_table

    training = read_table(train, format=format)
    choice = chosen_criteria(
        training, criteria=criteria_of(criteria), columns=column_list(columns), id_column=id_column
    )
    return Learning(training, new_detector(choice.criteria, len(training), method, alpha), choice.remark)


def new_detector(criteria: Any, n_training: int, method: MethodName, alpha: float | None) -> ParetoDepthDetector:
    """Return a detector with the defaults of the command line, for so many training samples."""
    from paretodepth.detector import ParetoDepthDetector

    max_depth: Any = "auto" if n_training > MAX_UNCAPPED else None
    return ParetoDepthDetector(criteria, method=method, alpha=alpha, max_depth=max_depth, n_jobs=-1)


def column_list(columns: str | None) -> list[str] | None:
    """Return the columns that an argument names, if there is one."""
    return None if columns is None else [name.strip() for name in columns.split(",")]


def criteria_of(path: Path | None) -> Any:
    """Return the criteria of a file, if there is one."""
    from paretodepth.criteria.criterion import Criterion
    from paretodepth.files.source import check_readable

    return None if path is None else Criterion.from_toml(check_readable(str(path)))
