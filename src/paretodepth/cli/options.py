"""Options that several commands share, and what is refused about them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import typer


def check_outputs(outputs: Sequence[str], inputs: Sequence[str]) -> None:
    """Refuse places that cannot be written, before anything is computed, and those of another file."""
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
        if any(os.path.exists(given) and os.path.exists(place) and os.path.samefile(place, given) for given in inputs):
            raise ValueError(f"{place}: the output must not take the place of an input; choose another name.")


def check_single_stream(inputs: Sequence[str]) -> None:
    """Refuse to read standard input twice."""
    if inputs.count("-") > 1:
        raise ValueError("Only one file can be standard input (-). Got two; save one of them as a file.")


Train = Annotated[str, typer.Argument(help="Nominal samples: CSV, TSV, Parquet, Arrow, JSON lines, NPY; - for stdin.")]
CriteriaFile = Annotated[Path | None, typer.Option("--criteria", help="TOML file of criteria.")]
ColumnNames = Annotated[str | None, typer.Option("--columns", help="Columns of numbers, a criterion each: a,b,c.")]
IdColumn = Annotated[str | None, typer.Option("--id", help="Column that names the samples; the only one in --out.")]
Alpha = Annotated[float | None, typer.Option(help="Share of nominal samples that may be called; 0.05 if left out.")]
Score = Annotated[
    Literal["union", "depth", "criteria"],
    typer.Option(help="union (depth and each criterion), depth (the paper's) or criteria."),
]
Format = Annotated[str | None, typer.Option("--format", help="Format of the input, if its name does not tell.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON in place of the table.")]
Dask = Annotated[str | None, typer.Option(help="Fit on a Dask cluster: local, or its address tcp://host:port.")]
FailOnAnomaly = Annotated[bool, typer.Option("--fail-on-anomaly", help="Exit with 3 if an anomaly is found.")]


def column_list(columns: str | None) -> list[str] | None:
    """Return the columns that an argument names, if there is one."""
    return None if columns is None else [name.strip() for name in columns.split(",")]


def criteria_of(path: Path | None) -> Any:
    """Return the criteria of a file, if there is one."""
    from paretodepth.criteria.criterion import Criterion
    from paretodepth.files.source import check_readable

    return None if path is None else Criterion.from_toml(check_readable(str(path)))
