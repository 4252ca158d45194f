"""What every command shares: the application, the terminal, progress, and how a run ends."""

import atexit
import gc
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Annotated, NoReturn

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
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
def progress(title: str) -> Iterator[Callable[[int, int], None]]:
    """Show a bar with the time left on a terminal, and nothing otherwise; a total of 0 is unknown.

    The phases of a fit are shown as they come.
    """
    from paretodepth._blocks import watched

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=notes, transient=True, disable=not notes.is_terminal) as bar:
        task = bar.add_task(title, total=None)

        def show(step: str, n_done: int, n_total: int) -> None:
            bar.update(task, description=step, completed=n_done, total=n_total or None)

        with watched(show):
            yield partial(show, title)


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
