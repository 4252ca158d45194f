"""The studies as ``python -m studies``: the paper's experiments, accuracy, scaling and benchmarks."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from paretodepth._blocks import progress_to, step
from paretodepth.cli.terminal import console, main, print_step, print_table, progress

if TYPE_CHECKING:
    from studies.benchmarks.sorting import SortingResult

Names = Annotated[list[str] | None, typer.Argument(help="Experiments, or all; leave out to see which there are.")]
Out = Annotated[Path, typer.Option(help="Folder for the page, tables and pictures.")]
Runs = Annotated[int | None, typer.Option(min=1, help="Number of runs, in place of each one's own.")]
Seed = Annotated[int, typer.Option(min=0, help="Seed of the first run; the next has the next.")]
Jobs = Annotated[int, typer.Option(help="How many runs at once; -1 for one per core.")]
RESULTS = Path("results")

app = typer.Typer(
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Repeat the paper's experiments, and measure accuracy, scaling and speed.",
)


@app.command()
def reproduce(
    names: Names = None,
    out: Out = RESULTS,
    runs: Runs = None,
    full: Annotated[bool, typer.Option("--full", help="The long version: more dyads, more runs.")] = False,
    seed: Seed = 0,
    jobs: Jobs = -1,
) -> None:
    """Repeat the paper's tables and figures; an interrupted run resumes.

    Example: python -m studies reproduce simulation theorem2 --out results
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

    Example: python -m studies accuracy all --data folder --out results
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

    Example: python -m studies scaling fits --out results
    """
    # One run at a time: each uses all cores.
    _run_experiments("scaling", names, out, runs=runs, full=full, seed=seed, n_jobs=1)


def _run_experiments(
    command: str, names: list[str] | None, out: Path, data: dict[str, Any] | None = None, **options: Any
) -> None:
    """List the experiments of a command's page, or run some, print their tables and write the page.

    `data` is the folder of tables for the experiment that needs one; without it that experiment is skipped.
    """
    from studies.pages import PAGES, chosen_experiments, reproduce_experiment, write_page

    page, data = PAGES[command], data or {}
    chosen = chosen_experiments(page, names or [], **data)
    if not chosen:
        rows = [
            (experiment.name, experiment.title, str(experiment.n_runs), str(experiment.n_full_runs))
            for experiment in page.experiments.values()
        ]
        headings = ("name", "what", "runs", "with --full")
        print_table("Experiments: name one or several, or all", headings, rows, justify="left")
        return
    for experiment in chosen:
        with progress(experiment.name):
            tables = reproduce_experiment(page, experiment, out, **options)
        for table in tables:
            print_table(experiment.title, table.columns, table.rows, table.caption)
    console.print(f"Written: {write_page(page, out)}")


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

    Example: python -m studies benchmark --out benchmark
    """
    from studies.benchmarks.fitting import depth_ratios, fit_ratios, startup_seconds, string_ratios
    from studies.benchmarks.sorting import remarks, save_results, time_sorting
    from studies.benchmarks.workloads import depth_workloads, sorting_workloads

    if kind == "stream":
        _time_streams(out)
        return
    with progress("warming up") if console.is_terminal else progress_to(print_step):
        results = time_sorting(sorting_workloads(full=full, kind=kind), peer_seconds, rival=rival)
        with step("depth queries, fits and fresh processes"):
            tables = {
                "100,000 depth queries / sorting the dyads": depth_ratios(depth_workloads(full=full)),
                "fit of 1,000 samples / sorting their dyads": fit_ratios(),
                "dissimilarities in text and two numbers / rapidfuzz's cdist of the text": string_ratios(),
                "fresh processes, 1,000 samples, seconds": startup_seconds(),
            }
    headings = ("set", "K", "dyads", "one core", "÷ np.sort", "all cores ÷", "memory", "best peer", "faster by")
    print_table("Sorting, median times", headings, map(_cells, results))
    for title, figures in tables.items():
        console.print(f"{title}: " + ", ".join(f"{name}: {figure:.2f}" for name, figure in figures.items()))
    for remark in remarks(results):
        console.print(remark)
    for path in save_results(results, tables, out):
        console.print(f"Written: {path}")


def _time_streams(out: Path) -> None:
    """Time streams next to the installed detectors of River and PySAD, and write the tables."""
    from studies.benchmarks.streams import stream_areas, stream_tables, stream_times, wrong_methods

    with progress("streams") if console.is_terminal else progress_to(print_step):
        wrong = wrong_methods()
        tables = stream_tables(stream_times(), stream_areas())
    console.print(f"Unlike the batch detector: {', '.join(wrong) or 'none, bit by bit'}.")
    out.mkdir(parents=True, exist_ok=True)
    for table in tables:
        print_table("Streams", table.columns, table.rows, table.caption)
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


if __name__ == "__main__":
    main(app, "python -m studies")
