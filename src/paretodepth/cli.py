"""The command line: arguments in, exit code out. It computes nothing and imports the rest lazily."""

import sys
from pathlib import Path
from typing import Annotated, NoReturn

try:
    import typer
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table
    from typer.exceptions import TyperException
except ModuleNotFoundError as error:
    sys.exit(f"paretodepth: the command line needs '{error.name}'; run: pip install \"paretodepth[cli,report]\"")

app = typer.Typer(
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    help="Find samples that are unlike the nominal ones under every trade-off of several dissimilarities.",
)
# Piped output has no width of its own; tables keep their columns.
console = Console(highlight=False, width=None if sys.stdout.isatty() else 140)


def main() -> None:
    """Run the command line; bad input is one line on stderr and exit code 2."""
    try:
        sys.exit(app(sys.argv[1:] or ["--help"], prog_name="paretodepth", standalone_mode=False))
    except TyperException as error:
        _refuse(f"{error.format_message()} (paretodepth --help tells more)")
    except (ValueError, TypeError, OSError, ImportError) as error:
        _refuse(str(error))
    except typer.Abort:
        print("paretodepth: interrupted", file=sys.stderr)  # noqa: T201
        sys.exit(130)


def _refuse(reason: str) -> NoReturn:
    """End with one line on stderr."""
    print(f"paretodepth: {' '.join(reason.split())}", file=sys.stderr)  # noqa: T201
    sys.exit(2)


def _show_version(wanted: bool) -> None:
    if wanted:
        from paretodepth import __version__

        console.print(f"paretodepth {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Find samples that are unlike the nominal ones under every trade-off of several dissimilarities."""


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="Folder for the picture; made if it does not exist.")] = Path("demo"),
    seed: Annotated[int, typer.Option(help="Seed of the simulation.")] = 0,
) -> None:
    """Find the odd ones among simulated pedestrians, by speed and shape.

    Example: paretodepth demo --out demo
    """
    from paretodepth.demo import run_demo

    result = run_demo(out, seed, lambda step: console.print(f"[dim]· {step} …[/dim]"))
    table = Table(title="The fifteen most anomalous of 120 pedestrians")
    for heading in ("rank", "pedestrian", "mean depth", "called", "in truth"):
        table.add_column(heading, justify="right")
    for rank, sample in enumerate(result.mean_depth.argsort()[::-1][:15], start=1):
        called = "anomaly" if result.labels[sample] < 0 else "nominal"
        kind = result.pedestrians.kinds[sample]
        truth = "nominal" if kind == "nominal" else f"odd in {'speed and shape' if kind == 'both' else kind}"
        table.add_row(str(rank), str(sample), f"{result.mean_depth[sample]:.1f}", called, truth)
    console.print(table)
    console.print("Area under the ROC curve (1 is perfect, 0.5 is guessing):")
    for name, auc in result.aucs.items():
        console.print(f"  {name:<16} {auc:.3f}")
    console.print(f"Picture: {result.picture}")


@app.command()
def reproduce(
    runs: Annotated[int, typer.Option(min=2, help="Number of simulated data sets, seeds 0, 1, …")] = 100,
) -> None:
    """Repeat the paper's simulation and print the mean area under the ROC curve.

    Example: paretodepth reproduce --runs 100
    """
    from rich.progress import track

    from paretodepth.experiments.simulation import PAPER_AUC, PAPER_ERROR, simulated_auc

    aucs = [simulated_auc(seed) for seed in track(range(runs), "simulations", console=console, transient=True)]
    mean = sum(aucs) / runs
    error = (sum((auc - mean) ** 2 for auc in aucs) / (runs - 1) / runs) ** 0.5
    console.print(f"PDA, {runs} runs: AUC {mean:.4f} ± {error:.4f} (the paper: {PAPER_AUC} ± {PAPER_ERROR})")


@app.command()
def criteria(
    markdown: Annotated[bool, typer.Option("--markdown", help="Print the page docs/criteria.md.")] = False,
) -> None:
    """List the metrics that criteria can use.

    Example: paretodepth criteria
    """
    from paretodepth.catalogue import catalogue, criteria_page

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
    from paretodepth.benchmarks.fitting import depth_ratios, fit_ratios, startup_seconds
    from paretodepth.benchmarks.sorting import remarks, save_results, time_sorting
    from paretodepth.benchmarks.workloads import sorting_workloads

    with console.status("warming up") as status:

        def tell(step: str) -> None:
            status.update(step) if console.is_terminal else console.print(f"· {step}")

        results = time_sorting(sorting_workloads(full=full, kind=kind), peer_seconds, tell)
        tell("depth queries, fits and fresh processes")
        tables = {
            "100,000 depth queries / sorting the dyads": depth_ratios(full=full),
            "fit of 1,000 samples / sorting their dyads": fit_ratios(),
            "fresh process, import + fit + score, seconds": startup_seconds(),
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
