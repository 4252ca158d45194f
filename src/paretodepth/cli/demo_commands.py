"""The commands that need no data of the user's: the demo and the list of metrics."""

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table

from paretodepth.cli.terminal import app, console, print_step, print_table


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="Folder for the picture and the report; made if it does not exist.")] = Path(
        "demo"
    ),
    seed: Annotated[int, typer.Option(help="Seed of the simulation.")] = 0,
) -> None:
    """Find the odd ones among simulated pedestrians, by speed and shape, and write a report.

    Example: paretodepth demo --out demo
    """
    from paretodepth._blocks import progress_to
    from paretodepth.reports.demo import run_demo

    with progress_to(print_step):
        result = run_demo(out, seed)
    ranked = enumerate(result.mean_depth.argsort()[::-1][:15], start=1)
    rows = [
        (
            str(rank),
            str(sample),
            f"{result.mean_depth[sample]:.1f}",
            "anomaly" if result.labels[sample] < 0 else "nominal",
            result.truth[sample],
        )
        for rank, sample in ranked
    ]
    headings = ("rank", "pedestrian", "mean depth", "flagged", "in truth")
    print_table("The fifteen most anomalous of 120 pedestrians", headings, rows)
    console.print("Area under the ROC curve (1 is perfect, 0.5 is guessing):")
    for name, auc in result.aucs.items():
        console.print(f"  {name:<16} {auc:.3f}")
    console.print(f"Picture: {result.picture}")
    console.print(f"Report, to be opened in a browser: {result.page}")


@app.command()
def criteria(
    markdown: Annotated[bool, typer.Option("--markdown", help="Print the tables of docs/criteria.md.")] = False,
) -> None:
    """List the metrics that criteria can use.

    Example: paretodepth criteria
    """
    from paretodepth.criteria.catalogue import catalogue, metrics_in_markdown

    if markdown:
        typer.echo(metrics_in_markdown(), nl=False)
        return
    table = Table(title="Metrics", show_lines=False)
    for heading in ("data", "metric", "two samples are unlike by", "parameters", "needs"):
        table.add_column(heading, no_wrap=heading in ("data", "metric"))
    for number, row in enumerate(rows := catalogue()):
        is_last = number + 1 == len(rows) or rows[number + 1][0] != row[0]
        table.add_row(*map(escape, row), end_section=is_last)
    console.print(table)
