"""Options that several commands share, and the checks of these."""

from __future__ import annotations

import functools
import glob
import inspect
import os
import shlex
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from paretodepth.cli.terminal import print_note
from paretodepth.scoring.methods import METHODS, MethodName
from paretodepth.tables.reading import Reading

STANDARD_OUTPUT = ("/dev/stdout", "/dev/fd/1", "/proc/self/fd/1")


def check_outputs(outputs: Sequence[str], inputs: Sequence[str], criteria: Path | None = None) -> None:
    """Refuse outputs that cannot be written, before anything is computed, and those that are another file."""
    patterns = [name for path in inputs for name in glob.glob(path)]
    given = [*inputs, *patterns, *([] if criteria is None else [str(criteria)])]
    for number, place in enumerate(outputs):
        if any(_is_same_place(place, other) for other in outputs[:number]):
            raise ValueError(f"{place}: each output must have a place of its own. Got this one twice.")
        if place == "-" or _is_stream(place):
            continue
        folder = os.path.dirname(os.path.realpath(place))
        if os.path.isdir(place) or not os.path.isdir(folder) or not os.access(folder, os.W_OK):
            reason = "it is a folder" if os.path.isdir(place) else f"no folder {folder} that can be written"
            raise OSError(f"{place}: cannot write the output: {reason}. Choose another place, or make the folder.")
        if any(_is_same_place(place, name) for name in given):
            raise ValueError(f"{place}: the output must not take the place of an input; choose another name.")


def check_places(inputs: Sequence[str], outputs: Sequence[str], scores: str | None, criteria: Path | None) -> None:
    """Refuse inputs that cannot be read together, and outputs that cannot be written."""
    from paretodepth.tables.formats import check_output_format

    check_single_stream(inputs)
    check_outputs(outputs, inputs, criteria)
    check_output_format(scores)


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


def output(help: str) -> Any:
    """Return the option of an output file; the shell's names for standard output are the same as -."""
    return typer.Option(help=help, callback=lambda place: "-" if place in STANDARD_OUTPUT else place)


CriteriaFile = Annotated[Path | None, typer.Option(metavar="FILE", help="TOML file of criteria.")]
ColumnNames = Annotated[str | None, typer.Option(metavar="A,B,…", help="Columns of numbers, one criterion each.")]
IdColumn = Annotated[str | None, typer.Option("--id", metavar="COLUMN", help="Column that identifies records.")]
Alpha = Annotated[float | None, typer.Option(help="False-alarm rate. \\[default: 0.05]")]
Method = Annotated[
    MethodName, typer.Option(help="; ".join(f"{name}: {method.summary}" for name, method in METHODS.items()) + ".")
]
Format = Reading | None
"""How files are read: the parameter of a command that `reads_files` gives the options below."""
DETECTED = "(detected automatically by default)"
FILE_OPTIONS: dict[str, tuple[Any, Any]] = {
    "format": (str | None, typer.Option("--format", help=f"Format of the input {DETECTED}.")),
    "sep": (str | None, typer.Option(help=f"Delimiter: , ; | or tab {DETECTED}.")),
    "decimal": (str | None, typer.Option(help=f"Decimal mark: . or , {DETECTED}.")),
    "encoding": (str | None, typer.Option(help="Encoding, e.g. cp1252. \\[default: utf-8]")),
    "skip_rows": (int, typer.Option(help="Lines to skip before the header.")),
    "sheet": (str | None, typer.Option(help="Sheet of a workbook. \\[default: the first]")),
}
MISSING_HELP = "How to treat rows with missing values: drop (not scored){} or fail."
MissingRule = Annotated[
    Literal["fail", "ignore", "drop"],
    typer.Option("--missing", help=MISSING_HELP.format(", ignore (compare the columns present)")),
]
NewMissing = Annotated[Literal["fail", "drop"], typer.Option("--missing", help=MISSING_HELP.format(""))]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON in place of the table.")]
EscapeFormulas = Annotated[
    bool, typer.Option("--escape-formulas", help="In --out, put ' before text that looks like a formula.")
]
FailOnAnomaly = Annotated[bool, typer.Option("--fail-on-anomaly", help="Exit with 3 if an anomaly is found.")]
Label = Annotated[
    str | None, typer.Option(metavar="COLUMN", help="Column with the true labels (two values), only for evaluation.")
]
TrainRows = Annotated[int | None, typer.Option(min=1, metavar="N", help="Fit on N random rows.")]


def reads_files(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of reading files, which its parameter `format` takes as one `Reading`.

    The reader's notes about cells go to standard error, unless the command is quiet.
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


def column_list(columns: str | None) -> list[str] | None:
    """Return the columns that an argument names, if there is one."""
    return None if columns is None else [name.strip() for name in columns.split(",")]


def command_line() -> str:
    """Return the present command as a shell reads it."""
    return f"paretodepth {shlex.join(sys.argv[1:])}"


def quoted_name(source: str) -> str:
    """Return the name of a file in a command to copy."""
    return "FILE" if source == "-" else shlex.quote(source)
