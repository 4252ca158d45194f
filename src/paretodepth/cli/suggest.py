"""The command `suggest`: criteria for a table as it comes, with a word on every column."""

from typing import Annotated

import typer
from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from paretodepth.cli import options
from paretodepth.cli.terminal import app, notes, printable, progress


@app.command(name="suggest")
@options.reads_files
def suggest_command(
    data: Annotated[str, typer.Argument(help="Samples: a file of CSV, Parquet, JSON lines and the like; - for stdin.")],
    max_criteria: Annotated[int, typer.Option(min=1, help="How many criteria at most.")] = 6,
    id_column: Annotated[str | None, typer.Option("--id", help="Column that names the samples: no criterion.")] = None,
    format: options.Format = None,
    quiet: options.Quiet = False,
) -> None:
    """Suggest criteria for a table, as a TOML file on stdout; say of every column what it is and what for.

    Example: paretodepth suggest data.csv > criteria.toml
    """
    from paretodepth.criteria.suggestion import check_suggested, suggest_criteria
    from paretodepth.reports.results import check_id_column
    from paretodepth.tables.tables import read_table

    with progress("reading"):
        table = read_table(data, format=format)
        check_id_column(id_column, table.column_names)
        found = check_suggested(suggest_criteria(table, max_criteria, id_column=id_column))
    typer.echo(found.to_toml(), nl=False)
    if quiet:
        return
    shown = Table(box=SIMPLE_HEAD)
    for heading in ("column", "kind", "criterion", "why"):
        shown.add_column(heading)
    for column in found.columns:
        cells = (column.name, column.kind, "; ".join(column.criteria) or "–", column.reason)
        shown.add_row(*(Text(printable(cell, 200)) for cell in cells), style="" if column.criteria else "dim")
    notes.print(shown, soft_wrap=False, width=None if notes.is_terminal else 140)
