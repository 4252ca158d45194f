"""What every command shares: the application, the terminal, progress, and how a run ends."""

import atexit
import gc
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Annotated, NoReturn

import typer
from rich.console import Console, RenderableType
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.text import Text
from typer.exceptions import TyperException

app = typer.Typer(
    add_completion=False,
    add_help_option=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    help="Find samples that are unlike the nominal ones under every trade-off of several dissimilarities.",
)
# Piped output has no width of its own; tables keep their columns.
console = Console(highlight=False, width=None if sys.stdout.isatty() else 140)
notes = Console(highlight=False, stderr=True, soft_wrap=True)


def main() -> None:
    """Run the command line; bad input is one line on stderr and exit code 2."""
    # The libraries' many objects stay to the end: to look for garbage among them, again and again while they are
    # imported and once more when we end, takes three quarters of a second.
    gc.set_threshold(100_000)
    atexit.register(gc.freeze)
    try:
        sys.exit(app(sys.argv[1:] or ["--help"], prog_name="paretodepth", standalone_mode=False))
    except TyperException as error:
        _refuse(f"{error.format_message()} (paretodepth --help tells more)")
    except BrokenPipeError:
        # Whoever read our output has read enough; Python would complain again when it closes it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except (ValueError, TypeError, OSError, ImportError) as error:
        _refuse(str(error))
    except (typer.Abort, KeyboardInterrupt):
        print("paretodepth: interrupted", file=sys.stderr)  # noqa: T201
        sys.exit(130)


def _refuse(reason: str) -> NoReturn:
    """End with one line on stderr."""
    print(f"paretodepth: {printable(' '.join(reason.split()))}", file=sys.stderr)  # noqa: T201
    sys.exit(2)


def printable(text: str, most: int | None = None) -> str:
    """Return text from data without what would steer a terminal, cut to `most` characters."""
    shown = "".join(letter if letter.isprintable() else "�" for letter in text)
    return shown if most is None or len(shown) <= most else f"{shown[: most - 1]}…"


@contextmanager
def progress(title: str, screen: Console = notes) -> Iterator[None]:
    """Show what is being done, phase by phase, on a terminal, and nothing otherwise.

    Where it is known how much there is to do, a bar tells how much is done and how long the rest will take.
    """
    from paretodepth._blocks import watched

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=screen, transient=True, disable=not screen.is_terminal) as bar:
        shown, task = title, bar.add_task(title, total=None)

        def show(step: str, n_done: int, n_all: int) -> None:
            nonlocal shown, task
            if step != shown:
                # A task of its own: rich would keep the last one's total if the next one's is not known.
                bar.remove_task(task)
                shown, task = step, bar.add_task(step, total=None)
            bar.update(task, completed=n_done, total=n_all or None)

        with watched(show):
            yield


def print_outcome(screen: Console, *, remark: str, advice: Iterable[str], outcome: RenderableType) -> None:
    """Print what a fit or a detection has found, under a remark on the criteria, with advice."""
    if remark:
        screen.print(Text(printable(remark), style="dim"))
    screen.print(outcome)
    for sentence in advice:
        screen.print(Text(f"Advice: {printable(sentence)}", style="yellow"))


def print_note(sentence: str) -> None:
    """Print on standard error what a reader has to say about a file."""
    notes.print(Text(f"Note: {printable(sentence)}", style="dim"))


def print_written(screen: Console, places: Iterable[str]) -> None:
    """Print which files were written; standard output is none."""
    for place in places:
        if place != "-":
            screen.print(Text(f"Written: {printable(place)}"))


def _show_version(wanted: bool) -> None:
    if wanted:
        from paretodepth import __version__

        console.print(f"paretodepth {__version__}")
        raise typer.Exit


def _show_help(context: typer.Context, wanted: bool) -> None:
    if wanted:
        typer.echo(context.get_help(), nl=False)
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
    # Typer's own option is parsed by pydantic, for which the help of every command would wait.
    help: Annotated[
        bool, typer.Option("--help", callback=_show_help, is_eager=True, help="Show this message and exit.")
    ] = False,
) -> None:
    """Find samples that are unlike the nominal ones under every trade-off of several dissimilarities."""
