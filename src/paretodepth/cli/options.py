"""Options that several commands share, what is refused about them, and the detector that they ask for."""

from __future__ import annotations

import functools
import inspect
import os
import shlex
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from paretodepth.cli.terminal import print_note
from paretodepth.files.reading import Reading
from paretodepth.scoring.methods import METHODS, MethodName

if TYPE_CHECKING:
    from paretodepth.detector import ParetoDepthDetector

MAX_UNCAPPED = 5000
"""Training samples of which all fronts are kept; of more the deepest are counted as one."""


def check_outputs(outputs: Sequence[str], inputs: Sequence[str], criteria: Path | None = None) -> None:
    """Refuse places that cannot be written, before anything is computed, and those of another file."""
    from paretodepth.files.source import matching

    given = [*matching(inputs), *([] if criteria is None else [str(criteria)])]
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
CriteriaFile = Annotated[
    Path | None, typer.Option("--criteria", help="TOML file of criteria; columns: one per column of numbers.")
]
ColumnNames = Annotated[str | None, typer.Option("--columns", help="Columns of numbers, a criterion each: a,b,c.")]
IdColumn = Annotated[str | None, typer.Option("--id", help="Column that names the samples; the only one in --out.")]
Alpha = Annotated[float | None, typer.Option(help="Share of nominal samples that may be called; 0.05 if left out.")]
Method = Annotated[
    MethodName, typer.Option(help="; ".join(f"{name}: {method.summary}" for name, method in METHODS.items()) + ".")
]
Format = Reading | None
"""How files are read: the parameter of a command that `reads_files` gives the options below."""
FILE_OPTIONS: dict[str, tuple[Any, Any]] = {
    "format": (str | None, typer.Option("--format", help="Format of the input, if it does not tell.")),
    "sep": (str | None, typer.Option(help="Character between cells, if they do not tell: , ; | or tab.")),
    "decimal": (str | None, typer.Option(help="Decimal mark of the input, if it does not tell: . or ,")),
    "encoding": (str | None, typer.Option(help="Encoding of the input if it is not UTF-8, cp1252 say.")),
    "skip_rows": (int, typer.Option(help="Lines of the input before its header.")),
    "sheet": (str | None, typer.Option(help="Sheet of a spreadsheet; left out: the first.")),
}
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON in place of the table.")]
Dask = Annotated[str | None, typer.Option(help="Fit on a Dask cluster: local, or its address tcp://host:port.")]
FailOnAnomaly = Annotated[bool, typer.Option("--fail-on-anomaly", help="Exit with 3 if an anomaly is found.")]


def reads_files(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of reading files, which its parameter `format` takes as one `Reading`.

    What the reader has to say about cells goes to standard error, unless the command is quiet.
    """
    options = {
        name: inspect.Parameter(
            name, inspect.Parameter.KEYWORD_ONLY, default=0 if type is int else None, annotation=Annotated[type, option]
        )
        for name, (type, option) in FILE_OPTIONS.items()
    }
    own = inspect.signature(command)
    others = {name: parameter for name, parameter in own.parameters.items() if name != "format"}

    @functools.wraps(command)
    def run(**given: Any) -> None:
        known = {name: given.pop(name) for name in FILE_OPTIONS}
        note = str if given.get("quiet") else print_note
        command(**given, format=Reading(**known, note=note))

    parameters = [*others.values(), *options.values()]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    run.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined]
    return run


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
    format: Format,
    criteria: Path | None,
    columns: str | None,
    id_column: str | None,
    method: MethodName,
    alpha: float | None,
) -> Learning:
    """Return the training samples of a file, and the detector that the options ask for."""
    from paretodepth.criteria.choice import chosen_criteria
    from paretodepth.files.tables import read_table

    training = read_table(train, format=format)
    choice = chosen_criteria(
        training,
        criteria=criteria_of(criteria),
        columns=column_list(columns),
        id_column=id_column,
        source=printed_name(train),
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
    """Return the criteria of a file, if there is one; the word for one per column as it is."""
    from paretodepth.criteria.choice import EACH_COLUMN
    from paretodepth.criteria.criterion import Criterion
    from paretodepth.files.source import check_readable

    if path is None or str(path) == EACH_COLUMN:
        return path and EACH_COLUMN
    return Criterion.from_toml(check_readable(str(path)))


def printed_name(source: str) -> str:
    """Return how a file is named in a command to copy."""
    return "FILE" if source == "-" else shlex.quote(source)
