"""What every command shares: the application, the terminal, progress, and how a run ends."""

import atexit
import codecs
import gc
import io
import json
import os
import signal
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from threading import Lock, Timer
from typing import Annotated, Literal, NoReturn

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text
from typer.exceptions import TyperException

SECONDS_BEFORE = 3.0
"""How long a run whose output is no terminal goes on before it says what it is doing."""
Show = Callable[[str, int, int], None]

app = typer.Typer(
    add_completion=False,
    add_help_option=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    help="Find the unusual rows in a table, and why.",
)
TRACEBACK = "PARETODEPTH_TRACEBACK"
"""The variable of the environment that asks for the traceback of an unexpected error."""
MIN_ADDRESSES = 1 << 30
"""Bytes of address space that the libraries take before they compute anything."""
ESCAPED = "paretodepth.escaped"
"""What becomes of characters that standard output cannot show: \\u2013, which JSON reads as well."""
codecs.register_error(ESCAPED, lambda error: _escaped_part(error))
# Piped output has no width of its own; tables keep their columns. A parent process may have closed it.
console = Console(highlight=False, width=None if sys.stdout is not None and sys.stdout.isatty() else 140)
notes = Console(highlight=False, stderr=True, soft_wrap=True)


def main(commands: typer.Typer = app, name: str = "paretodepth") -> None:
    """Run a command line; bad input is one line on stderr and exit code 2."""
    # The libraries' many objects stay to the end: to look for garbage among them, again and again while they are
    # imported and once more when we end, takes three quarters of a second.
    gc.set_threshold(100_000)
    atexit.register(gc.freeze)
    # As an exception, so that files that are being written are removed: timeout, systemd and Docker stop us like this.
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    try:
        check_streams()
        sys.exit(commands(sys.argv[1:] or ["--help"], prog_name=name, standalone_mode=False))
    except TyperException as error:
        _refuse(f"{error.format_message()} Run paretodepth --help for usage.")
    except BrokenPipeError:
        # Whoever read our output has read enough; Python would complain again when it closes it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except MemoryError as error:
        told = f": {error}" if str(error) else ""
        _refuse(f"Not enough memory{told}; take fewer samples or criteria, or free some.")
    except (ValueError, TypeError, OSError, ImportError) as error:
        _refuse(str(error))
    except (typer.Abort, KeyboardInterrupt):
        print("paretodepth: interrupted", file=sys.stderr)  # noqa: T201
        sys.exit(130)
    except Exception as error:
        # Of a library about odd input, or a fault of ours: whoever wants to report it can see where it came from.
        if os.environ.get(TRACEBACK):
            raise
        _refuse(f"Unexpected {type(error).__name__}: {error} (set {TRACEBACK}=1 to see where it comes from)")


def check_streams() -> None:
    """Let standard output escape what it cannot show, and refuse it if it is closed; standard error may be closed."""
    if sys.stderr is None:
        # Its number too is taken, so that what libraries write there does not end up in a file of ours.
        sys.stderr = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")
    if sys.stdout is None:
        raise OSError("Standard output is closed; redirect it: > /dev/null")
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors=ESCAPED)


def check_address_space() -> None:
    """Refuse a limit of memory (ulimit -v) with which the libraries would end the process or never return."""
    try:
        import resource
    except ImportError:
        # Windows has no such limit.
        return
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit == resource.RLIM_INFINITY:
        return
    # OpenBLAS takes addresses for every thread, and Arrow's allocator 1 GB at once.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    if limit < MIN_ADDRESSES:
        raise OSError(
            f"The limit of memory (ulimit -v) must be at least {MIN_ADDRESSES >> 10:,} kB. Got {limit >> 10:,} kB; "
            "raise the limit, or remove it: ulimit -v unlimited"
        )


def _refuse(reason: str) -> NoReturn:
    """End with one line on stderr."""
    print(f"paretodepth: {printable(' '.join(reason.split()))}", file=sys.stderr)  # noqa: T201
    sys.exit(2)


def printable(text: str, most: int | None = None) -> str:
    """Return text from data without what would steer a terminal, cut to `most` characters."""
    shown = "".join(letter if letter.isprintable() else "�" for letter in text)
    return shown if most is None or len(shown) <= most else f"{shown[: most - 1]}…"


def print_json(value: object) -> None:
    """Print a value as JSON; letters of data that would steer a terminal are escaped."""
    text = json.dumps(value, ensure_ascii=False, indent=2)
    typer.echo("".join(letter if letter.isprintable() or letter == "\n" else _escaped(letter) for letter in text))


def _escaped_part(error: UnicodeError) -> tuple[str, int]:
    """Return the escapes of the characters that could not be encoded, and where to continue."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return _escaped(error.object[error.start : error.end]), error.end


def _escaped(text: str) -> str:
    return json.dumps(text)[1:-1]


@contextmanager
def progress(
    title: str, screen: Console = notes, *, quiet: bool = False, after: float = SECONDS_BEFORE
) -> Iterator[None]:
    """Show what is being done, phase by phase: on a terminal as a bar, elsewhere a line a phase, if quiet nothing.

    Where it is known how much there is to do, the bar tells how much is done and how long the rest will take. Lines
    begin when the work has taken some seconds, so that what is quick says nothing.
    """
    from paretodepth._blocks import progress_to

    if quiet:
        yield
        return
    with _bar(title, screen) if screen.is_terminal else _lines(title, screen, after) as show, progress_to(show):
        yield


@contextmanager
def _bar(title: str, screen: Console) -> Iterator[Show]:
    """Show phases as a bar that goes away in the end."""
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=screen, transient=True) as bar:
        shown, task = title, bar.add_task(title, total=None)

        def show(step: str, n_done: int, n_all: int) -> None:
            nonlocal shown, task
            if step != shown:
                # A task of its own: rich would keep the last one's total if the next one's is not known.
                bar.remove_task(task)
                shown, task = step, bar.add_task(step, total=None)
            bar.update(task, completed=n_done, total=n_all or None)

        yield show


@contextmanager
def _lines(title: str, screen: Console, after: float) -> Iterator[Show]:
    """Print phases as lines, each once, from some seconds on."""
    lock = Lock()
    present, printed, is_late = title, "", False

    def print_present() -> None:
        nonlocal printed
        if is_late and present != printed:
            printed = present
            screen.print(Text(f"{printable(present)} …"))

    def begin() -> None:
        nonlocal is_late
        with lock:
            is_late = True
            print_present()

    def show(step: str, n_done: int, n_all: int) -> None:
        nonlocal present
        with lock:
            present = step
            print_present()

    # What is being done when the time is up may say nothing more for long, so a thread of its own says it.
    timer = Timer(after, begin)
    timer.daemon = True
    if after > 0:
        timer.start()
    else:
        begin()
    try:
        yield show
    finally:
        timer.cancel()


def print_note(sentence: str) -> None:
    """Print a note about a file on standard error."""
    notes.print(Text(f"Note: {printable(sentence)}", style="dim"))


def print_lines(screen: Console, lines: Iterable[str], style: str = "") -> None:
    """Print sentences, a line each."""
    for line in lines:
        screen.print(Text(printable(line), style=style))


def print_table(
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


def print_step(title: str, n_done: int, n_all: int) -> None:
    """Print the title of a step."""
    console.print(f"· {title} …", style="dim", markup=False)


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
    """Find the unusual rows in a table, and why."""
    check_address_space()
