"""The commands that need no data of one's own: the demo, the paper's experiments, the metrics, the benchmark."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from rich.markup import escape
from rich.table import Table

from paretodepth.cli.terminal import app, console, progress

if TYPE_CHECKING:
    from paretodepth.studies.benchmarks.sorting import SortingResult

Names = Annotated[list[str] | None, typer.Argument(help="Experiments, or all; leave out to see which there are.")]
Out = Annotated[Path, typer.Option(help="Folder for the page, tables and pictures.")]
Runs = Annotated[int | None, typer.Option(min=1, help="Number of runs, in place of each one's own.")]
Seed = Annotated[int, typer.Option(min=0, help="Seed of the first run; the next has the next.")]
Jobs = Annotated[int, typer.Option(help="How many runs at once; -1 for one per core.")]
RESULTS = Path("results")


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
    from paretodepth._blocks import watched
    from paretodepth.studies.demo import run_demo

    with watched(_print_step):
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
    headings = ("rank", "pedestrian", "mean depth", "called", "in truth")
    _print_table("The fifteen most anomalous of 120 pedestrians", headings, rows)
    console.print("Area under the ROC curve (1 is perfect, 0.5 is guessing):")
    for name, auc in result.aucs.items():
        console.print(f"  {name:<16} {auc:.3f}")
    console.print(f"Picture: {result.picture}")
    console.print(f"Report, to be opened in a browser: {result.page}")


@app.command()
def reproduce(
    names: Names = None,
    out: Out = RESULTS,
    runs: Runs = None,
    full: Annotated[bool, typer.Option("--full", help="The long version: more dyads, more runs.")] = False,
    seed: Seed = 0,
    jobs: Jobs = -1,
) -> None:
    """Repeat the paper's tables and figures; an interrupted run goes on where it stopped.

    Example: paretodepth reproduce simulation theorem2 --out results
    """
    _run_experiments("reproduce", names, out, runs=runs, full=full, seed=seed, n_jobs=jobs)


@app.command()
def accuracy(
    names: Names = None,
    data: Annotated[
        Path | None,
        typer.Option(exists=True, file_okay=False, help="Folder of labelled tables, CSV or NPZ, for 'tables'."),
    ] = None,
    label: Annotated[str | None, typer.Option(help="Column of the labels in the CSV tables of --data.")] = None,
    out: Out = RESULTS,
    runs: Runs = None,
    seed: Seed = 0,
    jobs: Jobs = -1,
) -> None:
    """Compare PDA and the blend with other detectors, and measure false alarms.

    Example: paretodepth accuracy all --data folder --out results
    """
    chosen = {"folder": data, "label": label}
    _run_experiments("accuracy", names, out, chosen, runs=runs, full=False, seed=seed, n_jobs=jobs)


@app.command()
def scaling(
    names: Names = None,
    out: Out = RESULTS,
    runs: Runs = None,
    full: Annotated[bool, typer.Option("--full", help="Up to 100,000 samples, which takes some minutes.")] = False,
    seed: Seed = 0,
) -> None:
    """Measure fits of many samples: time, memory, parts of the dyads, a cluster.

    Example: paretodepth scaling fits --out results
    """
    # One run at a time: each uses all cores.
    _run_experiments("scaling", names, out, runs=runs, full=full, seed=seed, n_jobs=1)


def _run_experiments(
    command: str, names: list[str] | None, out: Path, data: dict[str, Any] | None = None, **options: Any
) -> None:
    """List the experiments of a command's page, or run some, print their tables and write the page.

    `data` tells the folder of tables for the experiment that needs one, which is run if there is one.
    """
    from paretodepth.studies.pages import PAGES, chosen_experiments, reproduce_experiment, write_page

    page, data = PAGES[command], data or {}
    chosen = chosen_experiments(page, names or [], **data)
    if not chosen:
        rows = [
            (experiment.name, experiment.title, str(experiment.n_runs), str(experiment.n_full_runs))
            for experiment in page.experiments.values()
        ]
        headings = ("name", "what", "runs", "with --full")
        _print_table("Experiments: name one or several, or all", headings, rows, justify="left")
        return
    for experiment in chosen:
        with progress(experiment.name):
            tables = reproduce_experiment(page, experiment, out, **options)
        for table in tables:
            _print_table(experiment.title, table.columns, table.rows, table.caption)
    console.print(f"Written: {write_page(page, out)}")


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
        is_last = number + 1 == len(rows) or rows[number + 1].kind != row.kind
        table.add_row(*map(escape, row), end_section=is_last)
    console.print(table)


@app.command()
def benchmark(
    out: Annotated[Path, typer.Option(help="Folder for the JSON file, the tables and the plot.")] = Path("benchmark"),
    full: Annotated[bool, typer.Option("--full", help="Add the sets that take minutes.")] = False,
    kind: Annotated[
        str | None, typer.Option(help="Sort only sets of this kind, such as dyads; stream times streams instead.")
    ] = None,
    peer_seconds: Annotated[float, typer.Option(help="Leave a peer out where it would take longer.")] = 10.0,
    rival: Annotated[
        str | None,
        typer.Option(
            help="A sorter of any language, run as COMMAND in.bin out.bin n k. It reads n * k doubles, row by row, and "
            "writes n 32-bit integers, the fronts' ranks from 0 or 1 on. A number that it prints last is its time in "
            "seconds; else the process is timed, less what it takes for one point.",
            metavar="COMMAND",
        ),
    ] = None,
) -> None:
    """Time the sort, depth queries and fits, against numpy's sort and the peers that are installed.

    Takes some 20 minutes on two cores. Answers are compared first; a peer that gives others is named.

    Example: paretodepth benchmark --out benchmark
    """
    from paretodepth._blocks import watched
    from paretodepth.studies.benchmarks.fitting import depth_ratios, fit_ratios, startup_seconds, string_ratios
    from paretodepth.studies.benchmarks.sorting import remarks, save_results, time_sorting
    from paretodepth.studies.benchmarks.workloads import depth_workloads, sorting_workloads
    from paretodepth.studies.steps import step

    if kind == "stream":
        _time_streams(out)
        return
    with progress("warming up") if console.is_terminal else watched(_print_step):
        results = time_sorting(sorting_workloads(full=full, kind=kind), peer_seconds, rival=rival)
        with step("depth queries, fits and fresh processes"):
            tables = {
                "100,000 depth queries / sorting the dyads": depth_ratios(depth_workloads(full=full)),
                "fit of 1,000 samples / sorting their dyads": fit_ratios(),
                "dissimilarities in text and two numbers / rapidfuzz's cdist of the text": string_ratios(),
                "fresh processes, 1,000 samples, seconds": startup_seconds(),
            }
    headings = ("set", "K", "dyads", "one core", "÷ np.sort", "all cores ÷", "memory", "best peer", "faster by")
    _print_table("Sorting, median times", headings, map(_cells, results))
    for title, figures in tables.items():
        console.print(f"{title}: " + ", ".join(f"{name}: {figure:.2f}" for name, figure in figures.items()))
    for remark in remarks(results):
        console.print(remark)
    for path in save_results(results, tables, out):
        console.print(f"Written: {path}")


def _time_streams(out: Path) -> None:
    """Time streams beside the detectors of River and PySAD that are installed, and write the tables."""
    from paretodepth._blocks import watched
    from paretodepth.studies.benchmarks.streams import stream_areas, stream_tables, stream_times, wrong_methods

    with progress("streams") if console.is_terminal else watched(_print_step):
        wrong = wrong_methods()
        tables = stream_tables(stream_times(), stream_areas())
    console.print(f"Unlike the batch detector: {', '.join(wrong) or 'none, bit by bit'}.")
    out.mkdir(parents=True, exist_ok=True)
    for table in tables:
        _print_table("Streams", table.columns, table.rows, table.caption)
    (out / "streams.md").write_text("\n".join(table.to_markdown() for table in tables), encoding="utf-8")
    console.print(f"Written: {out / 'streams.md'}")


def _cells(row: "SortingResult") -> tuple[str, ...]:
    """Return what the table of the benchmark shows of a workload."""
    return (
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


def _print_table(
    title: str,
    headings: Sequence[str],
    rows: Iterable[Sequence[str]],
    caption: str | None = None,
    *,
    justify: Literal["left", "right"] = "right",
) -> None:
    """Print a table of text."""
    table = Table(title=title, caption=caption, caption_justify="left")
    for heading in headings:
        table.add_column(heading, justify=justify)
    for row in rows:
        table.add_row(*row)
    console.print(table)


def _print_step(title: str, n_done: int, n_all: int) -> None:
    """Print what is being done, a line a step."""
    console.print(f"· {title} …", style="dim", markup=False)
