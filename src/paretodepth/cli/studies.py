"""The commands that need no data of one's own: the demo, the paper's experiments, the metrics, the benchmark."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from paretodepth.cli.terminal import app, console, progress

if TYPE_CHECKING:
    from paretodepth.studies.pages import Page


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
    from paretodepth.studies.demo import run_demo

    result = run_demo(out, seed, lambda step: console.print(f"[dim]· {step} …[/dim]"))
    table = Table(title="The fifteen most anomalous of 120 pedestrians")
    for heading in ("rank", "pedestrian", "mean depth", "called", "in truth"):
        table.add_column(heading, justify="right")
    for rank, sample in enumerate(result.mean_depth.argsort()[::-1][:15], start=1):
        called = "anomaly" if result.labels[sample] < 0 else "nominal"
        table.add_row(str(rank), str(sample), f"{result.mean_depth[sample]:.1f}", called, result.truth[sample])
    console.print(table)
    console.print("Area under the ROC curve (1 is perfect, 0.5 is guessing):")
    for name, auc in result.aucs.items():
        console.print(f"  {name:<16} {auc:.3f}")
    console.print(f"Picture: {result.picture}")
    console.print(f"Report, to be opened in a browser: {result.page}")


@app.command()
def reproduce(
    names: Annotated[
        list[str] | None, typer.Argument(help="Experiments, or all; leave out to see which there are.")
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder for the page, tables and pictures.")] = Path("results"),
    runs: Annotated[int | None, typer.Option(min=1, help="Number of runs, in place of each one's own.")] = None,
    full: Annotated[bool, typer.Option("--full", help="The long version: more dyads, more runs.")] = False,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the first run; the next has the next.")] = 0,
    jobs: Annotated[int, typer.Option(help="How many runs at once; -1 for one per core.")] = -1,
) -> None:
    """Repeat the paper's tables and figures; an interrupted run goes on where it stopped.

    Example: paretodepth reproduce simulation theorem2 --out results
    """
    from paretodepth.studies.pages import REPRODUCTION

    _run_experiments(REPRODUCTION, names, out, {"runs": runs, "full": full, "seed": seed, "n_jobs": jobs})


@app.command()
def accuracy(
    names: Annotated[
        list[str] | None, typer.Argument(help="Experiments, or all; leave out to see which there are.")
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder for the page, tables and pictures.")] = Path("results"),
    runs: Annotated[int | None, typer.Option(min=1, help="Number of runs, in place of each one's own.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the first run; the next has the next.")] = 0,
    jobs: Annotated[int, typer.Option(help="How many runs at once; -1 for one per core.")] = -1,
) -> None:
    """Compare PDA and the union test with other detectors, and measure false alarms.

    Example: paretodepth accuracy all --out results
    """
    from paretodepth.studies.pages import ACCURACY

    _run_experiments(ACCURACY, names, out, {"runs": runs, "full": False, "seed": seed, "n_jobs": jobs})


@app.command()
def scaling(
    names: Annotated[
        list[str] | None, typer.Argument(help="Experiments, or all; leave out to see which there are.")
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder for the page, tables and pictures.")] = Path("results"),
    runs: Annotated[int | None, typer.Option(min=1, help="Number of runs, in place of each one's own.")] = None,
    full: Annotated[bool, typer.Option("--full", help="Up to 100,000 samples, which takes some minutes.")] = False,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the first run; the next has the next.")] = 0,
) -> None:
    """Measure fits of many samples: time, memory, parts of the dyads, a cluster.

    Example: paretodepth scaling fits --out results
    """
    from paretodepth.studies.pages import SCALING

    # One run at a time: each uses all cores.
    _run_experiments(SCALING, names, out, {"runs": runs, "full": full, "seed": seed, "n_jobs": 1})


def _run_experiments(page: "Page", names: list[str] | None, out: Path, options: dict[str, Any]) -> None:
    """List a page's experiments, or run some, print their tables and write the page."""
    from paretodepth._blocks import tell
    from paretodepth.studies.pages import chosen_experiments, reproduce_experiment, write_page

    if not names:
        listing = Table(title="Experiments: name one or several, or all")
        for heading in ("name", "what", "runs", "with --full"):
            listing.add_column(heading)
        for experiment in chosen_experiments(page, ["all"]):
            listing.add_row(experiment.name, experiment.title, str(experiment.n_runs), str(experiment.n_full_runs))
        console.print(listing)
        return
    for experiment in chosen_experiments(page, names):
        with progress(experiment.name):
            tables = reproduce_experiment(page, experiment, out, report=partial(tell, experiment.name), **options)
        for table in tables:
            shown = Table(title=experiment.title, caption=table.caption, caption_justify="left")
            for column in table.columns:
                shown.add_column(column, justify="right")
            for row in table.rows:
                shown.add_row(*row)
            console.print(shown)
    console.print(f"Written: {write_page(page, out)}")


