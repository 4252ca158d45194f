"""Runs as if optional libraries were not installed, if asked to: PARETODEPTH_WITHOUT=rapidfuzz,dtaidistance."""

import os
import sys

import pytest

for name in filter(None, os.environ.get("PARETODEPTH_WITHOUT", "").split(",")):
    sys.modules[name] = None


@pytest.fixture
def refused(monkeypatch, capsys):
    """Check that a command ends with 2 and one line on stderr beside phases, and leaves a folder as it was."""
    from paretodepth.cli import main

    def check(arguments, text, folder):
        before = sorted(os.listdir(folder))
        monkeypatch.setattr(sys, "argv", ["paretodepth", *arguments])
        with pytest.raises(SystemExit) as ending:
            main()
        captured = capsys.readouterr()
        assert ending.value.code == 2
        assert text in captured.err
        # On a busy machine phases are told before it, each with an ellipsis in the end.
        assert len([line for line in captured.err.splitlines() if not line.endswith(" …")]) == 1
        assert captured.out == ""
        assert sorted(os.listdir(folder)) == before

    return check
