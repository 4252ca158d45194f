"""The command line: arguments in, exit code out. It computes nothing and imports the rest lazily."""

import sys

try:
    from paretodepth.cli import demo_commands, model_commands, table_commands, watch_command
    from paretodepth.cli.terminal import app, main
except ModuleNotFoundError as error:
    sys.exit(f"paretodepth: the command line needs '{error.name}'; run: pip install \"paretodepth[cli,report]\"")

__all__ = ["app", "demo_commands", "main", "model_commands", "table_commands", "watch_command"]
