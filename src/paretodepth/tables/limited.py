"""Entry point of a child process that limits its memory, its output and its time, and then reads a file.

Without limits a small file could take all memory, or end the process of the user. Imports no library.
"""

from __future__ import annotations

import contextlib
import errno
import importlib
import os
import sys

with contextlib.suppress(ImportError):
    # Not on Windows, where the parent watches.
    import resource

TOO_LARGE = 3
"""Exit code of a child that reached a limit."""


def main(module: str, n_bytes: str, n_output: str, n_seconds: str, *arguments: str) -> None:
    """Run the `main` of a module on standard input and output; an error becomes one line of standard error.

    Parameters
    ----------
    module : str
    n_bytes, n_output, n_seconds : str
        The most memory, bytes of output and seconds of processor time.
    *arguments : str
        What else the module's `main` takes.
    """
    if "resource" in globals():
        limits = {"AS": n_bytes, "FSIZE": n_output, "CPU": n_seconds, "CORE": "0"}
        for name, most in limits.items():
            # macOS takes no limit of addresses: there the parent watches.
            with contextlib.suppress(ValueError, OSError):
                # At the softer of two limits of time a signal ends the process that says so.
                resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (int(most), int(most) + (name == "CPU")))
    code, words = 0, ""
    try:
        importlib.import_module(module).main(sys.stdin.buffer, sys.stdout.buffer, *arguments)
        sys.stdout.buffer.flush()
    except MemoryError:
        code = TOO_LARGE
    except BaseException as error:
        # A panic of a library in Rust is no Exception.
        is_full = isinstance(error, OSError) and error.errno == errno.EFBIG
        code, words = (TOO_LARGE, "") if is_full else (1, " ".join(str(error).split())[:2000] or type(error).__name__)
    print(words, end="", file=sys.stderr, flush=True)  # noqa: T201
    # Without Python's shutdown, in which Arrow's threads sometimes abort the process.
    os._exit(code)


if __name__ == "__main__":
    main(*sys.argv[1:])
