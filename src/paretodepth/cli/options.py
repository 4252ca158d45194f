"""Options that several commands share, what is refused about them, and the detector that they ask for."""

from __future__ import annotations

import functools
import glob
import inspect
import os
import shlex
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

import typer

from paretodepth.cli.terminal import print_note
from paretodepth.scoring.methods import METHODS, MethodName
from paretodepth.tables.reading import Reading

if TYPE_CHECKING:
    from paretodepth.criteria.criterion import Missing
    from paretodepth.detector import ParetoDepthDetector

STANDARD_OUTPUT = ("/dev/stdout", "/dev/fd/1", "/proc/self/fd/1")
MIN_ROWS = 4
"""Of a file to learn from: three samples have each the same two neighbors."""


def check_outputs(outputs: Sequence[str], inputs: Sequence[str], criteria: Path | None = None) -> None:
    """Refuse places that cannot be written, before anything is computed, and those of another file."""
    patterns = [name for path in inputs for name in glob.glob(path)]
    given = [*inputs, *patterns, *([] if criteria is None else [str(criteria)])]
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


def check_one_size(train_rows: int | None, is_exact: bool) -> None:
    """Refuse to fit all rows and some."""
    if train_rows is not None and is_exact:
        raise ValueError("Give either --train-rows or --exact. Got both; --exact fits all rows.")


def check_training_rows(n_rows: int, source: str) -> None:
    """Refuse a file of so few rows that nothing can be learned from it."""
    if n_rows < MIN_ROWS:
        raise ValueError(
            f"{source}: must hold at least {MIN_ROWS} samples to learn from. Got {n_rows} instead; the more the "
            "better, and 19 for a false-alarm rate of 5%."
        )


def output(help: str) -> Any:
    """Return the option of a place to write to, of which the shell's names for standard output are - as well."""
    return typer.Option(help=help, callback=lambda place: "-" if place in STANDARD_OUTPUT else place)


def written_table(table: Any, texts: Any, out: str, escape_formulas: bool) -> Any:
    """Return a table as it is to be written, safe for spreadsheets if that is asked for.

    Columns that were read from text are copied as the file has them: all of them to text with delimiters, otherwise
    dates and times, since a type would change how they are written.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    from paretodepth.tables.formats import writes_cells
    from paretodepth.tables.formulas import without_formulas

    safe = without_formulas if escape_formulas else lambda table: table
    written, are_cells = safe(table), writes_cells(out)
    for name, cells in zip(texts.column_names, texts.columns, strict=True):
        values = table.column(name) if name in table.column_names else None
        if values is not None and (are_cells or pa.types.is_timestamp(values.type)):
            # A cell that was read as a value is no formula.
            cells = pc.if_else(values.is_valid(), cells, safe(pa.table({name: cells})).column(0))
            place = table.column_names.index(name)
            written = written.set_column(place, written.column_names[place], cells)
    return written


Train = Annotated[
    str, typer.Argument(help="Nominal samples: a file of CSV, Parquet, JSON lines and the like; - for stdin.")
]
CriteriaFile = Annotated[Path | None, typer.Option("--criteria", help="TOML file of criteria.")]
ColumnNames = Annotated[str | None, typer.Option("--columns", help="Columns of numbers, a criterion each: a,b,c.")]
IdColumn = Annotated[str | None, typer.Option("--id", help="Column that names the samples; the only one in --out.")]
FirstRow = Annotated[
    int, typer.Option(min=0, help="What the first row is called: 2 counts the lines of a CSV file, header included.")
]
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
MISSING_HELP = "Samples that lack a value, where a criterion does not say itself: drop (not scored), {}fail."
MissingRule = Annotated[
    Literal["fail", "ignore", "drop"], typer.Option("--missing", help=MISSING_HELP.format("ignore, "))
]
NewMissing = Annotated[Literal["fail", "drop"], typer.Option("--missing", help=MISSING_HELP.format(""))]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON in place of the table.")]
Dask = Annotated[str | None, typer.Option(help="Fit on a Dask cluster: local, or its address tcp://host:port.")]
EscapeFormulas = Annotated[
    bool, typer.Option("--escape-formulas", help="In --out, ' before text that a spreadsheet may take for a formula.")
]
FailOnAnomaly = Annotated[bool, typer.Option("--fail-on-anomaly", help="Exit with 3 if an anomaly is found.")]


Label = Annotated[
    str | None, typer.Option(help="Column of two values that tells anomalies: no criterion; scores are judged by it.")
]
TrainRows = Annotated[int | None, typer.Option(min=1, help="Fit on N random rows.")]


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
    texts : pyarrow.Table
        The cells of text that were read as values, if they are kept.
    """

    training: Any
    detector: ParetoDepthDetector
    remark: str
    texts: Any


def read_learning(
    train: str,
    *,
    format: Format,
    criteria: Path | None,
    columns: str | None,
    id_column: str | None,
    method: MethodName,
    alpha: float | None,
    missing: Missing = "drop",
    label: str | None = None,
    keep_text: bool = False,
) -> Learning:
    """Return the training samples of a file, and the detector that the options ask for."""
    from paretodepth.criteria.suggestion import chosen_criteria
    from paretodepth.tables.expected_columns import split_text
    from paretodepth.tables.tables import read_table

    training, texts = split_text(read_table(train, format=format, keep_text=keep_text))
    check_training_rows(len(training), train)
    described = training if columns is not None else without_column(training, label)
    given = criteria_of(criteria, missing)
    choice = chosen_criteria(
        described,
        criteria=given,
        columns=column_list(columns),
        id_column=id_column,
        source=printed_name(train),
    )
    chosen = choice.criteria if isinstance(given, list) else [one.with_missing(missing) for one in choice.criteria]
    return Learning(training, new_detector(chosen, len(training), method, alpha), choice.remark, texts)


def without_column(table: Any, name: str | None) -> Any:
    """Return a table without a column, if it has it."""
    return table.drop_columns([name]) if name in table.column_names else table


def new_detector(criteria: Any, n_training: int, method: MethodName, alpha: float | None) -> ParetoDepthDetector:
    """Return a detector with the defaults of the command line, for so many training samples."""
    from paretodepth.detector import ParetoDepthDetector
    from paretodepth.reports.row_limit import max_depth_of

    max_depth = max_depth_of(n_training)
    return ParetoDepthDetector(criteria, method=method, alpha=alpha, max_depth=max_depth, n_jobs=-1)


def column_list(columns: str | None) -> list[str] | None:
    """Return the columns that an argument names, if there is one."""
    return None if columns is None else [name.strip() for name in columns.split(",")]


def criteria_of(path: Path | None, missing: Missing = "drop") -> Any:
    """Return the criteria of a file, if there is one, with a rule for missing values where they do not say."""
    from paretodepth.criteria.criterion import Criterion
    from paretodepth.tables.source import check_readable

    if path is None:
        return None
    return Criterion.from_toml(check_readable(str(path)), missing=missing)


def printed_name(source: str) -> str:
    """Return how a file is named in a command to copy."""
    return "FILE" if source == "-" else shlex.quote(source)