@app.command()
def criteria(
    markdown: Annotated[bool, typer.Option("--markdown", help="Print the page docs/criteria.md.")] = False,
) -> None:
    """List the metrics that criteria can use.

    Example: paretodepth criteria
    """
    from paretodepth.criteria.catalogue import catalogue, criteria_page

    if markdown:
        typer.echo(criteria_page(), nl=False)
        return
    table = Table(title="Metrics", show_lines=False)
    for heading in ("data", "metric", "two samples are unlike by", "parameters", "needs"):
        table.add_column(heading, no_wrap=heading in ("data", "metric"))
    for number, row in enumerate(rows := catalogue()):
        is_last = number + 1 == len(rows) or rows[number + 1].kind != row.kind
        table.add_row(*map(escape, row), end_section=is_last)
    console.print(table)


@app.command()
def benchmark(
    out: Annotated[Path, typer.Option(help="Folder for the JSON file and the plot.")] = Path("benchmark"),
    full: Annotated[bool, typer.Option("--full", help="Add the sets that take minutes.")] = False,
    kind: Annotated[str | None, typer.Option(help="Sort only sets of this kind, such as dyads.")] = None,
    peer_seconds: Annotated[float, typer.Option(help="Leave a peer out where it would take longer.")] = 60.0,
) -> None:
    """Time the sort, depth queries and fits, against numpy's sort and the peers that are installed.

    Example: paretodepth benchmark --out benchmark
    """
    from paretodepth.studies.benchmarks.fitting import depth_ratios, fit_ratios, startup_seconds, string_ratios
    from paretodepth.studies.benchmarks.sorting import remarks, save_results, time_sorting
    from paretodepth.studies.benchmarks.workloads import sorting_workloads

    with console.status("warming up") as status:

        def tell(step: str) -> None:
            status.update(step) if console.is_terminal else console.print(f"· {step}")

        results = time_sorting(sorting_workloads(full=full, kind=kind), peer_seconds, tell)
        tell("depth queries, fits and fresh processes")
        tables = {
            "100,000 depth queries / sorting the dyads": depth_ratios(full=full),
            "fit of 1,000 samples / sorting their dyads": fit_ratios(),
            "dissimilarities in text and two numbers / rapidfuzz's cdist of the text": string_ratios(),
            "fresh processes, 1,000 samples, seconds": startup_seconds(),
        }
    table = Table(title="Sorting, median times")
    for heading in ("set", "K", "dyads", "one core", "÷ np.sort", "all cores ÷", "memory", "best peer", "faster by"):
        table.add_column(heading, justify="right")
    for row in results:
        table.add_row(
            row.kind,
            str(row.n_criteria),
            f"{row.n_dyads:,}",
            f"{row.one_core:.4f} s",
            f"{row.one_core / row.numpy_sort:.1f}",
            f"{row.all_cores / row.numpy_sort:.1f}",
            f"{row.extra_memory:.1f} ×",
            "" if row.best_peer is None else f"{row.best_peer} {row.peers[row.best_peer]:.4f} s",
            "" if row.speed_up is None else f"{row.speed_up:.1f} ×",
        )
    console.print(table)
    for title, figures in tables.items():
        console.print(f"{title}: " + ", ".join(f"{name}: {figure:.2f}" for name, figure in figures.items()))
    for remark in remarks(results):
        console.print(remark)
    for path in save_results(results, tables, out):
        console.print(f"Written: {path}")
